// SPDX-License-Identifier: Apache-2.0
// What the benchmark reads where a replayed graph's period lies on a grid (2.048 us on the machine
// with the RTX PRO 6000): phase + tick * ceil((T - phase) / tick). The ceil is smoothed, because
// replays jitter and because the fit needs a slope. Instrument only, never part of a deployment.
#pragma once

#include "model/families/attention/attention_shape.hpp"

namespace smtwin {

// `width`: of the smoothed step, in ticks.
double replay_reading_s(double seconds, double tick_s, double phase_s, double width);
double replay_phase_s(AttentionFramework framework, double tick_s);

}  // namespace smtwin
