// SPDX-License-Identifier: Apache-2.0
#include "validate/observations/hf_pattern.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

namespace {

bool matches(const std::string& pattern, const std::string& module) {
  HfModulePatterns list;
  REQUIRE(list.add(pattern));
  return list.matches(module);
}

}  // namespace

TEST_CASE("plain entries match whole components, anywhere, and children", "[unit]") {
  const std::string router = "model.layers.0.mlp.gate";
  CHECK(matches("model.layers.0.mlp.gate", router));
  CHECK(matches("gate", router));
  CHECK(matches("model.layers.0.mlp.gate", "language_model." + router));
  CHECK(matches("model.layers.0.mlp", router));
  CHECK(matches("model.layers.0.mlp.gate.weight", router));
  CHECK_FALSE(matches("gate", "model.layers.0.mlp.gate_proj"));
  CHECK_FALSE(matches("gate", "model.layers.0.mlp.experts.0.gate_proj"));
  CHECK_FALSE(matches("model.layers.0.mlp.gate", "model.layers.10.mlp.gate"));
  CHECK_FALSE(matches("layers.1", "model.layers.12.mlp.gate"));
  CHECK_FALSE(matches("lm_head", router));
}

TEST_CASE("wildcards cross dots", "[unit]") {
  CHECK(matches("model.layers.*.self_attn", "model.layers.17.self_attn.q_proj"));
  CHECK(matches("model.layers.3.self_attn.indexer*", "model.layers.3.self_attn.indexer.wk"));
  CHECK(matches("*.attn.*", "layers.4.attn.indexer.wq_b"));
  CHECK(matches("language_model.model.layers.0.self_attn*",
                "language_model.model.layers.0.self_attn.kv_a_proj_with_mqa"));
  CHECK_FALSE(matches("*.attn.*", "layers.4.ffn.experts.0.w1"));
  CHECK_FALSE(matches("mtp.*", "layers.4.ffn.experts.0.w1"));
  CHECK_FALSE(matches("model.layers.3.self_attn*", "model.layers.13.self_attn.q_proj"));
}

TEST_CASE("fnmatch", "[unit]") {
  CHECK(wildcard_match("a*b*c", "aXXbYYc"));
  CHECK(wildcard_match("*", ""));
  CHECK(wildcard_match("a?c", "abc"));
  CHECK(wildcard_match("*aab", "aaaab"));
  CHECK_FALSE(wildcard_match("a*b", "aXXc"));
  CHECK_FALSE(wildcard_match("a", "ab"));
  CHECK_FALSE(wildcard_match("a?", "a"));
  CHECK_FALSE(wildcard_match("", "a"));
}

TEST_CASE("expressions match from the start of the name, not to its end", "[unit]") {
  const std::string expert = "model.layers.12.mlp.experts.0.gate_proj";
  CHECK(matches("re:.*experts.*", expert));
  CHECK(matches("re:.*experts", expert));
  CHECK(matches("re:^model\\.layers", expert));
  CHECK_FALSE(matches("re:experts", expert));
  CHECK_FALSE(matches("re:.*experts$", expert));
  CHECK(matches("re:.*gate_proj$", expert));
  // These take the regular-expression library, the ones above a shortcut.
  CHECK(matches("re:.*layers\\.[0-9]{1,2}\\.mlp", expert));
  CHECK(matches("re:.*(gate|up)_proj", expert));
  CHECK(matches("re:.*mlp\\.(?!experts).*", "model.layers.1.mlp.gate"));
  CHECK_FALSE(matches("re:.*mlp\\.(?!experts).*", expert));
  CHECK_FALSE(matches("re:.*layers\\.1\\.", expert));
  CHECK(matches("re:.*ex+perts", expert));
}

TEST_CASE("expressions that are none, or could take for ever, are refused", "[unit]") {
  HfModulePatterns list;
  CHECK_FALSE(list.add("re:(unclosed"));
  CHECK_FALSE(list.add("re:[z-a]"));
  CHECK_FALSE(list.add("re:(a)\\1"));
  CHECK_FALSE(list.add("re:(a{50}){50}"));
  CHECK_FALSE(list.add("re:" + std::string(10'000, '(')));
  CHECK(list.empty());
  // Exponential for a backtracking matcher; this one must come back.
  REQUIRE(list.add("re:(a*)*(a*)*b"));
  CHECK_FALSE(list.matches(std::string(200, 'a')));
}

TEST_CASE("long lists of plain names are looked up, not tried one by one", "[unit]") {
  HfModulePatterns list;
  bool all = true;
  for (int i = 0; i < 100'000; ++i) all = list.add("experts." + std::to_string(i)) && all;
  CHECK(all);
  CHECK(list.matches("model.experts.99999.up_proj"));
  CHECK(list.tried_entries() == 0);
  CHECK(list.add("a.*"));
  CHECK(list.tried_entries() > 0);
}
