// SPDX-License-Identifier: Apache-2.0
// Where a number comes from. Every number of a data file has one, and every number shown to a
// user can be followed back to one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace smtwin {

enum class Provenance {
  datasheet,     // a vendor document or header
  compiled,      // read from what a compiler produced
  measured,      // timed or counted on silicon
  fitted,        // a constant adjusted to measurements
  transferred,   // fitted on another GPU and scaled by specification
  extrapolated,  // a formula used outside the points that support it
  assumed,       // a stated guess
  overridden,    // set by the user for this run
  unknown        // nobody knows; the value is null
};

std::string_view to_string(Provenance p);  // "override" for overridden
std::optional<Provenance> provenance_from_string(std::string_view s);

// Of two inputs to one result, the weaker one: a time computed from a datasheet clock and an
// assumed latency is assumed.
Provenance weaker(Provenance a, Provenance b);

struct Source {
  Provenance provenance = Provenance::unknown;
  std::string source;  // document, tool or arithmetic, in words
  std::string note;    // doubts and disagreements; may be empty
};

}  // namespace smtwin
