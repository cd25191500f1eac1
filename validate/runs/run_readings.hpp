// SPDX-License-Identifier: Apache-2.0
// Small things that are done with readings: several medians as one, parameters as text, a seed for
// every shape.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validate/runs/run_file.hpp"

namespace smtwin {

// The median of independent medians of one thing; percentiles and clocks likewise, samples added.
// Not empty.
TimeReading median_of(const std::vector<TimeReading>& medians);

std::string plain_text(const Parameters& parameters);  // "batch=64/heads=16"; "-" for none

// Another draw of inputs for every shape, the same in every run of a seed.
std::uint64_t draw_seed(const Parameters& shape, std::uint64_t seed);

}  // namespace smtwin
