// SPDX-License-Identifier: Apache-2.0
// The answer of `smtwin predict`: the time of one kernel with every bound and the binding one.
#pragma once

#include <iosfwd>
#include <string>

#include "cli/kernel_run.hpp"
#include "cli/verb.hpp"

namespace smtwin {

struct PredictAnswer {
  const KernelDescriptor* kernel = nullptr;
  GpuChoice gpu;
  KernelOptions options;
  KernelRun run;
};

void print_predict(std::ostream& out, const PredictAnswer& answer, bool explain);
std::string predict_json(const PredictAnswer& answer);
// One row a bound.
void write_predict_csv(std::ostream& out, const PredictAnswer& answer);

}  // namespace smtwin
