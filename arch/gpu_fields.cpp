// SPDX-License-Identifier: Apache-2.0
#include "arch/gpu_fields.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace smtwin {
namespace {

FieldValue as_value(std::int32_t v) { return std::int64_t{v}; }
FieldValue as_value(std::int64_t v) { return v; }
FieldValue as_value(const std::optional<int>& v) {
  return v ? FieldValue(std::int64_t{*v}) : FieldValue();
}
FieldValue as_value(const std::optional<double>& v) { return v ? FieldValue(*v) : FieldValue(); }

template <typename T>
struct Unwrapped {
  using type = T;
};
template <typename T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

template <typename Member>
void assign(Member& member, const FieldValue& value) {
  using Plain = typename Unwrapped<Member>::type;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    member = static_cast<Plain>(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    member = static_cast<Plain>(*real);
  } else {
    member = Member{};
  }
}

struct Range {
  double minimum;
  double maximum;
};

template <typename Member>
constexpr GpuField row(std::string_view path, std::string_view unit, Range range,
                       std::string_view meaning) {
  using Plain = typename Unwrapped<Member>::type;
  GpuField field;
  field.path = path;
  field.unit = unit;
  field.meaning = meaning;
  field.minimum = range.minimum;
  field.maximum = range.maximum;
  field.kind = std::is_integral_v<Plain> ? FieldKind::integer : FieldKind::real;
  field.nullable = !std::is_same_v<Plain, Member>;
  return field;
}

// A member of GpuSpec, or a member of one of its members: field<&GpuSpec::sm, &SmSpec::x>(...).
template <auto... Members>
constexpr GpuField field(std::string_view path, std::string_view unit, Range range,
                         std::string_view meaning) {
  using Member = std::remove_cvref_t<decltype((std::declval<GpuSpec&>().*....*Members))>;
  GpuField made = row<Member>(path, unit, range, meaning);
  made.get = [](const GpuSpec& gpu) { return as_value((gpu.*....*Members)); };
  made.set = [](GpuSpec& gpu, const FieldValue& value) { assign((gpu.*....*Members), value); };
  return made;
}

// One entry of an array of optionals.
template <auto Array, std::size_t Index>
constexpr GpuField element(std::string_view path, std::string_view unit, Range range,
                           std::string_view meaning) {
  GpuField made = row<std::optional<double>>(path, unit, range, meaning);
  made.get = [](const GpuSpec& gpu) { return as_value((gpu.*Array)[Index]); };
  made.set = [](GpuSpec& gpu, const FieldValue& v) { assign((gpu.*Array)[Index], v); };
  return made;
}

FieldValue get_carveouts(const GpuSpec& gpu) {
  const auto first = gpu.sm.shared_carveouts_bytes.begin();
  return std::vector<std::int64_t>(first, first + gpu.sm.shared_carveout_count);
}

void set_carveouts(GpuSpec& gpu, const FieldValue& value) {
  const auto& list = std::get<std::vector<std::int64_t>>(value);
  gpu.sm.shared_carveouts_bytes.fill(0);
  std::copy(list.begin(), list.end(), gpu.sm.shared_carveouts_bytes.begin());
  gpu.sm.shared_carveout_count = static_cast<std::int32_t>(list.size());
}

constexpr GpuField carveouts(std::string_view path, std::string_view unit, Range range,
                             std::string_view meaning) {
  GpuField made = row<std::int64_t>(path, unit, range, meaning);
  made.kind = FieldKind::integer_list;
  made.get = get_carveouts;
  made.set = set_carveouts;
  return made;
}

// Ranges catch slips of the pen (64K for 65536, GB for B), not unusual chips.
constexpr Range kCount{1, 4096};
constexpr Range kCountOrNone{0, 4096};
constexpr Range kRegisters{1, 16777216};
constexpr Range kSharedBytes{1, 67108864};
constexpr Range kSharedBytesOrNone{0, 67108864};
constexpr Range kPerCycle{0.001, 1e7};
constexpr Range kCycles{0, 1e6};
constexpr Range kBytes{1, 1e15};
constexpr Range kBytesPerSecond{1, 1e16};
constexpr Range kHertz{1, 1e12};
constexpr Range kSeconds{0, 1};

constexpr auto kSm = &GpuSpec::sm;
constexpr auto kRates = &GpuSpec::rates;

// clang-format off: a table reads as a table
constexpr std::array kFields{
    field<kSm, &SmSpec::threads_per_warp>("sm.threads_per_warp", "threads", {1, 1024},
                                          "threads in a warp"),
    field<kSm, &SmSpec::max_threads_per_cta>("sm.max_threads_per_cta", "threads", {1, 65536},
                                             "threads a CTA may have"),
    field<kSm, &SmSpec::max_warps_per_sm>("sm.max_warps_per_sm", "warps", kCount,
                                          "warps an SM holds at once"),
    field<kSm, &SmSpec::max_ctas_per_sm>("sm.max_ctas_per_sm", "CTAs", kCount,
                                         "CTA slots: CTAs an SM holds at once"),
    field<kSm, &SmSpec::registers_per_sm>("sm.registers_per_sm", "registers", kRegisters,
                                          "32-bit registers of an SM"),
    field<kSm, &SmSpec::registers_per_cta>("sm.registers_per_cta", "registers", kRegisters,
                                           "registers a CTA may have, by the launch check"),
    field<kSm, &SmSpec::max_registers_per_thread>(
        "sm.max_registers_per_thread", "registers", kCount,
        "registers per thread that the launch check accepts (a compiler names at most 255)"),
    field<kSm, &SmSpec::register_allocation_unit>(
        "sm.register_allocation_unit", "registers", {1, 65536},
        "registers are granted to a warp in multiples of this"),
    field<kSm, &SmSpec::partitions_per_sm>(
        "sm.partitions_per_sm", "", {1, 64},
        "sub-partitions with a register file and a warp scheduler each"),
    field<kSm, &SmSpec::register_check_partitions>(
        "sm.register_check_partitions", "", {1, 64},
        "the launch check rounds the warps of a CTA up to a multiple of this"),
    field<kSm, &SmSpec::barriers_per_sm>("sm.barriers_per_sm", "barriers", kCountOrNone,
                                         "CTA barriers of an SM; 0 = not a limit on this chip"),
    field<kSm, &SmSpec::virtual_resources_per_sm>(
        "sm.virtual_resources_per_sm", "", kCountOrNone,
        "virtual resources of an SM; 0 = not a limit on this chip"),
    field<kSm, &SmSpec::shared_bytes_per_sm>("sm.shared_bytes_per_sm", "B", kSharedBytes,
                                             "shared memory of an SM at the largest carveout"),
    field<kSm, &SmSpec::shared_bytes_per_cta_default>(
        "sm.shared_bytes_per_cta_default", "B", kSharedBytes,
        "static + dynamic shared memory of a CTA without opt-in"),
    field<kSm, &SmSpec::shared_bytes_per_cta_optin>(
        "sm.shared_bytes_per_cta_optin", "B", kSharedBytes,
        "the same with opt-in; equal to the default where none exists"),
    field<kSm, &SmSpec::shared_bytes_reserved_per_cta>(
        "sm.shared_bytes_reserved_per_cta", "B", kSharedBytesOrNone,
        "shared memory the system takes from each CTA's share"),
    field<kSm, &SmSpec::shared_allocation_unit_bytes>(
        "sm.shared_allocation_unit_bytes", "B", {1, 65536},
        "shared memory is granted to a CTA in multiples of this"),
    field<kSm, &SmSpec::l1_and_shared_bytes_per_sm>(
        "sm.l1_and_shared_bytes_per_sm", "B", kSharedBytesOrNone,
        "unified L1 and shared memory; 0 = shared memory is separate"),
    carveouts("sm.shared_carveouts_bytes", "B", kSharedBytesOrNone,
              "sizes the driver can give to shared memory, ascending"),
    field<kSm, &SmSpec::max_cluster_ctas_portable>(
        "sm.max_cluster_ctas_portable", "CTAs", {1, 1024},
        "CTAs of a cluster on every chip of the family; 1 = no clusters"),
    field<kSm, &SmSpec::max_cluster_ctas_nonportable>(
        "sm.max_cluster_ctas_nonportable", "CTAs", {1, 1024},
        "CTAs of a cluster after opting in to a non-portable size"),

    field<kRates, &SmRates::warp_instructions_per_cycle>("rates.warp_instructions_per_cycle",
                                                         "instructions/cycle", kPerCycle,
                                                         "warp instructions an SM issues"),
    field<kRates, &SmRates::fp32_flops_per_cycle>("rates.fp32_flops_per_cycle", "flop/cycle",
                                                  kPerCycle,
                                                  "FP32 outside the tensor cores, per SM"),
    field<kRates, &SmRates::sfu_ops_per_cycle>("rates.sfu_ops_per_cycle", "op/cycle", kPerCycle,
                                               "special functions (exp2, log2, rcp, rsqrt) per SM"),
    field<kRates, &SmRates::shared_bytes_per_cycle>("rates.shared_bytes_per_cycle", "B/cycle",
                                                    kPerCycle, "shared-memory bandwidth of an SM"),
    field<kRates, &SmRates::tensor_tf32_flops_per_cycle>("rates.tensor_tf32_flops_per_cycle",
                                                         "flop/cycle", kPerCycle,
                                                         "tensor cores of an SM, TF32, dense"),
    field<kRates, &SmRates::tensor_bf16_flops_per_cycle>(
        "rates.tensor_bf16_flops_per_cycle", "flop/cycle", kPerCycle,
        "tensor cores of an SM, BF16 or FP16 with FP32 accumulate, dense"),
    field<kRates, &SmRates::tensor_fp8_flops_per_cycle>(
        "rates.tensor_fp8_flops_per_cycle", "flop/cycle", kPerCycle,
        "tensor cores of an SM, FP8 with FP32 accumulate, dense"),
    field<kRates, &SmRates::tensor_int8_flops_per_cycle>("rates.tensor_int8_flops_per_cycle",
                                                         "op/cycle", kPerCycle,
                                                         "tensor cores of an SM, INT8, dense"),
    field<kRates, &SmRates::tensor_mxfp8_flops_per_cycle>(
        "rates.tensor_mxfp8_flops_per_cycle", "flop/cycle", kPerCycle,
        "tensor cores of an SM, block-scaled FP8, dense"),
    field<kRates, &SmRates::tensor_nvfp4_flops_per_cycle>(
        "rates.tensor_nvfp4_flops_per_cycle", "flop/cycle", kPerCycle,
        "tensor cores of an SM, block-scaled FP4, dense"),

    field<&GpuSpec::sm_count>("sm_count", "", {1, 100000}, "SMs a kernel can use"),
    field<&GpuSpec::sms_per_gpc>("sms_per_gpc", "", {1, 4096},
                                 "SMs of a full GPC; products ship with some fused off"),
    field<&GpuSpec::sm_clock_hz>("sm_clock_hz", "Hz", kHertz, "SM clock at boost"),
    field<&GpuSpec::l1_latency_cycles>("l1_latency_cycles", "cycles", kCycles,
                                       "dependent load that hits L1"),
    field<&GpuSpec::l2_bytes>("l2_bytes", "B", kBytes, "L2 capacity"),
    field<&GpuSpec::l2_latency_cycles>("l2_latency_cycles", "cycles", kCycles,
                                       "dependent load that hits L2"),
    field<&GpuSpec::l2_bytes_per_s>("l2_bytes_per_s", "B/s", kBytesPerSecond,
                                    "L2 read bandwidth, all SMs together"),
    field<&GpuSpec::dram_bytes>("dram_bytes", "B", kBytes, "device memory a process can see"),
    field<&GpuSpec::dram_bytes_per_s>("dram_bytes_per_s", "B/s", kBytesPerSecond,
                                      "peak of the memory interface"),
    field<&GpuSpec::dram_read_efficiency>("dram_read_efficiency", "", {0.001, 1},
                                          "best measured read bandwidth over that peak"),
    field<&GpuSpec::dram_latency_cycles>("dram_latency_cycles", "cycles", kCycles,
                                         "dependent load that misses L2, memory idle"),
    field<&GpuSpec::graph_node_gap_s>("graph_node_gap_s", "s", kSeconds,
                                      "between kernels of a replayed CUDA graph"),
    field<&GpuSpec::stream_launch_gap_s>("stream_launch_gap_s", "s", kSeconds,
                                         "between back-to-back launches into a stream"),
    field<&GpuSpec::board_power_w>("board_power_w", "W", {1, 1e5}, "power limit of the board"),
    field<&GpuSpec::nvlink_bytes_per_s>("nvlink_bytes_per_s", "B/s", kBytesPerSecond,
                                        "NVLink, one direction, all links of a GPU"),
    field<&GpuSpec::pcie_bytes_per_s>("pcie_bytes_per_s", "B/s", kBytesPerSecond,
                                      "PCIe, one direction"),
    element<&GpuSpec::allreduce_alpha_s, 0>("allreduce_alpha_s_2", "s", kSeconds,
                                            "all-reduce over 2 GPUs: time of an empty message"),
    element<&GpuSpec::allreduce_alpha_s, 1>("allreduce_alpha_s_4", "s", kSeconds,
                                            "all-reduce over 4 GPUs: time of an empty message"),
    element<&GpuSpec::allreduce_alpha_s, 2>("allreduce_alpha_s_8", "s", kSeconds,
                                            "all-reduce over 8 GPUs: time of an empty message"),
    element<&GpuSpec::allreduce_bytes_per_s, 0>(
        "allreduce_bytes_per_s_2", "B/s", kBytesPerSecond,
        "all-reduce over 2 GPUs: rate at which 2 (n-1)/n x message bytes pass"),
    element<&GpuSpec::allreduce_bytes_per_s, 1>(
        "allreduce_bytes_per_s_4", "B/s", kBytesPerSecond,
        "all-reduce over 4 GPUs: rate at which 2 (n-1)/n x message bytes pass"),
    element<&GpuSpec::allreduce_bytes_per_s, 2>(
        "allreduce_bytes_per_s_8", "B/s", kBytesPerSecond,
        "all-reduce over 8 GPUs: rate at which 2 (n-1)/n x message bytes pass"),
};
// clang-format on

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('.') + 1);  // npos + 1 = 0
}

}  // namespace

std::span<const GpuField> gpu_fields() { return kFields; }

const GpuField* find_gpu_field(std::string_view path) {
  const GpuField* by_last_part = nullptr;
  int matches = 0;
  for (const GpuField& candidate : kFields) {
    if (candidate.path == path) return &candidate;
    if (last_part(candidate.path) == path) {
      by_last_part = &candidate;
      ++matches;
    }
  }
  return matches == 1 ? by_last_part : nullptr;
}

FieldKey field_key(std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, dot)), std::string(path.substr(dot + 1))};
}

}  // namespace smtwin
