// SPDX-License-Identifier: Apache-2.0
// Catch2 2.13 or 3, whichever the distribution has, and the way a test says why it skips.
#pragma once

#ifdef SMTWIN_CATCH2_V3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <iostream>
#include <string>

namespace smtwin::test {

// Prints the reason; ctest marks the test as skipped when it sees the line. Return afterwards.
inline void skip(const std::string& reason) {
  std::cout << "smtwin-test-skipped: " << reason << '\n';
}

}  // namespace smtwin::test
