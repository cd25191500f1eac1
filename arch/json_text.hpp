// SPDX-License-Identifier: Apache-2.0
// Pieces of JSON as text, for writers and for messages that quote a file. Whatever comes in, what
// goes out is one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace smtwin {

std::string json_quoted(const std::string& text);       // with quotes and escapes
std::string json_pointer_part(const std::string& key);  // "/key", with "~" and "/" escaped

// Where a byte of a text is, as editors count: "line 3, column 7 (byte 41)".
std::string text_position(std::string_view text, std::size_t byte);

}  // namespace smtwin
