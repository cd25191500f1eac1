// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_config.hpp"

#include "arch/nearest_names.hpp"
#include "validate/observations/hf_builder.hpp"
#include "validate/observations/hf_overrides.hpp"

namespace smtwin {
namespace {

// The defaults of the families' classes in transformers, for files that do not say.
bool tied_by_default(const std::string& model_type) {
  for (const char* family : {"gemma", "cohere", "ernie4_5", "smollm3"}) {
    if (model_type.rfind(family, 0) == 0) return true;
  }
  return false;
}

// A field that multimodal files keep beside or inside text_config.
bool boolean_of_either(const HfModel& model, const char* key, bool fallback) {
  if (model.config.has(key)) return model.config.boolean_or(key, fallback);
  return model.root.boolean_or(key, fallback);
}

NumberFormat read_base_format(const HfObject& root, const HfObject& config,
                              std::vector<std::string>& notes) {
  std::optional<NumberFormat> format;
  for (const HfObject* where : {&config, &root}) {
    for (const char* key : {"dtype", "torch_dtype"}) {
      if (!format) format = read_dtype(*where, key);
    }
  }
  if (format == NumberFormat::fp32) {
    notes.push_back("the checkpoint is fp32; engines load it as bf16, and so it is counted");
    return NumberFormat::bf16;
  }
  return format.value_or(NumberFormat::bf16);
}

// "DeepSeek-R1" of "a/deepseek-ai--DeepSeek-R1_config.json", "x" of "x/config.json".
std::string name_from_path(const std::string& path) {
  const auto last_part = [](const std::string& text) {
    return text.substr(text.find_last_of("/\\") + 1);
  };
  std::string name = last_part(path);
  if (name == "config.json" && path.size() > name.size()) {
    name = last_part(path.substr(0, path.size() - name.size() - 1));
  }
  for (const std::string suffix : {".json", "_config"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      name.erase(name.size() - suffix.size());
    }
  }
  const std::size_t organization = name.find("--");
  return organization == std::string::npos ? name : name.substr(organization + 2);
}

std::int64_t read_mtp_layers(const HfObject& config) {
  for (const char* key : {"num_nextn_predict_layers", "mtp_num_hidden_layers"}) {
    if (config.has(key)) return config.integer(key, kSmallCount);
  }
  if (!config.boolean_or("use_mtp", false)) return 0;
  return config.integer_or("num_mtp_modules", 0, kSmallCount) *
         config.integer_or("mtp_transformer_layers", 1, kSmallCount);
}

void read_common(HfModel& model) {
  const HfObject& config = model.config;
  ModelSpec& spec = model.spec;
  model.layers = config.integer("num_hidden_layers", kLayerCount);
  // Real lists have a few hundred entries with '*' for less than a hundred layers.
  constexpr std::int64_t kMostMatches = 200'000;
  const auto entries = static_cast<std::int64_t>(model.quantization.tried_entries());
  if (entries * model.layers > kMostMatches) {
    config.fail("num_hidden_layers",
                std::to_string(model.layers) + " layers times " + std::to_string(entries) +
                    " list entries with * or re: are too many to match; allowed: a product of " +
                    std::to_string(kMostMatches));
  }
  spec.hidden = config.integer("hidden_size", kWidth);
  if (model.model_type == "gemma3_text") {  // files leave out what is the class's default
    spec.vocabulary = config.integer_or("vocab_size", 262'208, kWidth);
    spec.max_context = config.integer_or("max_position_embeddings", 131'072, kTokens);
  } else {
    spec.vocabulary = config.integer("vocab_size", kWidth);
    spec.max_context = config.integer("max_position_embeddings", kTokens);
  }
  spec.tied_embeddings =
      boolean_of_either(model, "tie_word_embeddings", tied_by_default(model.model_type));
  spec.activation_format = model.quantization.base();
  spec.kv_format = model.quantization.kv_format();
  spec.mtp_layers = read_mtp_layers(config);
  spec.vector_parameters = spec.hidden;  // the final norm
  spec.embedding = {.name = "embedding",
                    .module = "embed_tokens",
                    .out = spec.vocabulary,
                    .in = spec.hidden,
                    .format = model.quantization.base(),
                    .shard = Shard::vocabulary};
  spec.lm_head = spec.embedding;
  spec.lm_head.name = "lm_head";
  spec.lm_head.module = "lm_head";
  spec.lm_head.copies = spec.tied_embeddings ? 0 : 1;
}

std::string architecture_of(const HfObject& root, const std::string& model_type) {
  const auto names = root.optional_texts("architectures");
  return names && !names->empty() ? names->front() : model_type;
}

std::string read_model_type(const HfObject& root, const HfObject& config) {
  const HfObject& where = config.has("model_type") ? config : root;
  if (!where.has("model_type")) {
    root.fail("model_type", "missing; needed: one of " + comma_list(modelled_architectures()));
  }
  std::string type = where.text("model_type");
  if (find_family_reader(type) == nullptr) {
    where.not_modelled("model_type", comma_list(modelled_architectures()));
  }
  return type;
}

}  // namespace

ModelSpec read_hf_config(const HfFiles& files) {
  std::vector<HfOverride> overrides;
  const std::string text =
      patch_json(files.config_text, files.config_name, files.overrides, overrides);
  const HfObject root = HfObject::parse(text, files.config_name, overrides, files.config_pointer);
  std::optional<HfObject> part;
  for (const char* key : kNestedConfigs) {
    if (!part) part = root.optional_object(key);
  }
  const HfObject config = part.value_or(root);
  const std::string model_type = read_model_type(root, config);

  std::optional<HfObject> quant_file;
  if (files.quant_text) {
    quant_file = HfObject::parse(*files.quant_text, files.quant_name, {}, files.quant_pointer);
  }
  std::vector<std::string> notes;
  const NumberFormat base = read_base_format(root, config, notes);
  HfModel model{.root = root,
                .config = config,
                .quantization = HfQuantization::read(root, config, quant_file, base),
                .model_type = model_type,
                .spec = {}};
  model.router_format = base;
  if (part || root.has("vision_config")) {
    model.layer_prefixes = {"model.language_model.layers.", "language_model.model.layers.",
                            "model.layers."};
    notes.push_back("the language model alone is counted, without vision and audio towers");
  }
  for (const std::string& note : model.quantization.notes()) notes.push_back(note);
  for (const HfOverride& change : overrides) {
    notes.push_back("set by the user: " + change.field + ' ' + change.before + " -> " +
                    change.after);
  }
  model.spec.notes = notes;
  model.spec.name = files.model_name.empty() ? name_from_path(files.config_name) : files.model_name;
  model.spec.file = files.config_name;
  model.spec.architecture = architecture_of(root, model_type);
  read_common(model);
  find_family_reader(model_type)(model);
  require_overrides_were_read(root, overrides);
  if (model.spec.mtp_layers > 0) {
    model.note("layers for multi-token prediction are not counted (" +
               std::to_string(model.spec.mtp_layers) + " in the checkpoint)");
  }
  return model.spec;
}

ModelSpec read_hf_config(const std::string& json_text, const std::string& file_name,
                         const std::optional<std::string>& hf_quant_text,
                         const std::string& quant_file_name) {
  return read_hf_config(HfFiles{.config_text = json_text,
                                .config_name = file_name,
                                .quant_text = hf_quant_text,
                                .quant_name = quant_file_name,
                                .model_name = "",
                                .overrides = {}});
}

ModelSpec load_hf_model(const std::string& path) { return read_hf_config(find_hf_files(path)); }

}  // namespace smtwin
