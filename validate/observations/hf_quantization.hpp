// SPDX-License-Identifier: Apache-2.0
// In which format does a checkpoint store a module? Reads what quantizers write:
//   config.json /quantization_config: fp8 (block or tensor scales), fbgemm_fp8, mxfp4,
//     compressed-tensors config_groups, modelopt (FP8, NVFP4, mixed), awq with 4 bits, gptq and
//     auto-round with 4 or 8;
//   config.json /expert_dtype: "fp4" (DeepSeek-V4: MXFP4, a UE8M0 scale per 32 elements);
//   hf_quant_config.json (modelopt), used where config.json has no quantization_config;
// and honours their ignore lists. Whatever else is named is refused: a wrong guess of the format is
// a wrong answer about memory and time.
// Not decided here: embeddings, lm_head, routers and the like, which engines never quantize.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/model_spec.hpp"
#include "validate/observations/hf_json.hpp"
#include "validate/observations/hf_pattern.hpp"

namespace smtwin {

class HfQuantization {
 public:
  // `base`: format of what is not quantized.
  explicit HfQuantization(NumberFormat base)
      : base_(base), ignored_format_(base), kv_format_(base) {}

  // `root` is the whole config.json, `config` the part that describes the language model (the same,
  // or its text_config), `quant_file` the hf_quant_config.json.
  static HfQuantization read(const HfObject& root, const HfObject& config,
                             const std::optional<HfObject>& quant_file, NumberFormat base);

  // `names`: spellings of the module's full name, any of which a list may use.
  NumberFormat format_of(const std::vector<std::string>& names, bool expert) const;
  NumberFormat base() const { return base_; }
  std::size_t tried_entries() const;  // of all lists, that each module is matched with one by one
  // Elements that share a scale in int4 and int8 matrices, where not what the formats stand for.
  std::optional<std::int64_t> integer_scale_group() const { return integer_scale_group_; }
  NumberFormat kv_format() const { return kv_format_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Rule {
    HfModulePatterns modules;
    bool everything = false;  // all linear modules
    bool experts_only = false;
    NumberFormat format = NumberFormat::bf16;
  };

  void read_quantization_config(const HfObject& q);
  void read_fp8(const HfObject& q);
  void read_groups(const HfObject& q);
  void read_modelopt(const HfObject& q);
  void read_gptq(const HfObject& q);
  void read_auto_round(const HfObject& q);
  void read_int_scales(NumberFormat format, const HfObject& where, bool weight_only);
  void read_quantized_layers(const HfObject& q);
  void read_ignored(const HfObject& q);
  void read_kv_cache(const HfObject& q);
  void read_expert_dtype(const HfObject& config);
  void add_everything(NumberFormat format);
  void add_pattern(HfModulePatterns& list, const HfObject& where, const std::string& key,
                   const std::string& pattern) const;

  NumberFormat base_;
  std::vector<Rule> rules_;  // the first that applies decides
  HfModulePatterns ignored_;
  NumberFormat ignored_format_;
  NumberFormat kv_format_;
  std::optional<std::int64_t> integer_scale_group_;
  std::vector<std::string> notes_;
};

}  // namespace smtwin
