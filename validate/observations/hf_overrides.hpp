// SPDX-License-Identifier: Apache-2.0
// "What if this model had 4 layers": settings of the user that replace fields of a config.json
// before it is read, so that everything that follows from a field follows.
#pragma once

#include <string>
#include <vector>

#include "validate/observations/hf_json.hpp"

namespace smtwin {

// The text with every "field=value" put in. The value is JSON, or a text where it is not; dots
// reach into nested objects; "model." in front is allowed; fields of a nested text_config or
// llm_config need no prefix. What was changed is appended to `applied`.
std::string patch_json(const std::string& text, const std::string& file_name,
                       const std::vector<std::string>& settings, std::vector<HfOverride>& applied);

// UsageError with the near names for a setting of a field that the reader never asked for: it would
// change nothing. Call when everything has been read from `root`.
void require_overrides_were_read(const HfObject& root, const std::vector<HfOverride>& overrides);

}  // namespace smtwin
