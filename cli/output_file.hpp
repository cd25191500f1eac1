// SPDX-License-Identifier: Apache-2.0
// -o FILE: a file that is complete or absent. The text goes to a temporary file beside the target,
// which then takes its name, so that a full disk or a kill leaves the old file as it was.
#pragma once

#include <string>

namespace smtwin {

// DataError when the file cannot be written. A device or pipe (/dev/stdout) is written directly.
void write_file_atomically(const std::string& path, const std::string& text);

}  // namespace smtwin
