// SPDX-License-Identifier: Apache-2.0
#include "model/step_graph.hpp"

#include <random>
#include <stdexcept>

#include "tests/catch.hpp"

namespace smtwin {
namespace {

GraphNode node(double seconds, std::vector<int> after = {}, double dram_share = 0) {
  return {.seconds = seconds, .dram_share = dram_share, .after = std::move(after)};
}

TEST_CASE("a chain is a sum") {
  const GraphTime t = schedule({node(1), node(2, {0}), node(3, {1})});
  CHECK(t.seconds == Approx(6));
  CHECK(t.longest_path_s == Approx(6));
  CHECK(t.sum_s == Approx(6));
  CHECK(t.critical_path == std::vector<int>{0, 1, 2});
}

TEST_CASE("streams overlap and join") {
  // 0 forks into 1 (5 s) and 2, 3 (2 + 1 s); 4 waits for both: 1 + 5 + 1 = 7, the sum is 10.
  const GraphTime t =
      schedule({node(1), node(5, {0}), node(2, {0}), node(1, {2}), node(1, {1, 3})});
  CHECK(t.seconds == Approx(7));
  CHECK(t.sum_s == Approx(10));
  CHECK(t.critical_path == std::vector<int>{0, 1, 4});
  CHECK(t.start_s[3] == Approx(3));
  CHECK(t.end_s[3] == Approx(4));
}

TEST_CASE("two streams cannot both have the whole DRAM") {
  // Both want all of it: 4 s and 2 s of memory time. Each runs at half speed until the short one
  // ends at 4 s; the long one has 2 s left: 6 s, not the 4 s of a free overlap.
  const GraphTime t = schedule({node(4, {}, 1), node(2, {}, 1)});
  CHECK(t.end_s[1] == Approx(4));
  CHECK(t.seconds == Approx(6));
  CHECK(t.longest_path_s == Approx(4));
  // Half of each is latency: together they want exactly one DRAM, so nothing stretches.
  CHECK(schedule({node(4, {}, 0.5), node(2, {}, 0.5)}).seconds == Approx(4));
  // 0.9 + 0.6 = 1.5 of it: the first runs at 1 / (0.1 + 0.9 x 1.5) = 1 / 1.45 and ends after
  // 1.45 s, the second at 1 / (0.4 + 0.6 x 1.5) = 1 / 1.3 has 2 - 1.45 / 1.3 s left.
  const GraphTime both = schedule({node(1, {}, 0.9), node(2, {}, 0.6)});
  CHECK(both.end_s[0] == Approx(1.45));
  CHECK(both.seconds == Approx(1.45 + 2 - 1.45 / 1.3));
}

TEST_CASE("an empty graph takes no time") {
  CHECK(schedule({}).seconds == 0);
  CHECK(schedule({}).critical_path.empty());
}

TEST_CASE("a circle is our own mistake") {
  CHECK_THROWS_AS(schedule({node(1, {1}), node(1, {0})}), std::logic_error);
  CHECK_THROWS_AS(schedule({node(1, {7})}), std::logic_error);
}

TEST_CASE("the schedule lies between the longest path and the sum", "[property]") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 200; ++round) {
    std::vector<GraphNode> nodes;
    for (int i = 0; i < 30; ++i) {
      std::vector<int> after;
      for (int j = 0; j < i; ++j) {
        if (unit(random) < 0.15) after.push_back(j);
      }
      nodes.push_back(node(unit(random), after, unit(random)));
    }
    const GraphTime t = schedule(nodes);
    CHECK(t.seconds >= t.longest_path_s * (1 - 1e-12));
    CHECK(t.seconds <= t.sum_s * (1 + 1e-12));
    // No idle time on the critical path: its stretched times add up to the whole.
    double along = 0;
    for (const int v : t.critical_path) {
      along += t.end_s[static_cast<std::size_t>(v)] - t.start_s[static_cast<std::size_t>(v)];
    }
    CHECK(along == Approx(t.seconds));
  }
}

}  // namespace
}  // namespace smtwin
