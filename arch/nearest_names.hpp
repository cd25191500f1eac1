// SPDX-License-Identifier: Apache-2.0
// "Did you mean": which known names resemble one that was typed. Two measures add up: the words
// that both have ("rtx6000" and "rtx-pro-6000-server" share rtx and 6000), and 1 - edits/length.
// A word with a digit counts double, because a model number says more than a family name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smtwin {

// 0 (nothing in common) to 2 (the same).
double name_similarity(std::string_view a, std::string_view b);

// The names closest to `wanted`, best first, without those much worse than the best; may be empty.
std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& names,
                                       std::size_t at_most = 4);

// "a, b, c"
std::string comma_list(const std::vector<std::string>& names);

}  // namespace smtwin
