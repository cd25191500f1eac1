// SPDX-License-Identifier: Apache-2.0
// "Did you mean": the nearest names come first, and nothing is offered that is not near.
#include "arch/nearest_names.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("similarity", "[unit]") {
  CHECK(name_similarity("h200-sxm", "h200-sxm") == Approx(2));
  CHECK(name_similarity("H200_SXM", "h200-sxm") == Approx(2));
  CHECK(name_similarity("", "h200-sxm") == 0);
  CHECK(name_similarity("", "") == 0);
  // Shared words rtx (1) and 6000 (2) of rtx, 6000, pro, server (1+2+1+1): 3/5. Nine insertions
  // (pro, server) in sixteen letters: 1 - 9/16.
  CHECK(name_similarity("rtx6000", "rtx-pro-6000-server") == Approx(3.0 / 5 + 1 - 9.0 / 16));
  CHECK(name_similarity("rtx6000", "rtx-pro-6000-server") > name_similarity("rtx6000", "rtx-5090"));
}

TEST_CASE("nearest names", "[unit]") {
  const std::vector<std::string> names{"gb10", "h100-sxm", "h200-sxm", "rtx-5090", "t4"};
  CHECK(nearest_names("rtx5080", names) == std::vector<std::string>{"rtx-5090"});
  CHECK(nearest_names("h200sxn", names, 1) == std::vector<std::string>{"h200-sxm"});
  CHECK(nearest_names("unrelated", names).empty());
  CHECK(nearest_names("h200", {}).empty());
  CHECK(comma_list({"a", "b"}) == "a, b");
  CHECK(comma_list({}).empty());
}
