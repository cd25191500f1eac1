// SPDX-License-Identifier: Apache-2.0
// Lists of checkpoint modules, as quantization files write them: "lm_head",
// "model.layers.0.mlp.gate", "model.layers.*.self_attn", "*.attn.*", "re:.*experts.*", "gate".
// Answers: does a module belong to such a list?
//
// A plain entry matches whole dot-separated components, anywhere in the name, children included:
// "gate" matches "model.layers.0.mlp.gate" but not "...gate_proj", and "model.layers.0.mlp.gate"
// also matches below a "language_model." prefix. '*' crosses dots as in fnmatch. "re:" expressions
// (compressed-tensors) must match from the start of the name.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace smtwin {

class HfModulePatterns {
 public:
  HfModulePatterns();
  ~HfModulePatterns();
  HfModulePatterns(HfModulePatterns&&) noexcept;
  HfModulePatterns& operator=(HfModulePatterns&&) noexcept;

  // False when a "re:" entry is not a regular expression, or a strange one whose matching could
  // take unreasonably long.
  [[nodiscard]] bool add(const std::string& pattern);
  bool matches(const std::string& module) const;
  bool empty() const;
  std::size_t tried_entries() const;  // that matches() must try one by one

 private:
  struct Expression;  // of the regular-expression library
  std::unordered_set<std::string> plain_;
  std::vector<std::string> wildcards_;  // match from the start of any component
  std::vector<std::string> anchored_;   // match from the start of the name
  std::vector<std::unique_ptr<Expression>> expressions_;
};

// fnmatch of the whole text with '*' (any characters, dots too) and '?' (one).
bool wildcard_match(const std::string& pattern, const std::string& text);

}  // namespace smtwin
