// SPDX-License-Identifier: Apache-2.0
#include "arch/provenance.hpp"

#include <array>

#include "tests/catch.hpp"

using namespace smtwin;

namespace {
// Strongest first.
constexpr std::array kOrder{
    Provenance::datasheet, Provenance::compiled,    Provenance::measured,
    Provenance::fitted,    Provenance::transferred, Provenance::extrapolated,
    Provenance::assumed,   Provenance::overridden,  Provenance::unknown};
}  // namespace

TEST_CASE("names go both ways", "[unit]") {
  for (const Provenance p : kOrder) CHECK(provenance_from_string(to_string(p)) == p);
  CHECK(to_string(Provenance::overridden) == "override");
  for (const char* other : {"", "Datasheet", "overridden", "guess"}) {
    CHECK_FALSE(provenance_from_string(other).has_value());
  }
}

TEST_CASE("of two sources the weaker counts", "[property]") {
  for (std::size_t a = 0; a < kOrder.size(); ++a) {
    for (std::size_t b = 0; b < kOrder.size(); ++b) {
      CHECK(weaker(kOrder[a], kOrder[b]) == kOrder[std::max(a, b)]);
    }
  }
}
