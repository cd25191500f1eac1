// SPDX-License-Identifier: Apache-2.0
// The part that dense and grouped Triton GEMMs share: the tuner's parameters, what a tile may be,
// and an estimate of the registers a thread takes.
//
//   registers = c0 + c1 x accumulators + c2 x copies, at most 255
//   accumulators  FP32 outputs a thread holds: BLOCK_M x BLOCK_N / (32 x num_warps)
//   copies        16-byte copies of A and of B a thread issues each step, each at least 1: their
//                 addresses stay in registers
// Fitted to ptxas output of Triton 3.6.0 for sm_90 and sm_120 (dense bf16, grouped fp8 with block
// scales); see registers_estimate for the residuals. Spills are not predicted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "arch/provenance.hpp"
#include "kernels/descriptor.hpp"
#include "kernels/triton_compiler.hpp"

namespace smtwin {

struct GemmDataType {
  const char* name;
  int bytes;
  bool is_integer;
  ComputeCapability first;  // first chip Triton compiles it for
};
const std::vector<GemmDataType>& gemm_data_types();  // in the order of the dtype parameter
const GemmDataType& gemm_data_type(const Parameters& parameters);

// block_m, block_n, block_k, num_warps, num_stages, group_m, then triton_version.
std::vector<ParameterSpec> triton_config_parameters();
ParameterSpec data_type_parameter(std::int64_t default_index);

struct TritonConfig {
  DotTile tile;
  std::int64_t num_stages = 1;
  std::int64_t group_m = 1;
  TritonVersion version = TritonVersion::v3;
};
TritonConfig triton_config(const Parameters& parameters, int element_bytes);

// Why Triton cannot compile or launch this; empty when it can.
std::string triton_tile_problem(const TritonConfig& config, const GemmDataType& type,
                                const GpuSpec& gpu);
std::string grid_problem(const Grid& grid);

enum class GemmBody { plain, block_scaled };  // block_scaled: scale vectors applied every step
struct RegisterEstimate {
  std::int32_t per_thread = 0;
  Provenance provenance = Provenance::assumed;
  std::string source;
};
RegisterEstimate registers_estimate(const TritonConfig& config, GemmBody body,
                                    const GemmDataType& type, const GpuSpec& gpu);

struct SharedBytes {
  std::int64_t bytes = 0;
  std::string formula;  // worked, "... = 65,536"
};

// What a CTA takes, into `instance`: threads, registers and shared bytes with where they come from,
// the math pipe, and why the tile cannot exist, if so.
void set_triton_resources(KernelInstance& instance, const TritonConfig& config, GemmBody body,
                          const GemmDataType& type, const GpuSpec& gpu,
                          const OperandBuffers& buffers, const SharedBytes& shared);

}  // namespace smtwin
