// SPDX-License-Identifier: Apache-2.0
// How long a batch of unequal contexts keeps the GPU busy: CTAs start in launch order on the SMs'
// slots, each moves its bytes no faster than its unloaded time allows, and all together no faster
// than memory. Max-min fair shares; an event per finished CTA. Used as a ratio: the makespan of the
// given lengths over that of equal ones.
// Left out: what CTAs of one SM take from each other, KV shared between sequences.
#pragma once

#include <span>
#include <vector>

#include "model/families/attention/flash_attention2.hpp"
#include "model/families/attention/flash_attention3.hpp"

namespace smtwin {

struct CtaLoad {
  double unloaded_s = 0;
  double bytes = 0;
};

// Makespan of `ctas` in launch order, `slots` at a time, `bytes_per_s` shared by all.
double fluid_makespan_s(std::span<const CtaLoad> ctas, double slots, double bytes_per_s);

// The CTAs of a batch in launch order; shape gives heads and head_dim.
std::vector<CtaLoad> batch_ctas(const FlashAttention2& kernel, std::span<const double> kv_tokens,
                                const AttentionShape& shape, std::span<const double> values);
std::vector<CtaLoad> batch_ctas(const FlashAttention3& kernel, std::span<const double> kv_tokens,
                                const AttentionShape& shape, std::span<const double> values);

// CTAs and the overhead of the longest context together.
double batch_makespan_s(const FlashAttention2& kernel, std::span<const double> kv_tokens,
                        const AttentionShape& shape, std::span<const double> values,
                        CacheState cache);
double batch_makespan_s(const FlashAttention3& kernel, std::span<const double> kv_tokens,
                        const AttentionShape& shape, std::span<const double> values,
                        CacheState cache);

}  // namespace smtwin
