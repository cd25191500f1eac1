// SPDX-License-Identifier: Apache-2.0
// What the benchmark reads where a replayed graph's period lies on a grid (2.048 us on the machine
// with the RTX PRO 6000): phase + tick * ceil((T - phase) / tick), with steps rounded by the jitter
// of the replays that a reading averages. Instrument only, never part of a deployment. Whether the
// period is rounded up or to nearest cannot be told from rows: fixed times are known to one tick.
#pragma once

#include "model/families/attention/attention_shape.hpp"

namespace smtwin {

double replay_phase_s(AttentionFramework framework, double tick_s);

// As read.
double replay_reading_s(double seconds, double tick_s, double phase_s);
// The same with steps wide enough to have a slope everywhere: what a fit differentiates.
double smooth_replay_reading_s(double seconds, double tick_s, double phase_s);

}  // namespace smtwin
