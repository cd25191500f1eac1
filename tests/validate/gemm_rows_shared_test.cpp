// SPDX-License-Identifier: Apache-2.0
// GEMM, MLA projections and dynamic scales against the shared measurements (../shared or
// $SMTWIN_SHARED): fitted, they predict shapes they have not seen; without a row they are not lost.
#include <algorithm>
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

// Families of all files of one table; empty (and skipped) without the measurements.
struct Measured {
  MeasurementSet set;
  std::vector<FamilyRows> families;
};

Measured measured(const std::string& gpu, const std::string& table) {
  const char* given = std::getenv("SMTWIN_SHARED");
  const std::string shared = given != nullptr ? given : SMTWIN_TEST_SOURCE_DIR "/../shared";
  Measured m;
  for (const std::string framework : {"vllm", "sglang", "trtllm"}) {
    const std::string path =
        shared + "/measurements/" + gpu + "/" + framework + "-" + table + ".csv";
    if (std::ifstream(path)) read_measurement_path(path, m.set);
  }
  if (m.set.rows.empty()) test::skip("no " + shared + "/measurements/" + gpu);
  m.families = group_families(m.set.rows);
  return m;
}

FamilyFitOptions pooled(const TimingGpu& gpu) {
  FamilyFitOptions o;
  o.fixed = {{.name = "dram_rate", .value = gpu.hopper() ? 4.3e12 : 1.52e12}};
  return o;
}

struct Bar {
  double median, p90;
};

// Median and p90 that each family keeps on unseen (n, k). Noise of the rows themselves, given in
// docs/families/gemm.md, lifts three of the H200.
Bar gemm_bar(const FamilyRows& family) {
  if (family.gpu == "h200-sxm") {
    if (family.identity.key().find("deepgemm_gemm") != std::string::npos) return {0.087, 0.22};
    if (family.identity.key().find("sgl_kernel_fp8") != std::string::npos) return {0.062, 0.19};
    if (family.identity.key().find("sglang_torch_linear") != std::string::npos)
      return {0.061, 0.19};
  }
  return {0.052, 0.20};
}

}  // namespace

TEST_CASE("GEMM families predict sizes of N and K they have not seen", "[shared]") {
  const std::string gpu = GENERATE(as<std::string>{}, "rtx_pro_6000_server", "h200_sxm");
  for (const FamilyRows& family : measured(gpu, "gemm_perf").families) {
    INFO(family.gpu << " " << family.identity.key());
    REQUIRE(family.problem != nullptr);
    if (family.rows.size() < 300) continue;
    const FamilyFitOptions o = pooled(family.timing_gpu);
    const FamilyFit fit = fit_family(family.measured, {}, o);
    CHECK(fit.values.size() <= 12);
    for (std::size_t j = 0; j < fit.values.size(); ++j) {
      INFO(family.problem->constants()[j].name << " = " << fit.values[j]);
      CHECK_FALSE(fit.at_bound[j]);
    }
    const CrossValidation check = cross_validate(family.measured, {}, o);
    const ErrorStatistics e = error_statistics(check.predicted_s, family.measured.measured_s);
    const Bar bar = gemm_bar(family);
    CHECK(e.median_error <= bar.median);
    CHECK(e.p90_error <= bar.p90);
    CHECK((family.measured.problem->constants().back().name.rfind("host", 0) == 0 ||
           e.spearman >= 0.98));
  }
}

TEST_CASE("projections and scales predict batches they have not seen", "[shared]") {
  const std::string gpu = GENERATE(as<std::string>{}, "rtx_pro_6000_server", "h200_sxm");
  const std::string table = GENERATE(as<std::string>{}, "mla_bmm_perf", "computescale_perf");
  for (const FamilyRows& family : measured(gpu, table).families) {
    INFO(family.gpu << " " << family.identity.key());
    REQUIRE(family.problem != nullptr);
    if (family.rows.size() < 300) continue;
    const CrossValidation check = cross_validate(family.measured, {}, pooled(family.timing_gpu));
    // Most of these last a few microseconds: within 5 % or 1 us counts as right.
    std::size_t right = 0;
    for (std::size_t i = 0; i < check.predicted_s.size(); ++i) {
      const double is = family.measured.measured_s[i];
      if (std::abs(check.predicted_s[i] - is) <= std::max(0.05 * is, 1e-6)) ++right;
    }
    CHECK(2 * right >= check.predicted_s.size());
    const ErrorStatistics e = error_statistics(check.predicted_s, family.measured.measured_s);
    CHECK(e.median_error <= 0.10);
  }
}

TEST_CASE("without a row of its own a family stays within 25 % median", "[shared]") {
  const std::string gpu = GENERATE(as<std::string>{}, "rtx_pro_6000_server", "h200_sxm");
  const std::string table =
      GENERATE(as<std::string>{}, "gemm_perf", "mla_bmm_perf", "computescale_perf");
  for (const FamilyRows& family : measured(gpu, table).families) {
    if (family.rows.size() < 100) continue;
    std::vector<double> prior, predicted;
    for (const ConstantSpec& c : family.problem->constants()) prior.push_back(c.prior);
    for (std::size_t i = 0; i < family.problem->size(); ++i) {
      int choice = 0;
      predicted.push_back(family.problem->seconds(i, prior, choice, true));
    }
    INFO(family.gpu << " " << family.identity.key());
    CHECK(error_statistics(predicted, family.measured.measured_s).median_error <= 0.25);
  }
}
