// SPDX-License-Identifier: Apache-2.0
// The time of a kernel's loops over tiles, taken apart so that two configurations can be compared:
//
//   loop = work / warps x fill
//   work   warp-seconds of all CTAs: what the kernel makes its warps do and wait, repeats included
//   warps  resident at once on all SMs, those of the busiest one on each: what hides latency
//   fill   >= 1: rounds that are not full, SMs without a CTA
//
// The ratio of two loops is then the product of three ratios, and the difference of two times the
// sum of what each of them and the fixed part contributes (log-mean weights; exact). "More warps"
// pays when `warps` grows by more than `work` does: which of the two decides is the answer to why a
// configuration with more resident warps can be slower.
#pragma once

#include <string>

namespace smtwin {

struct LoopTime {
  double fixed_s = 0;  // launch, what CTAs do before and after their loops, kernels beside
  double loop_s = 0;
  double work_s = 0;
  double warps = 0;
  double fill = 1;
};

struct LoopChange {
  double work_s = 0;   // positive: the second does more work
  double warps_s = 0;  // negative: the second has more resident warps
  double fill_s = 0;
  double fixed_s = 0;
  double work_ratio = 1, warps_ratio = 1, fill_ratio = 1;  // second / first
  double total_s() const { return work_s + warps_s + fill_s + fixed_s; }
};
LoopChange loop_change(const LoopTime& first, const LoopTime& second);

// "the work of the warps decides: warp-seconds x 1.61 (+432 us), fixed cost (+535 ns)"
std::string describe(const LoopChange& change);

}  // namespace smtwin
