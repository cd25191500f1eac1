// SPDX-License-Identifier: Apache-2.0
// Cells as text: whether one is fit to be shown and kept, and how a message repeats one that may
// hold anything at all (line breaks, control characters, another encoding, a megabyte).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smtwin {

// Valid UTF-8 without control characters.
bool is_plain_text(std::string_view text);

// The cell in quotes, one line, its first 60 bytes: blanks for control characters and a question
// mark for each byte that is not UTF-8.
std::string quoted_cell(std::string_view cell);

// "a, b, c", shown the same way without quotes; of a long list the first 40.
std::string shown_list(const std::vector<std::string>& names);

}  // namespace smtwin
