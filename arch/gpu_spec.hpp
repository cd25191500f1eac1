// SPDX-License-Identifier: Apache-2.0
// A GPU as data: everything the model may know about a chip, in base units, each number with its
// source. One file in data/gpus/ is one GpuSpec; gpu_spec_io.cpp is the only code that knows the
// JSON keys, which are the member paths used here ("sm.shared_bytes_per_sm").
// A value nobody knows is empty (null in the file, provenance unknown); code that needs it refuses
// by name through require().
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/provenance.hpp"

namespace smtwin {

struct ComputeCapability {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

// Limits of one SM that decide how many CTAs can be resident. Plain integers, no heap: residency
// is evaluated tens of millions of times a second.
struct SmSpec {
  static constexpr int kMaxCarveouts = 16;

  std::int32_t threads_per_warp = 32;
  std::int32_t max_threads_per_cta = 0;
  std::int32_t max_warps_per_sm = 0;
  std::int32_t max_ctas_per_sm = 0;  // CTA slots
  std::int32_t registers_per_sm = 0;
  std::int32_t registers_per_cta = 0;         // most that one CTA's launch check accepts
  std::int32_t max_registers_per_thread = 0;  // largest count the launch check accepts
  std::int32_t register_allocation_unit = 0;  // registers, granted per warp
  std::int32_t partitions_per_sm = 0;         // sub-partitions with a register file each
  // The launch check rounds a CTA's warps up to this many partitions. Equal to partitions_per_sm
  // everywhere but on CC 6.0, which refuses what the rest of its family cannot run.
  std::int32_t register_check_partitions = 0;
  std::int32_t barriers_per_sm = 0;           // CTA (named) barriers; 0 = not a limit on this chip
  std::int32_t virtual_resources_per_sm = 0;  // 0 = not a limit on this chip

  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t shared_bytes_per_cta_default = 0;  // without opt-in, static + dynamic
  std::int64_t shared_bytes_per_cta_optin = 0;    // with opt-in; equal to default where none exists
  std::int64_t shared_bytes_reserved_per_cta = 0;
  std::int64_t shared_allocation_unit_bytes = 0;
  std::int64_t l1_and_shared_bytes_per_sm = 0;  // unified L1; 0 = shared memory is separate
  // Sizes the driver can carve out for shared memory, ascending; the last is shared_bytes_per_sm.
  // Unused entries are 0.
  std::array<std::int64_t, kMaxCarveouts> shared_carveouts_bytes{};
  std::int32_t shared_carveout_count = 0;

  std::int32_t max_cluster_ctas_portable = 1;  // 1 = no clusters
  std::optional<int> max_cluster_ctas_nonportable;
};

// Rates of one SM per clock, dense, 1 FMA = 2 flops. Empty = no such instruction or not known.
struct SmRates {
  std::optional<double> warp_instructions_per_cycle;
  std::optional<double> fp32_flops_per_cycle;
  std::optional<double> sfu_ops_per_cycle;
  std::optional<double> shared_bytes_per_cycle;
  std::optional<double> tensor_tf32_flops_per_cycle;
  std::optional<double> tensor_bf16_flops_per_cycle;  // FP32 accumulate
  std::optional<double> tensor_fp8_flops_per_cycle;   // FP32 accumulate
  std::optional<double> tensor_int8_flops_per_cycle;
  std::optional<double> tensor_mxfp8_flops_per_cycle;  // block-scaled
  std::optional<double> tensor_nvfp4_flops_per_cycle;  // block-scaled, mxf4nvf4
};

struct GpuSpec {
  std::string name;          // canonical: "rtx-pro-6000-server"
  std::string display_name;  // "NVIDIA RTX PRO 6000 Blackwell Server Edition"
  std::vector<std::string> aliases;
  std::string file;  // where it was read from; empty for one built in code
  ComputeCapability compute_capability;
  std::vector<std::string> notes;  // disagreeing sources and other caveats

  SmSpec sm;
  SmRates rates;
  std::optional<int> sm_count;
  std::optional<int> sms_per_gpc;     // of a full GPC; products ship with some fused off
  std::optional<double> sm_clock_hz;  // boost, what datasheet rates refer to
  std::optional<double> l1_latency_cycles;
  std::optional<double> l2_bytes;
  std::optional<double> l2_latency_cycles;
  std::optional<double> l2_bytes_per_s;        // read, all SMs together
  std::optional<double> dram_bytes;            // capacity a process can see
  std::optional<double> dram_bytes_per_s;      // peak of the memory interface
  std::optional<double> dram_read_efficiency;  // best measured fraction of it, 0..1
  std::optional<double> dram_latency_cycles;   // unloaded pointer chase
  std::optional<double> graph_node_gap_s;      // between kernels of a replayed CUDA graph
  std::optional<double> stream_launch_gap_s;   // between back-to-back stream launches
  std::optional<double> board_power_w;
  std::optional<double> nvlink_bytes_per_s;  // per direction, all links of one GPU
  std::optional<double> pcie_bytes_per_s;    // per direction
  // All-reduce as alpha + beta x bytes, for 2, 4 and 8 GPUs of one host; transfers count
  // 2 (n-1)/n x message bytes. One line per GPU count: protocol switches and the frameworks' own
  // all-reduce kernels are not in it.
  std::array<std::optional<double>, 3> allreduce_alpha_s;
  std::array<std::optional<double>, 3> allreduce_bytes_per_s;

  // Path of a field ("sm.registers_per_sm") -> where its value comes from.
  std::map<std::string, Source> sources;
};

// The value, or a DataError that names the GPU, the field and how to supply it with --set.
double require(const GpuSpec& gpu, const std::optional<double>& value, const char* path);
int require(const GpuSpec& gpu, const std::optional<int>& value, const char* path);

// Provenance of a field; unknown when the path has no source.
Provenance provenance_of(const GpuSpec& gpu, const std::string& path);

// "sm_120" for 12.0.
std::string architecture_name(ComputeCapability cc);

}  // namespace smtwin
