// SPDX-License-Identifier: Apache-2.0
#include "model/littles_law.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("the rate is bytes in flight over latency until the peak", "[unit]") {
  // 800 GB/s after 500 ns: the peak needs 400 kB under way. Half of that gives half of the peak.
  const MemoryPath dram{800e9, 500e-9};
  const auto seconds_of_1_mb = [&](double bytes_in_flight) {
    return transfer_time(dram, {1e6, 0}, bytes_in_flight).seconds;
  };
  CHECK(bytes_in_flight_for_peak(dram) == Approx(400e3));
  CHECK(seconds_of_1_mb(100e3) == Approx(1e6 / 200e9));
  CHECK(seconds_of_1_mb(200e3) == Approx(1e6 / 400e9));
  CHECK(seconds_of_1_mb(400e3) == Approx(1e6 / 800e9));
  CHECK(seconds_of_1_mb(800e3) == Approx(1e6 / 800e9));
}

TEST_CASE("writes take bandwidth but need nothing in flight", "[unit]") {
  const MemoryPath dram{800e9, 500e-9};
  // 1 MB read with 100 kB in flight: 1e6 x 500e-9 / 100e3 = 5 us, while (1 + 1) MB at the peak
  // take 2.5 us: the reads' latency hides the writes.
  const auto starved = transfer_time(dram, {1e6, 1e6}, 100e3);
  CHECK(starved.seconds == Approx(5e-6));
  CHECK(starved.starved);
  const auto fed = transfer_time(dram, {1e6, 1e6}, 400e3);
  CHECK(fed.seconds == Approx(2.5e-6));
  CHECK_FALSE(fed.starved);
  const auto only_written = transfer_time(dram, {0, 1e6}, 1);
  CHECK(only_written.seconds == Approx(1.25e-6));
  CHECK_FALSE(only_written.starved);
}
