// SPDX-License-Identifier: Apache-2.0
// Views of the scores that `smtwin validate` computes.
#pragma once

#include <iosfwd>
#include <string>

#include "validate/compiled_table.hpp"
#include "validate/occupancy_table.hpp"

namespace smtwin {

void print_occupancy_score(std::ostream& out, const OccupancyScore& score,
                           const std::string& gpu_name);
std::string occupancy_score_json(const OccupancyScore& score);
void write_occupancy_score_csv(std::ostream& out, const OccupancyScore& score);

void print_compiled_score(std::ostream& out, const CompiledScore& score);
std::string compiled_score_json(const CompiledScore& score);
void write_compiled_score_csv(std::ostream& out, const CompiledScore& score);

}  // namespace smtwin
