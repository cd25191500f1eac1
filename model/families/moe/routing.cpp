// SPDX-License-Identifier: Apache-2.0
#include "model/families/moe/routing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "arch/error.hpp"
#include "model/families/moe/expert_loads.hpp"
#include "model/families/moe/token_runs.hpp"

namespace smtwin {
namespace {

MoeRouting features(std::span<std::int64_t> local, double tokens_seen, std::int64_t pairs,
                    const RoutingRequest& request) {
  if (request.ep > 1 && request.remote != RemotePairs::dropped) {
    const std::int64_t held = std::accumulate(local.begin(), local.end(), std::int64_t{0});
    if (request.remote == RemotePairs::first_expert) {
      local.front() += static_cast<std::int64_t>(tokens_seen) * request.topk - held;
    } else {
      local.back() += pairs - held;
    }
  }
  MoeRouting r = routing_of_loads(local, tokens_seen);
  r.remote = request.remote;
  return r;
}

// Runs of equal tokens -> features, with the group limit applied to every run.
MoeRouting from_runs(const RoutingRequest& request, const TokenRuns& runs) {
  const auto local_experts = static_cast<std::size_t>(request.experts / request.ep);
  std::vector<std::int64_t> local(local_experts, 0);
  std::int64_t seen = 0;
  std::vector<int> experts(static_cast<std::size_t>(request.topk));
  const bool limited = request.group.groups > 0;
  GroupLimiter limiter(request.experts, limited ? request.group : GroupLimit{1, 1});
  for (std::size_t r = 0; r < runs.lengths.size(); ++r) {
    const auto chosen = runs.experts_of(r);
    std::copy(chosen.begin(), chosen.end(), experts.begin());
    if (limited) limiter.apply(experts);
    bool any = false;
    for (const int e : experts) {
      if (static_cast<std::size_t>(e) >= local_experts) continue;
      local[static_cast<std::size_t>(e)] += runs.lengths[r];
      any = true;
    }
    if (any) seen += runs.lengths[r];
  }
  return features(local, static_cast<double>(seen), request.tokens * request.topk, request);
}

void add(MoeRouting& sum, const MoeRouting& x, double weight) {
  sum.active_experts += weight * x.active_experts;
  sum.rows += weight * x.rows;
  sum.tokens_seen += weight * x.tokens_seen;
  for (std::size_t i = 0; i < sum.tiles.size(); ++i) sum.tiles[i] += weight * x.tiles[i];
  sum.remote = x.remote;
}

}  // namespace

double MoeRouting::tiles_of(int tile_rows) const {
  const auto at = std::find(kMoeTileRows.begin(), kMoeTileRows.end(), tile_rows);
  if (at == kMoeTileRows.end()) {
    throw DataError("expert layer: tiles of " + std::to_string(tile_rows) +
                    " rows are not counted; counted are 8, 16, 32, 48, 64, 128 and 256");
  }
  return tiles[static_cast<std::size_t>(at - kMoeTileRows.begin())];
}

MoeRouting routing_of_loads(std::span<const std::int64_t> local_loads, double tokens_seen) {
  MoeRouting r;
  r.tokens_seen = tokens_seen;
  std::array<std::int64_t, kMoeTileRows.size()> tiles{};
  // Unrolled at compile time, so that most divisions are shifts.
  const auto count = [&tiles]<std::size_t... I>(std::uint64_t c, std::index_sequence<I...>) {
    constexpr auto kHeight = [](std::size_t i) {
      return static_cast<std::uint64_t>(kMoeTileRows[i]);
    };
    ((tiles[I] += static_cast<std::int64_t>((c + kHeight(I) - 1) / kHeight(I))), ...);
  };
  std::int64_t rows = 0, active = 0;
  for (const std::int64_t c : local_loads) {
    if (c <= 0) continue;
    ++active;
    rows += c;
    count(static_cast<std::uint64_t>(c), std::make_index_sequence<kMoeTileRows.size()>());
  }
  r.active_experts = static_cast<double>(active);
  r.rows = static_cast<double>(rows);
  std::copy(tiles.begin(), tiles.end(), r.tiles.begin());
  return r;
}

MoeRouting route_balanced(const RoutingRequest& request) {
  return from_runs(request, balanced_runs(request.tokens, request.topk, request.experts));
}

MoeRouting route_loads(const RoutingRequest& request, std::span<const std::int64_t> loads) {
  if (request.group.groups > 0) return from_runs(request, sorted_runs(loads, request.tokens));
  const auto local_experts = static_cast<std::size_t>(request.experts / request.ep);
  std::vector<std::int64_t> local(loads.begin(),
                                  loads.begin() + static_cast<std::ptrdiff_t>(local_experts));
  const bool count = request.remote == RemotePairs::first_expert;  // a sort more a draw
  const std::int64_t seen =
      count ? tokens_covered(loads, local_experts, request.tokens) : request.tokens;
  return features(local, static_cast<double>(seen), request.tokens * request.topk, request);
}

const MoeRouting& MoeRouter::route(const RoutingRequest& q) {
  const Key key{q.tokens, q.topk, q.experts, q.ep, q.power_law_exponent, q.group, q.remote};
  const auto [at, fresh] = routed_.try_emplace(key);
  if (!fresh) return at->second;
  if (q.power_law_exponent <= 0) return at->second = route_balanced(q);
  std::vector<std::vector<double>>& draws =
      shares_[ShareKey{q.tokens, q.topk, q.experts, q.power_law_exponent}];
  for (int draw = static_cast<int>(draws.size()); draw < kRoutingDraws; ++draw) {
    draws.push_back(power_law_shares(q.tokens, q.topk, q.experts, q.power_law_exponent, draw));
  }
  for (const std::vector<double>& shares : draws) {
    add(at->second, route_loads(q, loads_from_shares(shares, q.tokens, q.topk, q.ep)),
        1.0 / kRoutingDraws);
  }
  return at->second;
}

}  // namespace smtwin
