// SPDX-License-Identifier: Apache-2.0
// The loop of a CTA that copies its next tiles while it computes on this one, as our kernels do,
// and what the CTAs of the busiest SM do to each other.
//
//   load = latency of a tile's rows / tiles in flight + issue of its copies
//
//   step = |load, chain|_4
//     the copies of later tiles run meanwhile; one stage: load + chain, nothing does
//
//   round = | |n step, together m work|_4, memory |_4 + tiles / n       |_3 where rows are gathered
//     n steps of the longest CTA, m of the average one. work: seconds that a step keeps the units
//     of the SM (issue slots, shared memory, tensor cores) busy; the CTAs together on an SM hide
//     each other's chains until that binds. memory: the round's share of what DRAM and L2 take.
//     tiles: its part that brings tiles. The first one of each CTA comes while none has work
//
//   loop = sum over rounds of CTAs: full ones, and a last one with what is left
//
// The norm rounds the corner where two bounds meet: chains and copies of different CTAs drift
// against each other, so that neither hides fully behind the other.
#pragma once

#include <algorithm>

#include "model/families/own_kernels/launch_fill.hpp"
#include "model/timing/loop_time.hpp"
#include "model/timing/norms.hpp"

namespace smtwin {

struct PipelineStep {
  double latency_s = 0;        // of the rows of one step, nothing else in flight
  double issue_s = 0;          // of its copies, by the warps that copy
  double chain_s = 0;          // of the warps that compute
  double work_s = 0;           // of the SM
  double loads_in_flight = 0;  // while one computes; 0 = one stage
  double (*memory_norm)(double, double) = norm4;
};

struct LoopSteps {
  double longest = 0;  // steps of the CTA with the most
  double average = 0;
  double tile_share = 1;  // of the bytes of the memory: tiles of the steps, not sums or outputs
};

inline double step_seconds(const PipelineStep& step) {
  const double load = step.latency_s / std::max(step.loads_in_flight, 1.0) + step.issue_s;
  return step.loads_in_flight > 0 ? norm4(load, step.chain_s) : load + step.chain_s;
}

inline double round_seconds(const CtaRound& round, double all_ctas, const LoopSteps& steps,
                            const PipelineStep& step, double memory_s) {
  if (round.count == 0) return 0;
  const double chain = steps.longest * step_seconds(step);
  const double work = round.together * steps.average * step.work_s;
  const double all_s = memory_s * round.ctas / all_ctas;
  return round.count *
         (step.memory_norm(norm4(chain, work), all_s) + steps.tile_share * all_s / steps.longest);
}

// `memory_s`: DRAM and L2 for all CTAs together.
inline double loop_seconds(const LaunchFill& fill, const LoopSteps& steps, const PipelineStep& step,
                           double memory_s) {
  return round_seconds(fill.full, fill.ctas, steps, step, memory_s) +
         round_seconds(fill.tail, fill.ctas, steps, step, memory_s);
}

inline LoopTime loop_time(const LaunchFill& fill, double loop_s, double seconds) {
  LoopTime t;
  t.loop_s = loop_s;
  t.fixed_s = seconds - loop_s;
  t.warps = fill.warps_together() * fill.sm_count;
  t.fill = fill.rounds * fill.together * fill.sm_count / fill.ctas;
  t.work_s = loop_s * t.warps / t.fill;
  return t;
}

}  // namespace smtwin
