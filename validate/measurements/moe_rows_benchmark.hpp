// SPDX-License-Identifier: Apache-2.0
// What the benchmark behind moe_perf does with single geometries and a deployment need not: which
// of its layers have no gate projection, honour a group limit, or were timed without the
// framework's expert-parallel layer. Seen in the rows (AIConfigurator performance database, commit
// 095f58a51c4c), which have no column for any of it.
#pragma once

#include "model/families/moe/moe_shape.hpp"
#include "model/families/moe/routing.hpp"

namespace smtwin {

// What becomes of pairs whose expert lives on another rank. SGLang's mxfp4 Marlin path is inferred.
RemotePairs benchmark_remote_pairs(const MoeImplementation& how, const MoeShape& shape);

// Models of this geometry (DeepSeek-V3) ask for 8 groups, 4 kept; the benchmarks of vLLM and SGLang
// honour it.
GroupLimit benchmark_group_limit(const MoeImplementation& how, const MoeShape& shape);

// Nemotron-3 geometries have squared ReLU and no gate projection.
bool benchmark_is_gated(double hidden, double inter);

}  // namespace smtwin
