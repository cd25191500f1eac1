// SPDX-License-Identifier: Apache-2.0
// A chip with just what descriptors look at: compute capability, SMs, opt-in shared memory.
#pragma once

#include "arch/gpu_spec.hpp"

namespace smtwin::test {

inline GpuSpec chip(ComputeCapability cc, std::int64_t optin_bytes = 101376, int sms = 188) {
  GpuSpec gpu;
  gpu.name = "test-chip";
  gpu.compute_capability = cc;
  gpu.sm.shared_bytes_per_cta_optin = optin_bytes;
  gpu.sm_count = sms;
  return gpu;
}

inline GpuSpec sm120() { return chip({12, 0}); }
inline GpuSpec sm90() { return chip({9, 0}, 232448, 132); }

}  // namespace smtwin::test
