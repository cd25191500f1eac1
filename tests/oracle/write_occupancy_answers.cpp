// SPDX-License-Identifier: Apache-2.0
// Writes tests/oracle/occupancy_answers.csv to stdout: what the toolkit's occupancy calculator says
// about a drawn set of kernels on every compute capability. Built only where cuda_occupancy.h is
// installed; `cmake --build build --target regenerate_occupancy_answers` rewrites the file.
#include <iostream>

#include "arch/gpu_catalog.hpp"
#include "tests/oracle/sample_inputs.hpp"
#include "tests/oracle/toolkit_calculator.hpp"

namespace {

constexpr int kRowsPerGpu = 120;
constexpr std::uint64_t kSeed = 2026;

void write_limit(std::int32_t limit) {
  std::cout << ',';
  if (limit != smtwin::kUnlimited) std::cout << limit;
}

}  // namespace

int main() {
  using namespace smtwin;
  std::cout << "gpu,threads,regs,static_smem,dyn_smem,barriers,virtual_resources,carveout,opt_in,"
               "ctas,limiting_factors,limit_warps,limit_regs,limit_smem,limit_cta_slots,"
               "limit_barriers,limit_virtual_resources,regs_per_cta,smem_per_cta\n";
  for (const char* name : oracle::compute_capabilities()) {
    const GpuSpec gpu = find_gpu(name);
    const cudaOccDeviceProp device = oracle::device_properties(gpu);
    const auto thresholds = oracle::shared_thresholds(gpu.sm);
    oracle::Random random(kSeed);
    for (int row = 0; row < kRowsPerGpu; ++row) {
      const KernelResources k = oracle::draw_kernel(random, gpu.sm, thresholds);
      const auto answer = oracle::ask(device, k);
      if (!answer) {
        std::cerr << "error: the calculator refuses " << oracle::describe(gpu, k) << '\n';
        return 2;
      }
      std::cout << gpu.name << ',' << k.threads_per_cta << ',' << k.registers_per_thread << ','
                << k.static_shared_bytes << ',' << k.dynamic_shared_bytes << ','
                << k.barriers_per_cta << ',' << k.virtual_resources_per_cta << ','
                << k.carveout_percent << ',' << (k.shared_opt_in ? 1 : 0) << ','
                << answer->ctas_per_sm << ',' << int{answer->limiting_factors};
      write_limit(answer->limits.warps);
      write_limit(answer->limits.registers);
      write_limit(answer->limits.shared_memory);
      write_limit(answer->limits.cta_slots);
      write_limit(answer->limits.barriers);
      write_limit(answer->limits.virtual_resources);
      std::cout << ',' << answer->registers_per_cta << ',' << answer->shared_bytes_per_cta << '\n';
    }
  }
}
