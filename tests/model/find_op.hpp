// SPDX-License-Identifier: Apache-2.0
// Ops of a list by name, for tests of the step model.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/step_ops.hpp"

namespace smtwin::test {

inline const StepOp& find_op(const OpList& ops, const std::string& name) {
  for (const StepOp& op : ops) {
    if (op.name == name) return op;
  }
  throw std::runtime_error("no op " + name);
}

inline int index_of(const OpList& ops, const std::string& name) {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].name == name) return static_cast<int>(i);
  }
  throw std::runtime_error("no op " + name);
}

inline std::vector<std::string> names(const OpList& ops) {
  std::vector<std::string> all;
  for (const StepOp& op : ops) all.push_back(op.name);
  return all;
}

inline bool has_op(const OpList& ops, const std::string& name) {
  return std::any_of(ops.begin(), ops.end(), [&](const StepOp& op) { return op.name == name; });
}

// Whether `later` waits for `earlier`, directly or through others.
inline bool waits_for(const OpList& ops, const std::string& later, const std::string& earlier) {
  const int target = index_of(ops, earlier);
  std::vector<int> open{index_of(ops, later)};
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (at == target) return true;
    for (const int before : ops[static_cast<std::size_t>(at)].after) open.push_back(before);
  }
  return false;
}

struct Shape {
  std::int64_t rows, n, k, copies;
  friend bool operator==(const Shape&, const Shape&) = default;
};
inline Shape shape(const StepOp& op) { return {op.rows, op.n, op.k, op.copies}; }

// A chip whose tensor cores multiply everything.
inline StepOptions step_options(std::int64_t batch, std::int64_t context) {
  StepOptions options;
  options.batch = batch;
  options.context = context;
  options.math = {.fp8 = true, .int8 = true, .block_scaled = true};
  return options;
}

}  // namespace smtwin::test
