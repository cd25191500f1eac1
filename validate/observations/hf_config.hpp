// SPDX-License-Identifier: Apache-2.0
// A Hugging Face config.json (+ hf_quant_config.json) as a ModelSpec: per layer the weight
// matrices, their formats by the checkpoint's own quantization and ignore lists, and what attention
// keeps. Files are read as published; nested text_config too. A model_type, quantization or field
// value that is not modelled is a DataError that names it, never a guess.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model_spec.hpp"

namespace smtwin {

struct HfFiles {
  std::string config_text;
  std::string config_name;  // for messages and ModelSpec::file
  std::optional<std::string> quant_text;
  std::string quant_name;
  // Where the texts sit inside those files, "/config"; "" = they are whole files.
  std::string config_pointer = "";
  std::string quant_pointer = "";
  std::string model_name;              // "" = from config_name
  std::vector<std::string> overrides;  // "num_hidden_layers=4": fields of the config to replace
};
ModelSpec read_hf_config(const HfFiles& files);
ModelSpec read_hf_config(const std::string& json_text, const std::string& file_name,
                         const std::optional<std::string>& hf_quant_text = std::nullopt,
                         const std::string& quant_file_name = "");

// The files of a path: a config.json, a folder that holds one, or "NAME_config.json"; each with the
// hf_quant_config.json or "NAME_hf_quant_config.json" beside it, where there is one.
HfFiles find_hf_files(const std::string& path);
ModelSpec load_hf_model(const std::string& path);

// model_type values that are modelled, sorted.
std::vector<std::string> modelled_architectures();

// A whole file as text; DataError when it is missing, a folder, or too large for a description.
std::string read_description_file(const std::string& path);

}  // namespace smtwin
