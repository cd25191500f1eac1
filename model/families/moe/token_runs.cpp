// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/token_runs.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "arch/error.hpp"

namespace smtwin {
namespace {

// Experts by falling load, equal ones by index; and where each begins in the layout.
struct Layout {
  std::vector<std::size_t> order;
  std::vector<std::int64_t> start;  // of order[i]
};

Layout layout_of(std::span<const std::int64_t> loads) {
  // One integer a pair (load, expert) sorts faster than a comparison of two.
  constexpr int kExpertBits = 20;
  constexpr std::uint64_t kLastExpert = (std::uint64_t{1} << kExpertBits) - 1;
  std::vector<std::uint64_t> keys(loads.size());
  for (std::size_t e = 0; e < loads.size(); ++e) {
    keys[e] = (static_cast<std::uint64_t>(loads[e]) << kExpertBits) | (kLastExpert - e);
  }
  std::sort(keys.begin(), keys.end(), std::greater<>());
  Layout l;
  l.order.reserve(keys.size());
  l.start.reserve(keys.size());
  std::int64_t at = 0;
  for (const std::uint64_t key : keys) {
    l.order.push_back(kLastExpert - (key & kLastExpert));
    l.start.push_back(at);
    at += static_cast<std::int64_t>(key >> kExpertBits);
  }
  return l;
}

int size_of_groups(int experts, const GroupLimit& limit) {
  if (limit.groups < 1 || experts % limit.groups != 0 || limit.kept < 1 ||
      limit.kept > limit.groups) {
    throw DataError("group-limited top-k: " + std::to_string(limit.kept) + " of " +
                    std::to_string(limit.groups) + " groups of " + std::to_string(experts) +
                    " experts; groups divide the experts, and 1 to all of them are kept");
  }
  return experts / limit.groups;
}

}  // namespace

TokenRuns balanced_runs(std::int64_t tokens, int topk, int experts) {
  TokenRuns runs;
  runs.topk = topk;
  const std::int64_t stride = (experts + topk - 1) / topk;
  // With tokens >= stride token t + experts repeats token t.
  const bool dense = tokens >= stride;
  const std::int64_t distinct = dense ? std::min<std::int64_t>(tokens, experts) : tokens;
  for (std::int64_t t = 0; t < distinct; ++t) {
    runs.lengths.push_back(dense ? (tokens - t + experts - 1) / experts : 1);
    const std::int64_t first = dense ? t : t * stride / tokens;
    for (std::int64_t j = 0; j < topk; ++j) {
      runs.experts.push_back(static_cast<int>((first + j * stride) % experts));
    }
  }
  return runs;
}

TokenRuns sorted_runs(std::span<const std::int64_t> loads, std::int64_t tokens) {
  const Layout layout = layout_of(loads);
  const std::int64_t pairs = layout.start.back() + loads[layout.order.back()];
  TokenRuns runs;
  runs.topk = static_cast<int>(pairs / tokens);
  std::vector<std::int64_t> cuts{0, tokens};
  for (const std::int64_t s : layout.start) cuts.push_back(s % tokens);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  // In every slot the expert only moves forward as the token does.
  std::vector<std::size_t> cursor(static_cast<std::size_t>(runs.topk), 0);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    runs.lengths.push_back(cuts[i + 1] - cuts[i]);
    for (std::size_t j = 0; j < cursor.size(); ++j) {
      const std::int64_t position = static_cast<std::int64_t>(j) * tokens + cuts[i];
      std::size_t& c = cursor[j];
      if (i == 0) {
        c = static_cast<std::size_t>(
                std::upper_bound(layout.start.begin(), layout.start.end(), position) -
                layout.start.begin()) -
            1;
      }
      while (c + 1 < layout.start.size() && layout.start[c + 1] <= position) ++c;
      runs.experts.push_back(static_cast<int>(layout.order[c]));
    }
  }
  return runs;
}

std::int64_t tokens_covered(std::span<const std::int64_t> loads, std::size_t local_experts,
                            std::int64_t tokens) {
  if (local_experts == loads.size()) return tokens;
  const Layout layout = layout_of(loads);
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals;  // [first, last)
  for (std::size_t i = 0; i < layout.order.size(); ++i) {
    const std::int64_t load = loads[layout.order[i]];
    if (layout.order[i] >= local_experts || load == 0) continue;
    const std::int64_t first = layout.start[i] % tokens, last = first + load;
    intervals.emplace_back(first, std::min(last, tokens));
    if (last > tokens) intervals.emplace_back(0, last - tokens);
  }
  std::sort(intervals.begin(), intervals.end());
  std::int64_t covered = 0, reached = 0;
  for (const auto& [first, last] : intervals) {
    covered += std::max<std::int64_t>(last - std::max(first, reached), 0);
    reached = std::max(reached, last);
  }
  return covered;
}

GroupLimiter::GroupLimiter(int experts, const GroupLimit& limit)
    : group_size_(size_of_groups(experts, limit)),
      kept_count_(limit.kept),
      hits_(static_cast<std::size_t>(limit.groups)),
      kept_(static_cast<std::size_t>(limit.groups)) {}

void GroupLimiter::apply(std::span<int> chosen) {
  if (chosen.size() >
      static_cast<std::size_t>(kept_count_) * static_cast<std::size_t>(group_size_)) {
    throw DataError("group-limited top-k: " + std::to_string(chosen.size()) +
                    " experts a token from " + std::to_string(kept_count_) + " groups of " +
                    std::to_string(group_size_) + "; a token chooses no more than they hold");
  }
  const auto group_of = [this](int e) { return static_cast<std::size_t>(e / group_size_); };
  std::fill(hits_.begin(), hits_.end(), 0);
  for (const int e : chosen) hits_[group_of(e)] = std::min(hits_[group_of(e)] + 1, 2);
  // The best groups, ties to the low index.
  std::fill(kept_.begin(), kept_.end(), char{0});
  int left = kept_count_;
  for (int score = 2; score >= 0 && left > 0; --score) {
    for (std::size_t g = 0; g < hits_.size() && left > 0; ++g) {
      if (hits_[g] == score) kept_[g] = 1, --left;
    }
  }
  // Within them chosen experts first, then the others, both by index.
  sorted_.assign(chosen.begin(), chosen.end());
  std::sort(sorted_.begin(), sorted_.end());
  std::size_t filled = 0;
  for (const int e : sorted_) {
    if (kept_[group_of(e)]) chosen[filled++] = e;
  }
  for (std::size_t g = 0; g < kept_.size() && filled < chosen.size(); ++g) {
    if (!kept_[g]) continue;
    const int first = static_cast<int>(g) * group_size_;
    for (int e = first; e < first + group_size_ && filled < chosen.size(); ++e) {
      if (!std::binary_search(sorted_.begin(), sorted_.end(), e)) chosen[filled++] = e;
    }
  }
}

}  // namespace smtwin
