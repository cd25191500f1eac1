// SPDX-License-Identifier: Apache-2.0
// The latent-attention and DeepSeek-V4 models against the shared measurements (../shared or
// $SMTWIN_SHARED): every family is fitted and predicts (heads, batch) pairs it has not seen.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "validate/fit/family_fit.hpp"
#include "validate/fit/statistics.hpp"
#include "validate/measurements/measured_families.hpp"
#include "validate/measurements/measurement_reader.hpp"

using namespace smtwin;

namespace {

// Close to what the pooled fit of a GPU's families gives for its DRAM: held, so that each file is
// fitted on its own.
double pooled_dram_rate(const TimingGpu& gpu) { return gpu.hopper() ? 4.62e12 : 1.53e12; }

void check_unseen_shapes(const std::string& file, double most_median, double most_p90) {
  const char* shared = std::getenv("SMTWIN_SHARED");
  const std::string path =
      (shared != nullptr ? std::string(shared) : std::string(SMTWIN_TEST_SOURCE_DIR "/../shared")) +
      "/measurements/" + file;
  if (!std::ifstream(path)) {
    test::skip("no " + path);
    return;
  }
  MeasurementSet set;
  read_measurement_path(path, set);
  for (const FamilyRows& family : group_families(set.rows)) {
    INFO(file << " " << family.identity.kernel_source << " " << family.identity.gemm_type << " "
              << family.identity.kv_dtype << ": " << family.why);
    REQUIRE(family.problem != nullptr);
    FamilyFitOptions options;
    options.fixed = {{.name = "dram_rate", .value = pooled_dram_rate(family.timing_gpu)}};
    const FamilyFit fit = fit_family(family.measured, {}, options);
    for (const bool bound : fit.at_bound) CHECK_FALSE(bound);
    const CrossValidation cv = cross_validate(family.measured, {}, options);
    std::vector<double> errors;
    for (const double e : cv.log_error) errors.push_back(std::abs(std::exp(e) - 1));
    REQUIRE(errors.size() == family.rows.size());
    const double median = quantile(errors, 0.5), p90 = quantile(errors, 0.9);
    CHECK(median < most_median);
    CHECK(p90 < most_p90);
  }
}

}  // namespace

TEST_CASE("latent-attention kernels predict unseen heads and batches", "[oracle]") {
  check_unseen_shapes("h200_sxm/sglang-generation_mla_perf.csv", 0.03, 0.09);
  check_unseen_shapes("h200_sxm/trtllm-generation_mla_perf.csv", 0.03, 0.09);
  check_unseen_shapes("rtx_pro_6000_server/sglang-generation_mla_perf.csv", 0.042, 0.13);
  check_unseen_shapes("rtx_pro_6000_server/trtllm-generation_mla_perf.csv", 0.032, 0.15);
}

TEST_CASE("latent-attention modules predict unseen heads and batches", "[oracle]") {
  check_unseen_shapes("h200_sxm/vllm-mla_generation_module_perf.csv", 0.035, 0.1);
  check_unseen_shapes("h200_sxm/trtllm-mla_generation_module_perf.csv", 0.035, 0.11);
  check_unseen_shapes("rtx_pro_6000_server/vllm-mla_generation_module_perf.csv", 0.042, 0.13);
  check_unseen_shapes("rtx_pro_6000_server/trtllm-mla_generation_module_perf.csv", 0.038, 0.12);
}

TEST_CASE("DeepSeek-V4 modules predict unseen heads and batches", "[oracle]") {
  check_unseen_shapes("h200_sxm/sglang-dsv4_csa_generation_module_perf.csv", 0.035, 0.1);
  check_unseen_shapes("h200_sxm/sglang-dsv4_hca_generation_module_perf.csv", 0.045, 0.15);
  check_unseen_shapes("h200_sxm/vllm-dsv4_csa_generation_module_perf.csv", 0.03, 0.1);
  check_unseen_shapes("h200_sxm/vllm-dsv4_hca_generation_module_perf.csv", 0.04, 0.15);
  check_unseen_shapes("rtx_pro_6000_server/sglang-dsv4_csa_generation_module_perf.csv", 0.02, 0.1);
  check_unseen_shapes("rtx_pro_6000_server/sglang-dsv4_hca_generation_module_perf.csv", 0.015,
                      0.08);
}
