// SPDX-License-Identifier: Apache-2.0
// When and where one CTA ran, written by the kernel itself: how the residency model is checked on
// silicon. Counting how many [start, end) intervals of one SM overlap gives the CTAs that were
// resident at once. Clocks of different SMs are not comparable; nanoseconds are, but tick coarsely.
#pragma once

#include <cstdint>

namespace smtwin {

struct CtaTrace {
  std::uint32_t sm = 0;  // %smid
  std::uint32_t written = 0;
  std::uint64_t start_clock = 0;  // clock64 of that SM
  std::uint64_t end_clock = 0;
  std::uint64_t start_ns = 0;  // %globaltimer
  std::uint64_t end_ns = 0;
};

}  // namespace smtwin
