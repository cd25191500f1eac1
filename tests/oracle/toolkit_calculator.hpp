// SPDX-License-Identifier: Apache-2.0
// Asks the occupancy calculator of the CUDA toolkit (cuda_occupancy.h, included where it is
// installed, never copied). It runs on the CPU and needs no GPU and no nvcc.
#pragma once

#include <cuda_occupancy.h>

#include <climits>
#include <optional>

#include "tests/oracle/calculator_answer.hpp"

namespace smtwin::oracle {

// The device attributes that the calculator takes as given; the rest it knows by the version.
inline cudaOccDeviceProp device_properties(const GpuSpec& gpu) {
  const SmSpec& sm = gpu.sm;
  cudaOccDeviceProp p;
  p.computeMajor = gpu.compute_capability.major;
  p.computeMinor = gpu.compute_capability.minor;
  p.maxThreadsPerBlock = sm.max_threads_per_cta;
  p.maxThreadsPerMultiprocessor = sm.max_warps_per_sm * sm.threads_per_warp;
  p.regsPerBlock = sm.registers_per_cta;
  p.regsPerMultiprocessor = sm.registers_per_sm;
  p.warpSize = sm.threads_per_warp;
  p.sharedMemPerBlock = static_cast<std::size_t>(sm.shared_bytes_per_cta_default);
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(sm.shared_bytes_per_sm);
  p.numSms = 1;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(sm.shared_bytes_per_cta_optin);
  p.reservedSharedMemPerBlock = static_cast<std::size_t>(sm.shared_bytes_reserved_per_cta);
  return p;
}

inline cudaOccFuncAttributes function_attributes(const KernelResources& kernel) {
  cudaOccFuncAttributes f;
  f.maxThreadsPerBlock = INT_MAX;
  f.numRegs = kernel.registers_per_thread;
  f.sharedSizeBytes = static_cast<std::size_t>(kernel.static_shared_bytes);
  f.shmemLimitConfig = kernel.shared_opt_in ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
  f.maxDynamicSharedSizeBytes = static_cast<std::size_t>(kernel.dynamic_shared_bytes);
  f.numBlockBarriers = kernel.barriers_per_cta;
  f.virtualResourceCount = kernel.virtual_resources_per_cta;
  return f;
}

// Nothing when the calculator refuses the input.
inline std::optional<cudaOccResult> ask_raw(const cudaOccDeviceProp& device,
                                            const KernelResources& kernel) {
  const cudaOccFuncAttributes function = function_attributes(kernel);
  cudaOccDeviceState state;
  state.carveoutConfig = kernel.carveout_percent;
  cudaOccResult result{};
  if (cudaOccMaxActiveBlocksPerMultiprocessor(
          &result, &device, &function, &state, kernel.threads_per_cta,
          static_cast<std::size_t>(kernel.dynamic_shared_bytes)) != CUDA_OCC_SUCCESS) {
    return std::nullopt;
  }
  return result;
}

inline std::optional<CalculatorAnswer> ask(const cudaOccDeviceProp& device,
                                           const KernelResources& kernel) {
  const auto result = ask_raw(device, kernel);
  if (!result) return std::nullopt;
  return CalculatorAnswer{
      .ctas_per_sm = result->activeBlocksPerMultiprocessor,
      .limiting_factors = static_cast<std::uint8_t>(result->limitingFactors),
      .limits = {.warps = result->blockLimitWarps,
                 .registers = result->blockLimitRegs,
                 .shared_memory = result->blockLimitSharedMem,
                 .cta_slots = result->blockLimitBlocks,
                 .barriers = result->blockLimitBarriers,
                 .virtual_resources = result->blockLimitVirtual},
      .registers_per_cta = result->allocatedRegistersPerBlock,
      .shared_bytes_per_cta = static_cast<std::int64_t>(result->allocatedSharedMemPerBlock)};
}

}  // namespace smtwin::oracle
