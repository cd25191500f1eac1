// SPDX-License-Identifier: Apache-2.0
// Small things that are done with readings: several medians as one, parameters as text, a seed for
// every shape.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "validate/runs/run_file.hpp"

namespace smtwin {

// The median of independent medians of one thing; percentiles and clocks likewise, samples added.
// Not empty.
TimeReading median_of(const std::vector<TimeReading>& medians);

std::string plain_text(const Parameters& parameters);  // "batch=64/heads=16"; "-" for none

// Shape parameters that take several values in the readings of a kernel.
std::set<std::string> varying_shape_parameters(const RunFile& run, const std::string& kernel);

// Those of `names`, in the descriptor's order: "heads=16 topk=2048 batch=64".
std::string shape_text(const KernelDescriptor& kernel, const Parameters& shape,
                       const std::set<std::string>& names);

// The splits follow the kernel's own rule. A peer's script spells the outcome of its rule out.
bool follows_split_rule(const TimeReading& reading);

// Another draw of inputs for every shape, the same in every run of a seed.
std::uint64_t draw_seed(const Parameters& shape, std::uint64_t seed);

}  // namespace smtwin
