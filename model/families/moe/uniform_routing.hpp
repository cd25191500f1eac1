// SPDX-License-Identifier: Apache-2.0
// Routing when every token picks its k experts independently and all are equally likely: what a
// deployment is predicted with unless loads are known, and what TensorRT-LLM's tuner assumes when
// it times tactics. A local expert receives c ~ Binomial(T, k/E) rows:
//   active experts = E/ep P(c > 0)          rows = T k / ep
//   tiles of b rows = E/ep sum over j >= 0 of P(c > j b)   the tail for j > 0 taken as normal;
//                     where it is thousands of tiles wide, mean / b + 1/2, its sum without steps
//   tokens with a local expert = T (1 - (1 - 1/ep)^k)
// Left out: correlation between tokens, which activates fewer experts; the busiest rank, which has
// more than the mean.
#pragma once

#include "model/families/moe/moe_shape.hpp"
#include "model/families/moe/routing.hpp"

namespace smtwin {

MoeRouting uniform_routing(const MoeShape& shape);

}  // namespace smtwin
