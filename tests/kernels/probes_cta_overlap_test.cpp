// SPDX-License-Identifier: Apache-2.0
// Counting resident CTAs from their traces.
#include "kernels/probes/cta_overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/catch.hpp"

namespace smtwin {
namespace {

CtaTrace ran(std::uint32_t sm, std::uint64_t start, std::uint64_t end) {
  return {.sm = sm, .written = 1, .start_clock = start, .end_clock = end};
}

TEST_CASE("nothing recorded is nothing resident", "[unit]") {
  CHECK(most_resident({}) == 0);
  const std::vector<CtaTrace> unwritten(5);
  CHECK(most_resident(unwritten) == 0);
}

TEST_CASE("overlaps count on one SM only", "[unit]") {
  // SM 7: [0,10) [5,15) [10,20): the third takes the place of the first, so never more than 2.
  // SM 3: two more at the same clock values. Clocks of different SMs say nothing about each other;
  // adding them up would give 4.
  const std::vector<CtaTrace> traces{ran(7, 0, 10), ran(3, 0, 100), ran(7, 5, 15), ran(7, 10, 20),
                                     ran(3, 50, 60)};
  CHECK(most_resident(traces) == 2);
}

TEST_CASE("the fullest SM decides", "[unit]") {
  // SM 0: 1 at a time. SM 1: [0,100) [10,20) [15,30): 3 from 15 to 20.
  const std::vector<CtaTrace> traces{ran(0, 0, 10), ran(0, 10, 20), ran(1, 0, 100), ran(1, 10, 20),
                                     ran(1, 15, 30)};
  CHECK(most_resident(traces) == 3);
}

TEST_CASE("a CTA that did not write its trace does not count", "[unit]") {
  std::vector<CtaTrace> traces{ran(0, 0, 10), ran(0, 1, 9), ran(0, 2, 8)};
  CHECK(most_resident(traces) == 3);
  traces[1].written = 0;
  CHECK(most_resident(traces) == 2);
}

TEST_CASE("the sweep equals counting at every start", "[property]") {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<CtaTrace> traces;
    const int count = static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t start = random() % 50;
      traces.push_back(
          ran(static_cast<std::uint32_t>(random() % 3), start, start + 1 + random() % 20));
    }
    std::ptrdiff_t expected = 0;
    for (const CtaTrace& at : traces) {
      const auto there = [&](const CtaTrace& other) {
        return other.sm == at.sm && other.start_clock <= at.start_clock &&
               at.start_clock < other.end_clock;
      };
      expected = std::max(expected, std::count_if(traces.begin(), traces.end(), there));
    }
    REQUIRE(most_resident(traces) == expected);
  }
}

}  // namespace
}  // namespace smtwin
