// SPDX-License-Identifier: Apache-2.0
// The models that ship with smtwin (data/models/*.json), and finding one by name or path.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model_spec.hpp"

namespace smtwin {

struct PublishedCounts {  // by the makers, to check ours against
  double total_parameters = 0;
  std::optional<double> active_parameters;  // of mixtures of experts
  std::string source;
};

// What a shipped file says about its model, besides the model itself.
struct ModelCard {
  std::string name;          // "deepseek-v4-flash"
  std::string display_name;  // "DeepSeek-V4-Flash"
  std::string source;        // the public checkpoint that the facts describe
  std::vector<std::string> aliases;
  PublishedCounts published;
};

// Canonical names of the shipped models, sorted.
std::vector<std::string> model_names();
// By name in any spelling. UsageError with the near names on a miss.
ModelCard find_model_card(const std::string& name);

// A model by shipped name ("deepseek-v4-flash", "DeepSeek V4 Flash",
// "deepseek-ai/DeepSeek-V4-Flash"), or by path: a config.json, the folder of a checkpoint, or a
// file like those in data/models. `overrides` are "field=value" settings of fields of the config,
// "num_hidden_layers=4"; a field that the model does not depend on is a UsageError. A miss lists
// the near names.
ModelSpec find_model(const std::string& name_or_path,
                     const std::vector<std::string>& overrides = {});

}  // namespace smtwin
