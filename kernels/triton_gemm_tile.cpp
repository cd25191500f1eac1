// SPDX-License-Identifier: Apache-2.0
#include "kernels/triton_gemm_tile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arch/units.hpp"
#include "kernels/parameter_specs.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kMaxTensorElements = std::int64_t{1} << 20;  // of one Triton tensor
constexpr std::int64_t kMaxGridX = (std::int64_t{1} << 31) - 1;     // CUDA's grid limits
constexpr std::int64_t kMaxGridYz = 65535;
constexpr std::int64_t kSmallestSideV2 = 16;  // smallest side of a dot in Triton 2.x
constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kCopyBytes = 16;  // one cp.async of one lane
constexpr std::int32_t kMostRegisters = 255;

struct RegisterFit {
  double base;
  double per_accumulator;
  double per_copy;
};
// Least squares in relative error on the configurations that do not spill. Relative residual over
// all of them, a spilling one counted as 255: median / 90th percentile / worst.
constexpr RegisterFit kPlainMma{27, 1.45, 1.8};     // 299 configurations: 6 / 16 / 47 %
constexpr RegisterFit kPlainWgmma{15, 1.2, 2.1};    // 159 configurations: 3 / 11 / 35 %
constexpr RegisterFit kScaledMma{31, 2.85, 3.6};    // 268 configurations: 6 / 14 / 25 %
constexpr RegisterFit kScaledWgmma{27, 2.85, 1.8};  // 84 configurations: 5 / 17 / 19 %

bool power_of_two(std::int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

double copies_per_thread(std::int64_t elements, const TritonConfig& config) {
  const double bytes = static_cast<double>(elements * config.tile.element_bytes);
  const double threads = static_cast<double>(config.tile.num_warps * kLanes);
  return std::max(1.0, bytes / static_cast<double>(kCopyBytes) / threads);
}

}  // namespace

const std::vector<GemmDataType>& gemm_data_types() {
  static const std::vector<GemmDataType> types = {
      {"bf16", 2, false, {8, 0}}, {"fp16", 2, false, {7, 0}}, {"fp8", 1, false, {8, 9}},
      {"int8", 1, true, {7, 5}},  {"fp32", 4, false, {7, 0}},
  };
  return types;
}

const GemmDataType& gemm_data_type(const Parameters& parameters) {
  return gemm_data_types().at(static_cast<std::size_t>(parameters.at("dtype")));
}

ParameterSpec data_type_parameter(std::int64_t default_index) {
  std::vector<std::string> names;
  for (const auto& type : gemm_data_types()) names.emplace_back(type.name);
  return choice_parameter("dtype", "data type of both operands; fp32 is multiplied as tf32",
                          ParameterRole::shape, std::move(names), default_index);
}

std::vector<ParameterSpec> triton_config_parameters() {
  constexpr ValueRange kSide{1, 1024};
  return {
      config_parameter("block_m", "rows of a CTA's output tile", 128, kSide, "BM",
                       {16, 32, 64, 128, 256}),
      config_parameter("block_n", "columns of a CTA's output tile", 128, kSide, "BN",
                       {32, 64, 128, 256}),
      config_parameter("block_k", "elements of K a pipeline step loads", 64, kSide, "BK",
                       {32, 64, 128, 256}),
      config_parameter("num_warps", "warps of a CTA", 4, {1, 64}, "w", {4, 8}),
      config_parameter("num_stages", "pipeline stages asked of the compiler", 3, {1, 16}, "s",
                       {2, 3, 4, 5}),
      config_parameter("group_m", "row tiles visited before the next column tile", 1, {1, 1024},
                       "G", {1}),
      choice_parameter("triton_version", "compiler generation; 2.x keeps one shared buffer more",
                       ParameterRole::target, {"3.x", "2.x"}),
  };
}

TritonConfig triton_config(const Parameters& parameters, int element_bytes) {
  TritonConfig config;
  config.tile.m = parameters.at("block_m");
  config.tile.n = parameters.at("block_n");
  config.tile.k = parameters.at("block_k");
  config.tile.element_bytes = element_bytes;
  config.tile.num_warps = parameters.at("num_warps");
  config.num_stages = parameters.at("num_stages");
  config.group_m = parameters.at("group_m");
  config.version = parameters.at("triton_version") == 0 ? TritonVersion::v3 : TritonVersion::v2;
  return config;
}

