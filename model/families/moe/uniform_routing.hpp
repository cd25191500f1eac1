// SPDX-License-Identifier: Apache-2.0
// Routing that TensorRT-LLM's tuner assumes when it times tactics: every token picks its k experts
// uniformly from all E, so a local expert receives Binomial(T, k/E) rows. Expected features; the
// tail of the row count is taken as normal. Which tile wins here runs later, whatever the loads.
#pragma once

#include "model/families/moe/moe_shape.hpp"
#include "model/families/moe/routing.hpp"

namespace smtwin {

MoeRouting uniform_routing(const MoeShape& shape);

}  // namespace smtwin
