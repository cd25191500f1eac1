// SPDX-License-Identifier: Apache-2.0
// Our own kernels: what a descriptor computes equals what was compiled, to the byte, for every
// variant and both architectures; and the committed tables hold every variant.
#include <set>

#include "arch/gpu_catalog.hpp"
#include "kernels/compiled_table.hpp"
#include "kernels/dense_gemm/config.hpp"
#include "kernels/descriptor.hpp"
#include "tests/catch.hpp"

namespace {

using namespace smtwin;

// Complete parameters of every compiled variant, other parameters at their defaults.
std::vector<Parameters> sparse_variants() {
  const KernelDescriptor& kernel = find_kernel("sparse_mla_decode");
  return config_space(kernel, complete_parameters(kernel, {}));
}

std::vector<Parameters> gemm_variant_parameters(bool wgmma_too) {
  const KernelDescriptor& kernel = find_kernel("dense_gemm");
  std::vector<Parameters> all;
  for (const DenseGemmTile& tile : gemm_variants()) {
    if (tile.wgmma && !wgmma_too) continue;
    Parameters given = gemm_config(tile);
    given["dtype"] = static_cast<std::int64_t>(tile.dtype);
    all.push_back(complete_parameters(kernel, given));
  }
  return all;
}

void check_descriptor(const std::string& name, const GpuSpec& gpu,
                      const std::vector<Parameters>& variants) {
  const CompiledTable& table = compiled_table(name);
  std::set<std::string> symbols;
  for (const Parameters& parameters : variants) {
    const KernelInstance instance = find_kernel(name).instantiate(parameters, gpu);
    INFO(name << " " << instance.config << " on " << gpu.name);
    const CompiledVariant* compiled = table.find(instance.config, gpu.compute_capability);
    REQUIRE(compiled != nullptr);
    CHECK(compiled->target == gpu.compute_capability);
    CHECK(symbols.insert(compiled->symbol).second);
    CHECK(instance.resources.dynamic_shared_bytes == compiled->dynamic_shared_bytes);
    CHECK(instance.resources.static_shared_bytes == compiled->static_shared_bytes);
    CHECK(instance.resources.threads_per_cta == compiled->threads_per_cta);
    CHECK(instance.resources.registers_per_thread == compiled->registers_per_thread);
    CHECK(instance.resources.barriers_per_cta >= compiled->barriers);
    CHECK(instance.registers_provenance == Provenance::compiled);
    CHECK(compiled->instructions.count("mma") + compiled->instructions.count("wgmma") == 1);
  }
  // And no row of a variant that is gone.
  std::size_t rows = 0;
  for (const CompiledVariant& row : table.variants) {
    rows += row.target == gpu.compute_capability && !row.config.empty() ? 1 : 0;
  }
  CHECK(rows == variants.size());
}

}  // namespace

TEST_CASE("sparse_mla_decode needs what was compiled, to the byte", "[oracle]") {
  REQUIRE(sparse_variants().size() == 54);  // 3 BLOCK_H x 3 BLOCK_T x 2 warps x 3 stages
  check_descriptor("sparse_mla_decode", find_gpu("h200-sxm"), sparse_variants());
  check_descriptor("sparse_mla_decode", find_gpu("rtx-pro-6000-server"), sparse_variants());
}

TEST_CASE("dense_gemm needs what was compiled, to the byte", "[oracle]") {
  check_descriptor("dense_gemm", find_gpu("h200-sxm"), gemm_variant_parameters(true));
  // wgmma is an instruction of Hopper alone.
  check_descriptor("dense_gemm", find_gpu("rtx-pro-6000-server"), gemm_variant_parameters(false));
}
