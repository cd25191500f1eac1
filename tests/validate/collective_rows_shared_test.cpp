// SPDX-License-Identifier: Apache-2.0
// The collectives of two measured GPUs: fitted without the size that is predicted, with priors
// alone, and with a GPU count left out. Skips where the rows are absent.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>

#include "tests/catch.hpp"
#include "tests/validate/constants_in_use.hpp"
#include "validate/fit/family_fit.hpp"
#include "validate/measurements/collective_rows.hpp"
#include "validate/measurements/measured_families.hpp"
#include "validate/measurements/measurement_reader.hpp"

namespace smtwin {
namespace {

struct Case {
  const char* folder;
  double median, p90;         // of unseen sizes
  double unseen_gpus_median;  // of an unseen GPU count
};
// Some points above what the model reaches, so that only a real loss fails.
constexpr Case kCases[] = {{"rtx_pro_6000_server", 0.028, 0.085, 0.04},
                           {"h200_sxm", 0.033, 0.11, 0.045}};

std::string folder_of(const char* gpu) {
  const char* shared = std::getenv("SMTWIN_SHARED");
  return (shared != nullptr ? std::string(shared)
                            : std::string(SMTWIN_TEST_SOURCE_DIR "/../shared")) +
         "/measurements/" + gpu;
}

struct Loaded {
  MeasurementSet set;
  std::vector<FamilyRows> families;
  const FamilyRows& family() const { return families.front(); }
};

// False when there are no rows.
bool load(const char* gpu, Loaded& loaded) {
  const std::string folder = folder_of(gpu);
  if (!std::filesystem::exists(folder)) {
    test::skip("no measurements in " + folder);
    return false;
  }
  for (const char* table : {"nccl-nccl", "vllm-custom_allreduce", "sglang-custom_allreduce",
                            "trtllm-custom_allreduce"}) {
    read_measurement_path(folder + "/" + table + "_perf.csv", loaded.set);
  }
  loaded.families = group_families(loaded.set.rows);
  REQUIRE(loaded.families.size() == 1);
  REQUIRE(loaded.family().problem != nullptr);
  return true;
}

double predicted_s(const FamilyRows& family, std::size_t i, const std::vector<double>& values) {
  int choice = 0;
  return family.problem->seconds(i, values, choice, true);
}

// |predicted / measured - 1| of every row, each from a fit without its part.
std::vector<double> errors_of_unseen(const FamilyRows& family, const std::vector<int>& part) {
  std::vector<double> errors(part.size());
  const int parts = *std::max_element(part.begin(), part.end()) + 1;
  for (int p = 0; p < parts; ++p) {
    std::vector<std::size_t> seen;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != p) seen.push_back(i);
    }
    const FamilyFit fit = fit_family(family.measured, seen, {});
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != p) continue;
      errors[i] = std::fabs(predicted_s(family, i, fit.values) / family.measured.measured_s[i] - 1);
    }
  }
  return errors;
}

double quantile(std::vector<double> errors, double q) {
  std::sort(errors.begin(), errors.end());
  return errors[static_cast<std::size_t>(q * static_cast<double>(errors.size() - 1))];
}

double bytes_of(const MeasurementRow& row) { return collective_question(row).bytes; }

TEST_CASE("collectives of unseen sizes") {
  for (const Case& c : kCases) {
    Loaded loaded;
    if (!load(c.folder, loaded)) return;
    const FamilyRows& family = loaded.family();
    std::vector<int> part;
    for (const MeasurementRow* row : family.rows) {
      part.push_back(static_cast<int>(std::lround(std::log2(bytes_of(*row)))) % 5);
    }
    const std::vector<double> errors = errors_of_unseen(family, part);
    INFO(c.folder);
    CHECK(quantile(errors, 0.5) < c.median);
    CHECK(quantile(errors, 0.9) < c.p90);
    std::map<std::string, std::vector<double>> by_family;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      by_family[scored_family(family.gpu, *family.rows[i])].push_back(errors[i]);
    }
    for (const auto& [name, of_family] : by_family) {
      INFO(name);
      CHECK(quantile(of_family, 0.5) < 0.055);
      CHECK(quantile(of_family, 0.9) < 0.17);
    }
  }
}

TEST_CASE("collectives of an unseen number of GPUs, and of none") {
  for (const Case& c : kCases) {
    Loaded loaded;
    if (!load(c.folder, loaded)) return;
    const FamilyRows& family = loaded.family();
    std::vector<int> part;
    std::vector<double> prior, from_priors;
    for (const MeasurementRow* row : family.rows) {
      part.push_back(row->num_gpus == 2 ? 0 : row->num_gpus == 4 ? 1 : 2);
    }
    for (const ConstantSpec& spec : family.problem->constants()) prior.push_back(spec.prior);
    for (std::size_t i = 0; i < family.rows.size(); ++i) {
      from_priors.push_back(
          std::fabs(predicted_s(family, i, prior) / family.measured.measured_s[i] - 1));
    }
    INFO(c.folder);
    CHECK(quantile(errors_of_unseen(family, part), 0.5) < c.unseen_gpus_median);
    CHECK(quantile(from_priors, 0.5) < 0.25);
  }
}

TEST_CASE("no scored family of collectives uses more than 16 constants, none ends at a bound") {
  for (const Case& c : kCases) {
    Loaded loaded;
    if (!load(c.folder, loaded)) return;
    const FamilyRows& family = loaded.family();
    std::map<std::string, std::vector<std::size_t>> points;
    for (std::size_t i = 0; i < family.rows.size(); ++i) {
      points[scored_family(family.gpu, *family.rows[i])].push_back(i);
    }
    CHECK(points.size() == 13);
    for (const auto& [name, of_family] : points) {
      INFO(name);
      CHECK(test::constants_in_use(*family.problem, of_family).size() <= 16);
    }
    const FamilyFit fit = fit_family(family.measured, {}, {});
    CHECK(std::count(fit.at_bound.begin(), fit.at_bound.end(), true) == 0);
  }
}

}  // namespace
}  // namespace smtwin
