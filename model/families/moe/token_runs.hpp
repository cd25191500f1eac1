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

// Replaces the experts of one token (distinct) by those that group-limited top-k chooses.
void limit_to_groups(std::span<int> chosen, int experts, const GroupLimit& limit);

}  // namespace smtwin
