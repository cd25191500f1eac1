// SPDX-License-Identifier: Apache-2.0
#include "cli/run_answer.hpp"

#include <algorithm>

#include "cli/report.hpp"

namespace smtwin {
namespace {

std::string how_many(std::size_t count, const std::string& one, const std::string& many) {
  return format_count(static_cast<std::int64_t>(count)) + " " + (count == 1 ? one : many);
}

}  // namespace

std::vector<std::string> RunAnswer::outside() const {
  std::vector<std::string> reasons;
  if (report == nullptr) {
    reasons.push_back("\"" + run.gpu.reported +
                      "\" is not in the catalog: nothing to compare with");
    return reasons;
  }
  const std::size_t functions = report->differing_functions();
  if (functions > 0) {
    reasons.push_back(how_many(functions, "function differs", "functions differ") +
                      " in residency, registers or shared bytes");
  }
  const std::size_t wrong = wrong_results + report->wrong_results;
  if (wrong > 0) reasons.push_back(how_many(wrong, "wrong result", "wrong results"));
  for (const RunFamilyScore& family : report->times.families) {
    if (!family.fitted || family.errors.rows < kJudgedReadings) continue;
    if (family.errors.median_error > tolerance.median_error ||
        family.errors.p90_error > tolerance.p90_error) {
      reasons.push_back(
          family.name + ": times are off by " + format_percent(family.errors.median_error) +
          " median, " + format_percent(family.errors.p90_error) + " p90; allowed " +
          format_percent(tolerance.median_error) + " and " + format_percent(tolerance.p90_error));
    }
  }
  return reasons;
}

std::vector<const PointReport*> worst_points(const RunReport& report, std::size_t count) {
  std::vector<const PointReport*> points;
  for (const PointReport& point : report.points) {
    if (point.point != nullptr) points.push_back(&point);
  }
  std::stable_sort(points.begin(), points.end(), [](const PointReport* a, const PointReport* b) {
    return a->error() > b->error();
  });
  points.resize(std::min(count, points.size()));
  return points;
}

}  // namespace smtwin
