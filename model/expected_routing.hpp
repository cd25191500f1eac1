// SPDX-License-Identifier: Apache-2.0
// What a rank of an expert layer has to do when every token chooses its experts independently and
// all are equally likely. The tokens of one expert then follow a binomial distribution,
//   c ~ B(T, k / E)
//   active experts = E/ep P(c > 0)        rows = T k / ep
//   tiles of b rows = E/ep sum over j >= 0 of P(c > j b)
//   tokens with a local expert = T (1 - (1 - 1/ep)^k)
// A mean over ranks. Left out: correlation between tokens, which activates fewer experts, and the
// busiest rank, which has more than the mean.
#pragma once

#include "model/families/moe/routing.hpp"
#include "model/step_ops.hpp"

namespace smtwin {

MoeRouting expected_routing(const ExpertLayer& layer);

}  // namespace smtwin
