// SPDX-License-Identifier: Apache-2.0
#include "arch/provenance.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace smtwin {
namespace {
// Strongest first: the order is what weaker() compares.
constexpr std::array<std::pair<Provenance, std::string_view>, 9> kNames{{
    {Provenance::datasheet, "datasheet"},
    {Provenance::compiled, "compiled"},
    {Provenance::measured, "measured"},
    {Provenance::fitted, "fitted"},
    {Provenance::transferred, "transferred"},
    {Provenance::extrapolated, "extrapolated"},
    {Provenance::assumed, "assumed"},
    {Provenance::overridden, "override"},
    {Provenance::unknown, "unknown"},
}};
}  // namespace

std::string_view to_string(Provenance p) {
  for (const auto& [value, name] : kNames) {
    if (value == p) return name;
  }
  return "unknown";
}

std::optional<Provenance> provenance_from_string(std::string_view s) {
  for (const auto& [value, name] : kNames) {
    if (name == s) return value;
  }
  return std::nullopt;
}

Provenance weaker(Provenance a, Provenance b) { return std::max(a, b); }

}  // namespace smtwin
