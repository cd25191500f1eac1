// SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#include "validate/csv_text.hpp"

#include <algorithm>
#include <cstddef>

namespace smtwin {
namespace {

constexpr std::size_t kLongestShown = 60;
constexpr std::size_t kMostNames = 40;

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// Bytes of the character that `text` begins with; 0 when it is not UTF-8.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead < 0xC2   ? 0
                            : lead < 0xE0 ? 2
                            : lead < 0xF0 ? 3
                            : lead < 0xF5 ? 4
                                          : 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_large = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : bytes;
}

std::string shown(std::string_view text) {
  std::string line;
  std::string_view rest = text.substr(0, kLongestShown);
  while (!rest.empty()) {
    const std::size_t bytes = character_bytes(rest);
    if (bytes == 0) {
      line += '?';
    } else {
      line += is_control(rest.front()) ? std::string_view(" ") : rest.substr(0, bytes);
    }
    rest.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return line + (text.size() > kLongestShown ? "..." : "");
}

}  // namespace

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0 || is_control(text.front())) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string quoted_cell(std::string_view cell) { return '"' + shown(cell) + '"'; }

std::string shown_list(const std::vector<std::string>& names) {
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    list += (i > 0 ? ", " : "") + shown(names[i]);
  }
  if (names.size() > kMostNames) {
    list += " and " + std::to_string(names.size() - kMostNames) + " more";
  }
  return list;
}

}  // namespace smtwin
