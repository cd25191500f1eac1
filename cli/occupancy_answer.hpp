// SPDX-License-Identifier: Apache-2.0
// The answer of `smtwin occupancy`, and its views. One struct, every format reads it.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "cli/next_steps.hpp"
#include "cli/plot.hpp"
#include "cli/report.hpp"
#include "cli/verb.hpp"
#include "kernels/descriptor.hpp"
#include "model/residency.hpp"

namespace smtwin {

struct OccupancyAnswer {
  GpuSpec gpu;
  std::vector<AppliedOverride> overrides;
  KernelResources kernel;
  std::optional<KernelInstance> instance;  // when a kernel and its config were named
  Residency residency;
  std::vector<NextStep> steps;
  std::vector<std::string> notes;
  Provenance provenance = Provenance::datasheet;  // weakest of the chip limits that were used
};

OccupancyAnswer answer_occupancy(const GpuChoice& choice, const KernelResources& kernel,
                                 std::optional<KernelInstance> instance,
                                 std::vector<std::string> notes);

void print_occupancy(std::ostream& out, const OccupancyAnswer& answer);
// The arithmetic, one line a step, as one would do it on paper.
void print_occupancy_arithmetic(std::ostream& out, const OccupancyAnswer& answer);
// Resident CTAs over shared memory and over registers, the present point marked.
void print_occupancy_plots(std::ostream& out, const OccupancyAnswer& answer, PlotStyle style);
std::string occupancy_json(const OccupancyAnswer& answer);
void write_occupancy_csv(std::ostream& out, const OccupancyAnswer& answer);

}  // namespace smtwin
