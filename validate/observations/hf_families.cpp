// SPDX-License-Identifier: Apache-2.0
// Which reader knows a model_type.
#include <map>

#include "validate/observations/hf_builder.hpp"
#include "validate/observations/hf_config.hpp"

namespace smtwin {
namespace {

const std::map<std::string, HfFamilyReader>& readers() {
  static const std::map<std::string, HfFamilyReader> kReaders{
      {"llama", read_gqa_dense},
      {"mistral", read_gqa_dense},
      {"ministral3", read_gqa_dense},
      {"qwen2", read_gqa_dense},
      {"qwen2_vl", read_gqa_dense},
      {"qwen2_vl_text", read_gqa_dense},
      {"qwen2_5_vl", read_gqa_dense},
      {"qwen2_5_vl_text", read_gqa_dense},
      {"qwen3", read_gqa_dense},
      {"qwen3_vl_text", read_gqa_dense},
      {"phi3", read_gqa_dense},
      {"cohere", read_more_dense},
      {"cohere2", read_more_dense},
      {"exaone4", read_more_dense},
      {"gemma", read_more_dense},
      {"gemma2", read_more_dense},
      {"gemma3_text", read_more_dense},
      {"glm", read_more_dense},
      {"glm4", read_more_dense},
      {"glm4v_text", read_more_dense},
      {"granite", read_more_dense},
      {"olmo2", read_more_dense},
      {"olmo3", read_more_dense},
      {"seed_oss", read_more_dense},
      {"smollm3", read_more_dense},
      {"qwen2_moe", read_gqa_moe},
      {"qwen3_moe", read_gqa_moe},
      {"qwen3_vl_moe_text", read_gqa_moe},
      {"glm4_moe", read_gqa_moe},
      {"glm4v_moe_text", read_gqa_moe},
      {"dots1", read_gqa_moe},
      {"mixtral", read_mixtral},
      {"minimax_m2", read_mixtral},
      {"bailing_moe", read_bailing},
      {"bailing_moe_v2", read_bailing},
      {"ernie4_5", read_ernie},
      {"ernie4_5_moe", read_ernie},
      {"exaone_moe", read_exaone_moe},
      {"granitemoe", read_granite_moe},
      {"nemotron-nas", read_nemotron_nas},
      {"olmoe", read_olmoe},
      {"hunyuan_v1_moe", read_hunyuan},
      {"phimoe", read_phimoe},
      {"gpt_oss", read_gpt_oss},
      {"llama4_text", read_llama4},
      {"gemma4_text", read_gemma4},
      {"mimo_v2_flash", read_mimo},
      {"deepseek_v2", read_mla},
      {"deepseek_v3", read_mla},
      {"deepseek_v32", read_mla},
      {"kimi_k2", read_mla},
      {"glm4_moe_lite", read_mla},
      {"glm_moe_dsa", read_mla},
      {"deepseek_v4", read_dsv4},
      {"deepseek_ref", read_dsv4},
      {"qwen3_next", read_gated_delta},
      {"qwen3_5_text", read_gated_delta},
      {"qwen3_5_moe_text", read_gated_delta},
      {"nemotron_h", read_nemotron_h},
      {"granitemoehybrid", read_granite_hybrid},
  };
  return kReaders;
}

}  // namespace

HfFamilyReader find_family_reader(const std::string& model_type) {
  const auto found = readers().find(model_type);
  return found == readers().end() ? nullptr : found->second;
}

std::vector<std::string> modelled_architectures() {
  std::vector<std::string> names;
  for (const auto& [name, reader] : readers()) names.push_back(name);
  return names;
}

}  // namespace smtwin