std::string triton_tile_problem(const TritonConfig& config, const GemmDataType& type,
                                const GpuSpec& gpu) {
  const DotTile& tile = config.tile;
  const std::pair<const char*, std::int64_t> powers[] = {
      {"block_m", tile.m}, {"block_n", tile.n}, {"block_k", tile.k}, {"num_warps", tile.num_warps}};
  for (const auto& [name, value] : powers) {
    if (!power_of_two(value)) {
      return std::string(name) + " " + std::to_string(value) +
             " is not a power of two, which Triton requires";
    }
  }
  const std::int64_t least_k = type.bytes == 1 ? 32 : 16;
  if (tile.k < least_k) {
    return "block_k " + std::to_string(tile.k) + " is below " + std::to_string(least_k) +
           ", the least a tl.dot of " + type.name + " takes";
  }
  if (config.version == TritonVersion::v2 && std::min(tile.m, tile.n) < kSmallestSideV2) {
    return "Triton 2.x takes no tl.dot with a side below 16";
  }
  const auto largest = std::max({tile.m * tile.n, tile.m * tile.k, tile.n * tile.k});
  if (largest > kMaxTensorElements) return "a tile has more than 1,048,576 elements";
  if (gpu.compute_capability < type.first) {
    return std::string("Triton compiles ") + type.name + " from " + architecture_name(type.first) +
           " on; this is " + architecture_name(gpu.compute_capability);
  }
  return "";
}

std::string grid_problem(const Grid& grid) {
  if (grid.x > kMaxGridX || grid.y > kMaxGridYz || grid.z > kMaxGridYz) {
    return "the grid " + grid.formula + " exceeds CUDA's 2,147,483,647 x 65,535 x 65,535";
  }
  return "";
}

RegisterEstimate registers_estimate(const TritonConfig& config, GemmBody body,
                                    const GemmDataType& type, const GpuSpec& gpu) {
  const DotTile& tile = config.tile;
  const auto instruction = dot_instruction(gpu.compute_capability, config.version, tile);
  const bool groups =
      instruction == DotInstruction::wgmma || instruction == DotInstruction::tcgen05;
  const bool plain = body == GemmBody::plain;
  const RegisterFit& fit =
      plain ? (groups ? kPlainWgmma : kPlainMma) : (groups ? kScaledWgmma : kScaledMma);
  const double accumulators = static_cast<double>(tile.m) * static_cast<double>(tile.n) /
                              static_cast<double>(kLanes * tile.num_warps);
  const double copies =
      copies_per_thread(tile.m * tile.k, config) + copies_per_thread(tile.n * tile.k, config);
  const double estimate = fit.base + fit.per_accumulator * accumulators + fit.per_copy * copies;
  RegisterEstimate result;
  result.per_thread = static_cast<std::int32_t>(
      std::min(static_cast<double>(kMostRegisters), std::round(estimate)));

  const bool chip = gpu.compute_capability == ComputeCapability{9, 0} ||
                    gpu.compute_capability == ComputeCapability{12, 0};
  const bool data = plain ? type.bytes == 2 && !type.is_integer : type.bytes == 1;
  const bool inside = chip && data && config.version == TritonVersion::v3;
  result.provenance = inside ? Provenance::fitted : Provenance::extrapolated;
  result.source =
      "estimate fitted to ptxas output of Triton 3.6.0 (median error 3 to 6 %, "
      "worst 47 %)";
  if (!inside) result.source += ", here outside the data types and chips it was fitted on";
  if (result.per_thread == kMostRegisters) result.source += "; at the limit it will spill";
  return result;
}

void set_triton_resources(KernelInstance& instance, const TritonConfig& config, GemmBody body,
                          const GemmDataType& type, const GpuSpec& gpu,
                          const OperandBuffers& buffers, const SharedBytes& shared) {
  const RegisterEstimate registers = registers_estimate(config, body, type, gpu);
  instance.resources.threads_per_cta =
      static_cast<std::int32_t>(config.tile.num_warps * gpu.sm.threads_per_warp);
  instance.resources.registers_per_thread = registers.per_thread;
  instance.resources.dynamic_shared_bytes = shared.bytes;
  instance.shared_provenance = buffers.provenance;
  instance.shared_formula = shared.formula;
  instance.registers_provenance = registers.provenance;
  instance.registers_source = registers.source;
  instance.pipe = dot_pipe(dot_instruction(gpu.compute_capability, config.version, config.tile),
                           type.bytes, type.is_integer);
  instance.impossible = triton_tile_problem(config, type, gpu);
}

}  // namespace smtwin
