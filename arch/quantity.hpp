// SPDX-License-Identifier: Apache-2.0
// Numbers as text, without loss: shortest digits that read back as the same number, and numbers
// typed with a unit ("228KiB", "1.6TB/s", "2430MHz") turned into base units.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace smtwin {

std::string number_text(double value);  // "102400", "1.792e+12", "0.9615"

// `text` in units of `unit` ("B", "B/s", "Hz", "s", "W"; other units take no suffix). KiB, MiB,
// GiB are powers of 1024; kB, MB, GB, TB of 1000; "K" and "KB" mean both to people and are refused.
// Empty when it is not such a number; `problem`, where given, then says why.
std::optional<double> parse_quantity(std::string_view text, std::string_view unit,
                                     std::string* problem = nullptr);

// What somebody who typed `text` for an integer probably meant: 65536 for "64K" or "65536".
std::optional<double> probable_number(std::string_view text);

}  // namespace smtwin
