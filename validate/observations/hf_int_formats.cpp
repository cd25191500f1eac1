// SPDX-License-Identifier: Apache-2.0
// Integer weights with a scale per group of elements: what AWQ, GPTQ and AutoRound write.
// Bytes and math of these formats are the model's (model/model_spec.hpp); where a checkpoint
// differs from what they stand for, a note says by how much.
// Left out: zero points (half a byte a group) and act-order permutations.
#include <algorithm>
#include <sstream>

#include "validate/observations/hf_formats.hpp"
#include "validate/observations/hf_quantization.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kInt4Group = 128;  // what the bytes of int4 are counted with
constexpr double kScaleBytes = 2;         // fp16 or bf16

NumberFormat integer_format(const HfObject& q, bool eight_bits) {
  const std::int64_t bits = q.integer("bits", kQuantBits);
  if (bits == 4) return NumberFormat::int4;
  if (bits == 8 && eight_bits) return NumberFormat::int8;
  q.not_modelled("bits", eight_bits ? "4, 8" : "4");
}

std::string bytes_text(double bytes) {
  std::ostringstream out;
  out.precision(4);
  out << bytes;
  return out.str();
}

// AutoRound reads a key of extra_config as an expression when it has a character that only
// expressions have (a dot is no such character).
bool is_expression(const std::string& key) {
  return key.find_first_of("*+?^$()[]{}|\\") != std::string::npos;
}

}  // namespace

void HfQuantization::note_int_scales(NumberFormat format, const HfObject& where, bool weight_only) {
  if (format != NumberFormat::int4 && format != NumberFormat::int8) return;
  const std::int64_t counted = format == NumberFormat::int4 ? kInt4Group : 0;
  const bool channel = where.holds_text("strategy") && where.text("strategy") == "channel";
  const std::int64_t group = std::max<std::int64_t>(  // -1: a scale a channel
      0, where.integer_or("group_size", channel ? 0 : counted, kQuantGroup));
  if (group != counted) {
    const double plain = format == NumberFormat::int4 ? 0.5 : 1;
    const double bytes = plain + (group > 0 ? kScaleBytes / static_cast<double>(group) : 0);
    notes_.push_back(std::string(to_string(format)) + " weights are counted at " +
                     bytes_text(bytes_per_element(format)) +
                     " B an element; this checkpoint, with a scale per " +
                     (group > 0 ? std::to_string(group) + " elements" : "channel") + ", takes " +
                     bytes_text(bytes));
  }
  if (format == NumberFormat::int8 && weight_only) {
    notes_.push_back(
        "int8 weights are counted as multiplied by int8 activations; this checkpoint keeps "
        "activations in 16 bits");
  }
}

void HfQuantization::read_gptq(const HfObject& q) {
  const NumberFormat format = integer_format(q, q.text("quant_method") == "gptq");
  note_int_scales(format, q, true);
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
  note_int_scales(format, q, true);
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
