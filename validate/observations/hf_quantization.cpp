// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_quantization.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "validate/observations/hf_formats.hpp"

namespace smtwin {
void HfQuantization::add_pattern(HfModulePatterns& list, const HfObject& where,
                                 const std::string& key, const std::string& pattern) const {
  if (!list.add(pattern)) {
    where.fail(key, "\"" + pattern.substr(0, 60) +
                        "\" is not a regular expression that can be matched quickly; allowed: "
                        "names, names with *, re: and an expression of up to 256 characters "
                        "without back-references");
  }
}

void HfQuantization::add_everything(NumberFormat format) {
  Rule rule;
  rule.everything = true;
  rule.format = format;
  rules_.push_back(std::move(rule));
}

HfQuantization HfQuantization::read(const HfObject& root, const HfObject& config,
                                    const std::optional<HfObject>& quant_file, NumberFormat base) {
  HfQuantization result(base);
  auto q = root.optional_object("quantization_config");
  if (!q) q = config.optional_object("quantization_config");
  result.read_expert_dtype(config);
  if (q) result.read_quantization_config(*q);
  if (quant_file) {
    const HfObject file = quant_file->object("quantization");
    if (q) {
      result.read_kv_cache(file);
      result.notes_.push_back("formats are those of config.json /quantization_config; " +
                              quant_file->file_name() + " was read for the KV cache alone");
    } else {
      result.read_modelopt(file);
    }
  }
  return result;
}

void HfQuantization::read_expert_dtype(const HfObject& config) {
  const auto dtype = config.optional_text("expert_dtype");
  if (!dtype || *dtype == "fp8") return;
  if (*dtype != "fp4") config.not_modelled("expert_dtype", "\"fp4\", \"fp8\", null");
  Rule rule;
  rule.experts_only = true;
  rule.format = NumberFormat::mxfp4;
  rules_.push_back(std::move(rule));
}

void HfQuantization::read_quantization_config(const HfObject& q) {
  const std::string method = q.text("quant_method");
  if (method == "fp8") {
    read_fp8(q);
  } else if (method == "fbgemm_fp8") {  // a scale per row of the weight and per token
    add_everything(NumberFormat::fp8);
    read_ignored(q);
  } else if (method == "mxfp4") {
    Rule rule;  // engines quantize the experts alone, whatever the list says
    rule.experts_only = true;
    rule.format = NumberFormat::mxfp4;
    rules_.push_back(std::move(rule));
    read_ignored(q);
  } else if (method == "compressed-tensors") {
    read_groups(q);
    read_ignored(q);
    read_kv_cache(q);
  } else if (method == "modelopt" || method == "modelopt_fp4") {
    if (q.has("quant_algo")) {
      read_modelopt(q);
    } else {
      read_groups(q);
      read_ignored(q);
      read_kv_cache(q);
    }
  } else if (method == "awq" || method == "gptq") {
    read_gptq(q);
  } else if (method == "auto-round") {
    read_auto_round(q);
  } else {
    q.not_modelled("quant_method",
                   "fp8, fbgemm_fp8, mxfp4, compressed-tensors, modelopt, awq, gptq, auto-round");
  }
}

void HfQuantization::read_fp8(const HfObject& q) {
  NumberFormat format = NumberFormat::fp8;
  if (q.has("weight_block_size")) {
    require_fp8_block(q, "weight_block_size");
    format = NumberFormat::fp8_block;
  }
  // A mixed checkpoint quantizes some layers further; its list says what that left alone, which is
  // in fp8 as before.
  if (q.has("quantized_layers")) {
    read_quantized_layers(q);
    ignored_format_ = format;
  }
  add_everything(format);
  read_ignored(q);
  read_kv_cache(q);
}

void HfQuantization::read_groups(const HfObject& q) {
  const HfObject groups = q.object("config_groups");
  std::optional<NumberFormat> everything;
  for (const std::string& name : groups.keys()) {
    const HfObject group = groups.object(name);
    const auto format = group_format(group);
    if (!format) continue;
    read_int_scales(*format, group.object("weights"), !group.has("input_activations"));
    Rule rule;
    rule.format = *format;
    const auto targets = group.optional_texts("targets");
    if (!targets) group.fail("targets", "missing; needed: a list of texts such as \"Linear\"");
    for (const std::string& target : *targets) {
      const bool class_name = target.find_first_of(".:*") == std::string::npos && !target.empty() &&
                              target.front() >= 'A' && target.front() <= 'Z';
      if (target == "Linear") {
        everything = *format;
      } else if (class_name) {
        group.fail("targets", "class \"" + target + "\" is not modelled; modelled: \"Linear\", " +
                                  "module names, \"re:\" expressions");
      } else {
        add_pattern(rule.modules, group, "targets", target);
      }
    }
    if (!rule.modules.empty()) rules_.push_back(std::move(rule));
  }
  if (everything) add_everything(*everything);  // names count before classes
}

void HfQuantization::read_modelopt(const HfObject& q) {
  const auto format = modelopt_format(q, "quant_algo");
  const bool mixed = q.optional_text("quant_algo") == "MIXED_PRECISION";
  if (mixed || q.has("quantized_layers")) read_quantized_layers(q);
  if (format) add_everything(*format);
  read_ignored(q);
  read_kv_cache(q);
}

void HfQuantization::read_quantized_layers(const HfObject& q) {
  const HfObject layers = q.object("quantized_layers");
  std::map<NumberFormat, Rule> by_format;
  for (const std::string& module : layers.keys()) {
    const auto format = modelopt_format(layers.object(module), "quant_algo");
    if (!format) continue;
    Rule& rule = by_format[*format];
    rule.format = *format;
    add_pattern(rule.modules, q, "quantized_layers", module);
  }
  std::vector<Rule> first;
  for (auto& [format, rule] : by_format) first.push_back(std::move(rule));
  std::move(rules_.begin(), rules_.end(), std::back_inserter(first));
  rules_ = std::move(first);
}

void HfQuantization::read_ignored(const HfObject& q) {
  for (const char* key :
       {"modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules"}) {
    const auto patterns = q.optional_texts(key);
    if (!patterns) continue;
    for (const std::string& pattern : *patterns) add_pattern(ignored_, q, key, pattern);
  }
}

void HfQuantization::read_kv_cache(const HfObject& q) {
  if (const auto format = kv_cache_format(q)) kv_format_ = *format;
}

std::size_t HfQuantization::tried_entries() const {
  std::size_t entries = ignored_.tried_entries();
  for (const Rule& rule : rules_) entries += rule.modules.tried_entries();
  return entries;
}

NumberFormat HfQuantization::format_of(const std::vector<std::string>& names, bool expert) const {
  const auto listed = [&](const HfModulePatterns& list) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return list.matches(name); });
  };
  if (rules_.empty()) return base_;
  if (!ignored_.empty() && listed(ignored_)) return ignored_format_;
  for (const Rule& rule : rules_) {
    if (rule.experts_only ? expert : rule.everything || listed(rule.modules)) return rule.format;
  }
  return base_;
}

}  // namespace smtwin
