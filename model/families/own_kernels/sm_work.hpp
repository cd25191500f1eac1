// SPDX-License-Identifier: Apache-2.0
// How long one pipeline step of one CTA keeps the units of its SM busy, from the descriptor's
// counts: each unit's amount over its rate.
#pragma once

#include "kernels/descriptor.hpp"
#include "model/families/own_kernels/launch_fill.hpp"
#include "model/timing/probed_gpu.hpp"

namespace smtwin {

struct SmWork {
  double issue_s = 0;
  double shared_s = 0;
  double tensor_s = 0;
  double sum_s() const { return issue_s + shared_s + tensor_s; }
};

// Of one step (the CTA's totals / its steps). `probed` says the rates of mma.sync and shared
// memory; a pipe that mma.sync does not reach takes the specification's.
SmWork sm_work(const GpuSpec& gpu, const KernelInstance& kernel, const LaunchFill& fill,
               const ProbedGpu& probed, bool warpgroup_multiply);

// A fact of an instance by its name; DataError when the descriptor does not state it.
double fact(const KernelInstance& kernel, const char* name);

}  // namespace smtwin
