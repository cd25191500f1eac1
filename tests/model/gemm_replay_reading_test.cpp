// SPDX-License-Identifier: Apache-2.0
// What the benchmark's clock makes of a time.
#include "model/families/gemm/replay_reading.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("a replay lasts whole ticks", "[unit]") {
  constexpr double kTick = 2.048e-6;
  // Half a tick is three times the jitter away from both edges: it is rounded up for certain.
  CHECK(ticked_seconds(3.5 * kTick, kTick) == Approx(4 * kTick).epsilon(1e-3));
  // On the edge half of the replays need one tick more.
  CHECK(ticked_seconds(3 * kTick, kTick) == Approx(3.5 * kTick).epsilon(1e-3));
  CHECK(ticked_seconds(3.7e-6, 0) == 3.7e-6);
}

TEST_CASE("the events around the replays add two ticks, shared by all operations", "[unit]") {
  // 6 operations of 0.9 us are 5.4 us, 2.64 ticks, rounded up to 3 = 6.144 us; two more ticks over
  // 6 replays: 0.6827 us; (6.144 + 0.6827) / 6 operations.
  const ReplayLoop loop{.ops_per_replay = 6, .replays = 6, .tick_s = 2.048e-6};
  CHECK(replayed_reading_s(0.9e-6, loop) == Approx(1.1378e-6).epsilon(0.01));
  CHECK(replayed_reading_s(1e-6, {.ops_per_replay = 6}) == Approx(1e-6));
}

TEST_CASE("ticks never run backwards", "[property]") {
  double before = 0;
  for (int i = 0; i < 400; ++i) {
    const double now = ticked_seconds(i * 0.05e-6, 2.048e-6);
    CHECK(now >= before);
    before = now;
  }
}

TEST_CASE("the host is the floor of rows without a graph", "[unit]") {
  // (3^4 + 4^4)^(1/4) = 337^(1/4) = 4.2846
  CHECK(host_timed_reading_s(3, 4) == Approx(4.2846).epsilon(1e-4));
  CHECK(host_timed_reading_s(1e-3, 1e-5) == Approx(1e-3));
}
