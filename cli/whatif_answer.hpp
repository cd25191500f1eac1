// SPDX-License-Identifier: Apache-2.0
// The answer of `smtwin whatif`: the same kernel under several settings, each computed in full,
// and why each differs from the first.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "cli/kernel_choice.hpp"
#include "cli/kernel_run.hpp"
#include "model/time_comparison.hpp"

namespace smtwin {

struct WhatifPoint {
  std::string label;  // "base", "num_warps=8", "h200-sxm, block_h=16"
  GpuChoice gpu;
  KernelRun run;
  TimeComparison against_base;  // not set for the first point
};

struct WhatifAnswer {
  const KernelDescriptor* kernel = nullptr;
  KernelOptions options;
  std::vector<WhatifPoint> points;  // the first is what the others are compared with
};

// Settings with one value change the second point together; settings with several values span one
// point each combination, the first of them the base, and the others then hold for all points.
WhatifAnswer answer_whatif(const KernelChoice& choice, const std::vector<std::string>& gpus,
                           const KernelOptions& options, const std::string& profile);

void print_whatif(std::ostream& out, const WhatifAnswer& answer);
std::string whatif_json(const WhatifAnswer& answer);
void write_whatif_csv(std::ostream& out, const WhatifAnswer& answer);

}  // namespace smtwin
