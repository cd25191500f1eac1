// SPDX-License-Identifier: Apache-2.0
// Why a changed kernel is faster or slower: which work grew, which wait shrank, and which of the
// two decided. More resident warps shorten waits; if they also repeat work, the work can win.
#pragma once

#include <string>
#include <vector>

#include "model/kernel_time.hpp"

namespace smtwin {

struct BoundChange {
  Bound bound = Bound::launch;
  double before_s = 0;  // 0: no such work
  double after_s = 0;
};

struct TimeComparison {
  bool comparable = false;  // both run
  double time_ratio = 0;    // after / before
  Bound binding_before = Bound::launch;
  Bound binding_after = Bound::launch;
  std::vector<BoundChange> bounds;  // those that changed, largest difference first
  std::string sentence;             // all of it in one sentence, without a full stop
};

TimeComparison compare(const KernelTime& before, const KernelTime& after);

}  // namespace smtwin
