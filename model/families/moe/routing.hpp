// SPDX-License-Identifier: Apache-2.0
// What the routing of one expert layer means for the rank that is timed: how many experts are
// active (weights read), how many rows they compute, how many tiles of each height those rows
// fill. Pure functions of the shape; no time in here.
//
// Layouts that benchmarks use (source: see expert_loads.hpp):
//   balanced    s = ceil(E/k). T >= s: token t, slot j -> expert (t + j s) mod E;
//               else (floor(t s / T) + j s) mod E
//   power law   experts in falling order of load fill the k slots one after the other, T tokens
//               each: an expert holds one run of consecutive tokens, modulo T
// Group-limited top-k (DeepSeek-V3 style): logits have two levels only, so ties decide. The `kept`
// groups with the largest sum of their two best scores stay, ties to the low index; then the k best
// experts in them, ties to the low index. It changes which experts a benchmark's tokens reach.
// Runs of tokens with equal experts are handled as one, so the cost does not grow with T.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace smtwin {

// Tile heights in rows for which tiles are counted.
inline constexpr std::array<int, 7> kMoeTileRows{8, 16, 32, 48, 64, 128, 256};

// What happens to pairs whose expert lives on another rank.
//   dropped       not computed (CUTLASS, FlashInfer; Triton writes zeros for their tiles)
//   first_expert  tokens without a local expert leave; what remains is computed by local expert 0
//   last_expert   all pairs are computed, the remote ones by the last local expert
enum class RemotePairs : std::uint8_t { dropped, first_expert, last_expert };

struct GroupLimit {
  int groups = 0;  // 0 = plain top-k
  int kept = 0;
  bool operator==(const GroupLimit&) const = default;
  auto operator<=>(const GroupLimit&) const = default;
};

struct RoutingRequest {
  std::int64_t tokens = 1;
  int topk = 1, experts = 1, ep = 1;  // ep divides experts
  double power_law_exponent = 0;      // 0 = balanced
  GroupLimit group = {};
  RemotePairs remote = RemotePairs::dropped;
};

// Means over draws where the law is random, hence not whole.
struct MoeRouting {
  double active_experts = 0;  // local experts with at least one row
  double rows = 0;            // rows the local experts compute
  double tokens_seen = 0;     // with at least one local expert; all tokens where nothing needs it
  std::array<double, kMoeTileRows.size()> tiles{};  // sum over experts of ceil(rows / height)
  RemotePairs remote = RemotePairs::dropped;        // how pairs of other ranks were counted

  double tiles_of(int tile_rows) const;  // DataError unless one of kMoeTileRows
};

// From loads of the local experts that a user measured; `tokens_seen` as above.
MoeRouting routing_of_loads(std::span<const std::int64_t> local_loads, double tokens_seen);

inline constexpr int kRoutingDraws = 6;

// Routes requests and remembers what it routed: the rows of a table repeat few routings.
class MoeRouter {
 public:
  const MoeRouting& route(const RoutingRequest& request);

 private:
  using Key = std::tuple<std::int64_t, int, int, int, double, GroupLimit, RemotePairs>;
  using ShareKey = std::tuple<std::int64_t, int, int, double>;
  std::map<Key, MoeRouting> routed_;
  std::map<ShareKey, std::vector<std::vector<double>>> shares_;  // one entry a draw
};

MoeRouting route_balanced(const RoutingRequest& request);
// `loads` of all experts, rank 0 timed.
MoeRouting route_loads(const RoutingRequest& request, std::span<const std::int64_t> loads);

}  // namespace smtwin
