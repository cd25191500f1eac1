// SPDX-License-Identifier: Apache-2.0
// Text of the equations that the model shows: base units become readable prefixes here.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace smtwin {

// Three significant digits and a prefix by powers of 1000: (1.597e12, "B/s") -> "1.60 TB/s".
std::string quantity_text(double value, std::string_view unit);

// A count with separators, "1,024"; at most two decimals, and none when it is whole.
std::string count_text(double value);

std::string concat(std::initializer_list<std::string_view> parts);

}  // namespace smtwin
