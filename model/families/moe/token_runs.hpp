// SPDX-License-Identifier: Apache-2.0
// Tokens that choose the same experts, gathered into runs: the layouts of routing.hpp are periodic
// or piecewise constant, so thousands of tokens are a few hundred runs at most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/families/moe/routing.hpp"

namespace smtwin {

struct TokenRuns {
  int topk = 0;
  std::vector<std::int64_t> lengths;  // tokens in each run
  std::vector<int> experts;           // topk entries a run

  std::span<const int> experts_of(std::size_t run) const {
    return std::span(experts).subspan(run * static_cast<std::size_t>(topk),
                                      static_cast<std::size_t>(topk));
  }
};

TokenRuns balanced_runs(std::int64_t tokens, int topk, int experts);

// Falling-load layout; the loads sum to a multiple of `tokens` and none exceeds it.
TokenRuns sorted_runs(std::span<const std::int64_t> loads, std::int64_t tokens);

// Tokens of the falling-load layout that reach one of the first `local_experts` experts.
std::int64_t tokens_covered(std::span<const std::int64_t> loads, std::size_t local_experts,
                            std::int64_t tokens);

// Group-limited top-k of tokens whose logits have two levels. Holds its scratch space.
class GroupLimiter {
 public:
  // DataError unless the groups divide the experts and 1 to all of them are kept.
  GroupLimiter(int experts, const GroupLimit& limit);
  // Replaces the experts of one token (distinct, any order) by those that it chooses instead.
  // DataError when the kept groups have fewer.
  void apply(std::span<int> chosen);

 private:
  int group_size_ = 1;
  int kept_count_ = 0;
  std::vector<int> hits_;    // chosen experts in each group, at most 2
  std::vector<char> kept_;   // groups that stay
  std::vector<int> sorted_;  // the experts that were chosen
};

}  // namespace smtwin
