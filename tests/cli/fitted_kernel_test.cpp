// SPDX-License-Identifier: Apache-2.0
// predict and whatif with a profile that has families of kernels: their seconds, interval and
// reasons are shown instead of the uncalibrated model's.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "arch/gpu_catalog.hpp"
#include "model/families/own_kernels/own_kernel_model.hpp"
#include "model/fitted_kernels.hpp"
#include "tests/catch.hpp"
#include "tests/cli/run_in_process.hpp"
#include "validate/fit/profile_io.hpp"

using namespace smtwin;
using smtwin::test::smtwin_run;

namespace {

constexpr const char* kKernel = "sparse_decode_fieldnotes";

// Constants at their priors, known to 5 % each; residuals of 10 % everywhere.
CalibrationProfile profile_at_priors(const GpuSpec& gpu) {
  const KernelDescriptor& kernel = find_kernel(kKernel);
  const OwnKernelFamily family = own_kernel_family(kernel, complete_parameters(kernel, {}));
  CalibrationProfile profile;
  profile.gpu = gpu.name;
  profile.source = "made up";
  FamilyCalibration& f = profile.families.emplace_back();
  f.identity = family.identity();
  const auto model = own_kernel_model(family, gpu);
  for (const ConstantSpec& s : model->constants()) {
    f.constants.push_back({.name = s.name,
                           .unit = s.unit,
                           .meaning = s.meaning,
                           .value = s.prior,
                           .log_sd = 0.05,
                           .prior = s.prior});
  }
  const std::size_t n = f.constants.size();
  f.covariance.assign(n * n, 0);
  for (std::size_t j = 0; j < n; ++j) f.covariance[j * n + j] = 0.0025;
  f.spread.fill(0.1);
  return profile;
}

}  // namespace

TEST_CASE("a kernel with a fitted family is predicted by it", "[cli]") {
  const GpuSpec gpu = find_gpu("h200-sxm");
  const std::string path =
      (std::filesystem::temp_directory_path() / "smtwin_kernel_profile.json").string();
  std::ofstream(path) << write_profile(profile_at_priors(gpu));
  const std::string shape =
      std::string(kKernel) + " --gpu h200 --batch 64 --config BH16/BT16/w4/s2";
  const auto run =
      smtwin_run("predict --kernel " + shape + " --profile " + path + " --format json");
  REQUIRE(run.exit_code == 0);
  const auto predicted = nlohmann::json::parse(run.out)["result"]["predicted"];
  CHECK(predicted["family"] == "run/triton_sparse_mla_split");
  CHECK(predicted["provenance"] == "fitted");
  CHECK(predicted["binding"] == "latency");
  const double seconds = predicted["seconds"].get<double>();
  CHECK(predicted["interval_s"][0].get<double>() > 0.8 * seconds);
  CHECK(predicted["interval_s"][1].get<double>() < 1.25 * seconds);
  // Without the profile: the uncalibrated model, which is far off for this kernel.
  const auto plain = smtwin_run("predict --kernel " + shape + " --profile none --format json");
  const auto uncalibrated = nlohmann::json::parse(plain.out)["result"]["predicted"];
  CHECK_FALSE(uncalibrated.contains("family"));
  CHECK(uncalibrated["seconds"].get<double>() < 0.7 * seconds);
  // The reason of a difference names its causes.
  const auto whatif =
      smtwin_run("whatif --kernel " + shape + " --profile " + path + " --set num_warps=4,8");
  CHECK(whatif.exit_code == 0);
  std::string words = whatif.out;  // wrapped at blanks
  for (std::size_t at; (at = words.find("\n                ")) != std::string::npos;) {
    words.replace(at, 17, " ");
  }
  CHECK(words.find("the work of the warps decides") != std::string::npos);
  std::filesystem::remove(path);
}

TEST_CASE("constants of kernels follow the specification to other GPUs", "[unit]") {
  const GpuSpec h200 = find_gpu("h200-sxm"), rtx = find_gpu("rtx-pro-6000-server");
  auto profile = std::make_shared<CalibrationProfile>(profile_at_priors(h200));
  // Twice the prior here is twice the prior there.
  for (FittedConstant& c : profile->families.front().constants) c.value *= 2;
  const FittedKernels fitted(profile, h200);
  const KernelDescriptor& kernel = find_kernel(kKernel);
  const Parameters parameters = complete_parameters(kernel, {{"block_h", 16}});
  const KernelInstance there = kernel.instantiate(parameters, rtx);
  const auto time = fitted.time(rtx, kernel, parameters, there, L2State::cold);
  REQUIRE(time);
  CHECK(time->provenance == Provenance::transferred);
  CHECK(time->fitted_on == "h200-sxm");
  const auto model = own_kernel_model(own_kernel_family(kernel, parameters), rtx);
  std::vector<double> twice;
  for (const ConstantSpec& s : model->constants()) twice.push_back(2 * s.prior);
  CHECK(time->seconds ==
        Approx(model->point(there, parameters, L2State::cold)->seconds(twice)).epsilon(1e-9));
  // Another architecture widens the interval: exp(1.645 x 0.4) is 1.9.
  CHECK(time->interval.high_s > 1.9 * time->seconds);
  CHECK(time->interval.low_s < time->seconds / 1.9);
  // A kernel without a family, and one that does not fit, have no fitted time.
  const KernelDescriptor& gemm = find_kernel("triton_gemm");
  const Parameters any = complete_parameters(gemm, {});
  CHECK_FALSE(fitted.time(h200, gemm, any, gemm.instantiate(any, h200), L2State::cold));
  const Parameters large =
      complete_parameters(kernel, {{"block_h", 16}, {"block_t", 32}, {"num_stages", 2}});
  CHECK_FALSE(fitted.time(rtx, kernel, large, kernel.instantiate(large, rtx), L2State::cold));
}
