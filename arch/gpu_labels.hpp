// SPDX-License-Identifier: Apache-2.0
// The names a GPU file goes by, read from its head without the numbers behind it: a search over
// all files must not cost more than the answer it is for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smtwin {

// Name, display name and aliases, as far as the text is JSON; nothing is checked, load_gpu_spec()
// does that for the file that is chosen.
std::vector<std::string> read_gpu_labels(std::string_view json_text);

}  // namespace smtwin
