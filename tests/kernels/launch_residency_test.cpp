// SPDX-License-Identifier: Apache-2.0
// The launch rules' count of resident CTAs is the residency model's, wherever that has no cluster
// and no barrier to count.
#include "kernels/launch_residency.hpp"

#include "arch/gpu_catalog.hpp"
#include "model/residency.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("launch rules count resident CTAs as the residency model does", "[oracle]") {
  for (const char* name : {"h200-sxm", "rtx-pro-6000-server"}) {
    const GpuSpec gpu = find_gpu(name);
    for (const int threads : {32, 96, 160, 192, 320, 384}) {
      for (const int registers : {32, 64, 88, 96, 148, 168, 255}) {
        for (const std::int64_t bytes : {0, 12768, 22272, 51296, 99072}) {
          const KernelResources kernel{.threads_per_cta = threads,
                                       .registers_per_thread = registers,
                                       .dynamic_shared_bytes = bytes};
          INFO(name << ' ' << threads << " threads, " << registers << " registers, " << bytes);
          CHECK(launch_ctas_per_sm(kernel, gpu.sm) == resident_ctas(gpu.sm, kernel).ctas_per_sm);
        }
      }
    }
  }
}

TEST_CASE("limits that nobody states do not count", "[hand]") {
  SmSpec sm;
  sm.threads_per_warp = 32;
  CHECK(launch_ctas_per_sm({.threads_per_cta = 128}, sm) == 1);
  sm.max_warps_per_sm = 48;  // 48 / 4 = 12
  CHECK(launch_ctas_per_sm({.threads_per_cta = 128}, sm) == 12);
  sm.max_ctas_per_sm = 8;
  CHECK(launch_ctas_per_sm({.threads_per_cta = 128}, sm) == 8);
}
