// SPDX-License-Identifier: Apache-2.0
// Integer weights with a scale per group of elements: what AWQ, GPTQ and AutoRound write.
// Bytes and math of these formats are the model's (model/model_spec.hpp); a checkpoint with other
// groups hands its group size to each matrix.
// Left out: zero points (half a byte a group) and act-order permutations.
#include <algorithm>

#include "validate/observations/hf_formats.hpp"
#include "validate/observations/hf_quantization.hpp"

namespace smtwin {
namespace {

NumberFormat integer_format(const HfObject& q, bool eight_bits) {
  const std::int64_t bits = q.integer("bits", kQuantBits);
  if (bits == 4) return NumberFormat::int4;
  if (bits == 8 && eight_bits) return NumberFormat::int8;
  q.not_modelled("bits", eight_bits ? "4, 8" : "4");
}

// AutoRound reads a key of extra_config as an expression when it has a character that only
// expressions have (a dot is no such character).
bool is_expression(const std::string& key) {
  return key.find_first_of("*+?^$()[]{}|\\") != std::string::npos;
}

}  // namespace

void HfQuantization::read_int_scales(NumberFormat format, const HfObject& where, bool weight_only) {
  if (format != NumberFormat::int4 && format != NumberFormat::int8) return;
  const std::int64_t usual = format == NumberFormat::int4 ? scale_block(format).in : 0;
  const bool channel = where.holds_text("strategy") && where.text("strategy") == "channel";
  const std::int64_t group = std::max<std::int64_t>(  // -1: a scale a channel
      0, where.integer_or("group_size", channel ? 0 : usual, kQuantGroup));
  if (group != usual) integer_scale_group_ = group;
  if (format == NumberFormat::int8 && weight_only) {
    notes_.push_back(
        "int8 weights are counted as multiplied by int8 activations; this checkpoint keeps "
        "activations in 16 bits");
  }
}

void HfQuantization::read_gptq(const HfObject& q) {
  const NumberFormat format = integer_format(q, q.text("quant_method") == "gptq");
  read_int_scales(format, q, true);
  if (q.boolean_or("lm_head", false)) q.not_modelled("lm_head", "false");
  add_everything(format);
  read_ignored(q);
  if (const auto dynamic = q.optional_object("dynamic")) {
    for (const std::string& key : dynamic->keys()) {
      if (key.rfind("-:", 0) != 0) {
        q.fail("dynamic", "per-module settings are not modelled; modelled: exclusions \"-:...\"");
      }
      add_pattern(ignored_, q, "dynamic", "re:" + key.substr(2));
    }
  }
}

void HfQuantization::read_auto_round(const HfObject& q) {
  const std::string type = q.optional_text("data_type").value_or("int");
  if (type != "int") q.not_modelled("data_type", "\"int\"");
  const NumberFormat format = integer_format(q, true);
  read_int_scales(format, q, true);
  add_everything(format);
  const auto extra = q.optional_object("extra_config");
  if (!extra) return;
  for (const std::string& key : extra->keys()) {
    const HfObject entry = extra->object(key);
    const std::int64_t bits = entry.integer_or("bits", q.integer("bits", kQuantBits), kQuantBits);
    if (bits < 16) {
      if (bits == q.integer("bits", kQuantBits)) continue;
      entry.not_modelled("bits", "16 and more (left as it was), or the bits of the whole");
    }
    const std::string from_anywhere = key.rfind('^', 0) == 0 ? key : ".*" + key;
    add_pattern(ignored_, q, "extra_config", is_expression(key) ? "re:" + from_anywhere : key);
  }
}

}  // namespace smtwin
