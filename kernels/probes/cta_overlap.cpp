// SPDX-License-Identifier: Apache-2.0
// Sweeps each SM's starts and ends in order of its clock; an end comes before a start of the same
// instant, as a CTA can take the place of one that left.
#include "kernels/probes/cta_overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace smtwin {

int most_resident(std::span<const CtaTrace> traces) {
  struct Change {
    std::uint32_t sm;
    std::uint64_t clock;
    int ctas;  // +1 arrives, -1 leaves
  };
  std::vector<Change> changes;
  changes.reserve(traces.size() * 2);
  for (const CtaTrace& trace : traces) {
    if (trace.written == 0 || trace.end_clock <= trace.start_clock) continue;
    changes.push_back({trace.sm, trace.start_clock, +1});
    changes.push_back({trace.sm, trace.end_clock, -1});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.sm, a.clock, a.ctas) < std::tie(b.sm, b.clock, b.ctas);
  });
  int most = 0;
  int resident = 0;  // back at 0 after each SM: every arrival has its leaving
  for (const Change& change : changes) {
    resident += change.ctas;
    most = std::max(most, resident);
  }
  return most;
}

}  // namespace smtwin
