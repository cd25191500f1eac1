// SPDX-License-Identifier: Apache-2.0
// Reads a GPU file of the installed package and asks how many CTAs of a kernel an SM holds.
#include <iostream>

#include "arch/gpu_spec_io.hpp"
#include "model/residency.hpp"

int main() {
  const smtwin::GpuSpec gpu = smtwin::load_gpu_spec(GPU_FILES "rtx-pro-6000-server.json");
  const smtwin::Residency answer = smtwin::residency(
      gpu, {.threads_per_cta = 128, .registers_per_thread = 255, .dynamic_shared_bytes = 61'568});
  std::cout << gpu.name << ": " << answer.ctas_per_sm << " CTA per SM, limited by";
  for (const smtwin::Limiter limiter : answer.limiters.members()) {
    std::cout << ' ' << to_string(limiter);
  }
  std::cout << '\n';
}
