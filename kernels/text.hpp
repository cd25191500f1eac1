// SPDX-License-Identifier: Apache-2.0
// Text that descriptors produce and read: numbers in worked formulas ("61,568"), names in any case.
#pragma once

#include <cstdint>
#include <string>

namespace smtwin {

// Digits in groups of three: 61568 -> "61,568".
std::string with_separators(std::int64_t value);

// Up to three significant digits, no exponent: 0.125 -> "0.125", 92.4 -> "92.4".
std::string short_number(double value);

std::string lower_case(std::string text);  // ASCII letters only

}  // namespace smtwin
