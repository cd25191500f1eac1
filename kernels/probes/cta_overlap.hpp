// SPDX-License-Identifier: Apache-2.0
// How many CTAs an SM really held at once, from what each CTA recorded: the residency that the
// occupancy model is checked against. On one SM, CTA i is there during [start_clock, end_clock);
// the answer is the largest number of such intervals over one instant, over all SMs.
// A CTA records its start after it was placed and its end before it leaves, so the count can fall
// short (CTAs too brief to meet, a grid too small to fill an SM) but never exceeds what fitted.
#pragma once

#include <span>

#include "kernels/cta_trace.hpp"

namespace smtwin {

// Entries that were not written (`written` = 0) do not count. 0 for none.
int most_resident(std::span<const CtaTrace> traces);

}  // namespace smtwin
