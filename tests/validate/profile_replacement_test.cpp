// SPDX-License-Identifier: Apache-2.0
// When a new calibration is worse than the one it would replace.
#include "validate/runs/profile_replacement.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

namespace {

struct Figures {
  double median = 0.03;
  double p90 = 0.10;
  std::int64_t shapes = 40;
};

CalibrationProfile profile(const std::string& kernel, const Figures& figures) {
  CalibrationProfile p;
  p.gpu = "h200-sxm";
  FamilyCalibration family;
  family.identity.table = "run";
  family.identity.kernel_source = kernel;
  family.unseen.median_error = figures.median;
  family.unseen.p90_error = figures.p90;
  family.unseen.shapes = figures.shapes;
  p.families = {family};
  return p;
}

std::size_t lost(const Figures& fresh, const Figures& old = {}) {
  return losses(profile("k", fresh), profile("k", old)).size();
}

}  // namespace

TEST_CASE("a family may get a little worse, not more", "[unit]") {
  CHECK(lost({}) == 0);
  // 3 % x 1.1 + 0.3 points = 3.6 %; 10 % x 1.1 + 1 point = 12 %.
  CHECK(lost({.median = 0.0359}) == 0);
  CHECK(lost({.median = 0.0361}) == 1);
  CHECK(lost({.p90 = 0.1199}) == 0);
  CHECK(lost({.p90 = 0.1201}) == 1);
  CHECK(lost({.median = 0.001, .p90 = 0.01, .shapes = 20}) == 0);
  CHECK(lost({.median = 0.001, .p90 = 0.01, .shapes = 19}) == 1);  // less than half of 40
}

TEST_CASE("families that one of them lacks do not count, another GPU does", "[unit]") {
  CHECK(losses(profile("a", {.median = 1}), profile("b", {})).empty());
  CalibrationProfile other = profile("k", {});
  other.gpu = "h100-sxm";
  const auto found = losses(profile("k", {}), other);
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "it is of h100-sxm, the new one of h200-sxm");
}
