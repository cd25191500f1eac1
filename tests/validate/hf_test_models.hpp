// SPDX-License-Identifier: Apache-2.0
// Small made-up configs for the tests of the model reader: real families, sizes to do by hand.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "arch/error.hpp"
#include "model/model_spec.hpp"
#include "tests/catch.hpp"
#include "validate/observations/hf_config.hpp"

namespace smtwin::test {

// Fields as JSON text by key; + replaces or adds.
using Fields = std::map<std::string, std::string>;

inline std::string json(const Fields& fields) {
  std::string text;
  for (const auto& [key, value] : fields) {
    text += (text.empty() ? "\"" : ", \"") + key + "\": " + value;
  }
  return '{' + text + '}';
}

inline Fields with(Fields fields, const Fields& changes) {
  for (const auto& [key, value] : changes) fields[key] = value;
  return fields;
}

inline Fields llama() {
  return {{"model_type", "\"llama\""},  {"hidden_size", "64"},
          {"num_hidden_layers", "2"},   {"num_attention_heads", "8"},
          {"num_key_value_heads", "2"}, {"intermediate_size", "160"},
          {"vocab_size", "1000"},       {"max_position_embeddings", "4096"}};
}

inline Fields qwen3_moe() {
  return with(llama(), {{"model_type", "\"qwen3_moe\""},
                        {"head_dim", "16"},
                        {"num_experts", "8"},
                        {"num_experts_per_tok", "2"},
                        {"moe_intermediate_size", "32"}});
}

inline Fields deepseek_v3() {
  return with(llama(), {{"model_type", "\"deepseek_v3\""},
                        {"q_lora_rank", "24"},
                        {"kv_lora_rank", "32"},
                        {"qk_nope_head_dim", "12"},
                        {"qk_rope_head_dim", "4"},
                        {"v_head_dim", "10"},
                        {"n_routed_experts", "8"},
                        {"num_experts_per_tok", "2"},
                        {"n_shared_experts", "1"},
                        {"moe_intermediate_size", "32"},
                        {"first_k_dense_replace", "1"}});
}

inline Fields deepseek_v4() {
  return {{"model_type", "\"deepseek_v4\""},
          {"hidden_size", "64"},
          {"num_hidden_layers", "3"},
          {"num_attention_heads", "8"},
          {"head_dim", "32"},
          {"qk_rope_head_dim", "8"},
          {"q_lora_rank", "24"},
          {"o_groups", "4"},
          {"o_lora_rank", "6"},
          {"sliding_window", "16"},
          {"hc_mult", "4"},
          {"hc_sinkhorn_iters", "20"},
          {"index_n_heads", "4"},
          {"index_head_dim", "16"},
          {"index_topk", "32"},
          {"compress_ratios", "[0, 4, 128, 0]"},
          {"num_hash_layers", "1"},
          {"n_routed_experts", "8"},
          {"num_experts_per_tok", "2"},
          {"n_shared_experts", "1"},
          {"moe_intermediate_size", "32"},
          {"vocab_size", "1000"},
          {"max_position_embeddings", "4096"}};
}

inline ModelSpec read(const Fields& fields) { return read_hf_config(json(fields), "config.json"); }

inline const WeightMatrix& matrix(const LayerSpec& layer, const std::string& name) {
  for (const WeightMatrix& m : layer.weights) {
    if (m.name == name) return m;
  }
  throw std::out_of_range("no matrix " + name);
}

inline bool has_matrix(const LayerSpec& layer, const std::string& name) {
  for (const WeightMatrix& m : layer.weights) {
    if (m.name == name) return true;
  }
  return false;
}

inline void check_shape(const LayerSpec& layer, const std::string& name, std::int64_t out,
                        std::int64_t in, Shard shard, std::int64_t copies = 1,
                        std::int64_t bias = 0) {
  INFO(name);
  const WeightMatrix& m = matrix(layer, name);
  CHECK(m.out == out);
  CHECK(m.in == in);
  CHECK(m.copies == copies);
  CHECK(m.shard == shard);
  CHECK(m.bias == bias);
}

// The message of the Error that an action throws; "no error" otherwise.
template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline std::string read_message(const Fields& fields) {
  return message_of([&] { read(fields); });
}

}  // namespace smtwin::test
