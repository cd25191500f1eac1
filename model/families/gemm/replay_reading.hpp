// SPDX-License-Identifier: Apache-2.0
// What a benchmark reports for an operation: the mean over replays of a CUDA graph that holds the
// operation `ops_per_replay` times, on a clock that ticks. A replay lasts whole ticks, and the two
// events around all replays add two ticks. Without a graph the host's launches are the floor.
// Deployment times never pass through here. Left out: drift, other work on the machine.
#pragma once

namespace smtwin {

struct ReplayLoop {
  double ops_per_replay = 1;
  double replays = 6;
  double tick_s = 0;  // 0: no grid seen
};

// The mean of `seconds` rounded up to the tick, when the start jitters by some 0.35 us.
double ticked_seconds(double seconds, double tick_s);

double replayed_reading_s(double op_s, const ReplayLoop& loop);

// (op^4 + host^4)^(1/4): the longer of the two, rounded where they meet.
double host_timed_reading_s(double op_s, double host_s);

}  // namespace smtwin
