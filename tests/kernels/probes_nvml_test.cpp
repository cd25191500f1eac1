// SPDX-License-Identifier: Apache-2.0
// NVML without NVML: readings stay unknown; which reasons for a lower clock throttle.
#include "kernels/probes/nvml.hpp"

#include "tests/catch.hpp"

namespace smtwin {
namespace {

TEST_CASE("without the library every reading is unknown", "[unit]") {
  const Nvml nvml("0000:01:00.0", "libno-such-management-library.so.9");
  CHECK_FALSE(nvml.available());
  CHECK(nvml.driver_version().empty());
  CHECK_FALSE(nvml.max_sm_clock_hz().has_value());
  CHECK_FALSE(nvml.max_memory_clock_hz().has_value());
  const NvmlReading reading = nvml.read();
  CHECK_FALSE(reading.sm_clock_hz.has_value());
  CHECK_FALSE(reading.memory_clock_hz.has_value());
  CHECK_FALSE(reading.power_w.has_value());
  CHECK_FALSE(reading.power_limit_w.has_value());
  CHECK_FALSE(reading.temperature_c.has_value());
  CHECK_FALSE(reading.clock_events.has_value());
}

TEST_CASE("a library that is not NVML is as good as none", "[unit]") {
  const Nvml nvml("0000:01:00.0", "libm.so.6");
  CHECK_FALSE(nvml.available());
  CHECK_FALSE(nvml.read().power_w.has_value());
}

TEST_CASE("power, heat and the power brake throttle; idling does not", "[unit]") {
  CHECK_FALSE(is_throttled(0));
  CHECK_FALSE(is_throttled(0x1 | 0x2 | 0x100));  // idle, application clocks, display clocks
  for (const std::uint64_t bit : {0x4, 0x8, 0x20, 0x40, 0x80}) CHECK(is_throttled(0x1 | bit));
}

}  // namespace
}  // namespace smtwin
