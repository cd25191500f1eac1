// SPDX-License-Identifier: Apache-2.0
// How long a decode step takes on one layout: every op timed on its kernel, the ops of each kind of
// layer scheduled as a graph, and
//   step = host + embedding + sum over kinds of count x layer + output
// Layers follow each other without overlap (each ends where its last op ends), so a kind is
// scheduled once and multiplied. Tokens/s per user = 1 / step; per GPU = batch / (step x tp).
// With a calibration the step has a 90 % interval. Ops timed by one family share its constants and
// so its error: their deviations add; those of different families are independent: their sums add
// in squares. Ops of the uncalibrated kernel model count as one family.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "model/op_kernel.hpp"
#include "model/step_graph.hpp"
#include "model/step_ops.hpp"

namespace smtwin {

struct OpTime {
  StepOp op;
  OpSeconds time;
  double start_s = 0;  // within its segment
  double end_s = 0;    // stretched where streams share the DRAM
  bool critical = false;
  double elapsed_s() const { return end_s - start_s; }
};

// Embedding, one kind of layer, or output.
struct SegmentTime {
  std::string name;    // "embedding", "mla + experts" (LayerOps::kind), "output"
  int count = 1;       // how often it runs in a step
  double seconds = 0;  // once
  double sum_s = 0;    // once, if nothing overlapped
  std::vector<OpTime> ops;
};

struct StepTime {
  double seconds = 0;
  double host_s = 0;
  double overlap_saved_s = 0;                   // hidden behind the critical path
  std::array<double, kOpGroupCount> group_s{};  // of the critical path, sums to `seconds`
  std::vector<SegmentTime> segments;
  std::int64_t batch = 0;
  std::int64_t captured_batch = 0;
  std::vector<std::string> not_run;  // ops for which no configuration fits the GPU
  double weight_bytes = 0;           // read in a step
  double kv_bytes = 0;
  Provenance provenance = Provenance::assumed;  // of the constants that timed most of it
  bool with_interval = false;
  TimeInterval interval;  // 90 %
  double fitted_s = 0;    // of the critical path, timed by fitted families
  double tokens_per_s_user() const { return 1 / seconds; }
  double tokens_per_s_gpu(int tp) const { return static_cast<double>(batch) / (seconds * tp); }
};

// One GPU's part of a step. `host_s` = time between steps that nothing hides. DataError when the
// GPU lacks a rate, or when tp has no collective (see collective_gap).
StepTime step_time(const StepOps& ops, const StepOptions& options, OpTimer& timer,
                   double host_s = 0);

// Shares of the step, largest first, groups without time left out.
struct GroupShare {
  OpGroup group = OpGroup::host;
  double seconds = 0;
  double share = 0;
};
std::vector<GroupShare> group_shares(const StepTime& step);

}  // namespace smtwin
