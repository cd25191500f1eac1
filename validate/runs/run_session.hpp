// SPDX-License-Identifier: Apache-2.0
// One run from the first probe to the last median: what every compiled function takes, probes, then
// shape by shape every variant checked against float64 and timed, the fastest few timed again until
// their order means something. Pure of CUDA and of clocks: both are handed in.
//
// A problem that does not fit the memory or a variant that does not fit the GPU is skipped and said
// so; an error after which the GPU no longer answers ends the run with what it has.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "validate/runs/measurer.hpp"
#include "validate/runs/run_journal.hpp"
#include "validate/runs/run_plan.hpp"

namespace smtwin {

struct SessionOptions {
  Effort effort = Effort::full;
  std::string only_kernel;  // empty: all
  std::uint64_t seed = 1;
  // Not journalled readings start before `deadline_s` of `clock`; 0 = the effort's time box.
  double deadline_s = 0;
  std::function<double()> clock;                          // seconds since the run started
  std::function<void(const std::string&)> progress = {};  // one line for stderr
};

double time_box(Effort effort);  // seconds

struct Skipped {
  std::string what;  // "dense_gemm k=8192/m=16/n=8192 block_m=16"
  std::string why;
};

struct SessionResult {
  RunFile run;
  std::vector<Skipped> skipped;  // what was not measured
  std::string stopped;           // why the GPU was given up; empty = it was not
  bool out_of_time = false;
  int checked_results = 0;  // comparisons with float64
  int wrong_results = 0;    // variants beyond kLargestRelativeError of run_progress.hpp
  bool complete() const { return stopped.empty() && !out_of_time; }
};

// `journal` may be null. Readings found in it are not taken again.
SessionResult run_session(Measurer& measurer, const SessionOptions& options, RunJournal* journal);

// Why readings are missing, as one line: those with one reason together.
std::string describe(const std::vector<Skipped>& skipped);

// For the journal of such a run.
std::string plan_name(const SessionOptions& options);

}  // namespace smtwin
