// SPDX-License-Identifier: Apache-2.0
// What the format of an implementation means for its GEMMs: bytes per element and the tensor rate
// that multiplies. Scale blocks are those of the formats' definitions.
#pragma once

#include "model/families/moe/moe_shape.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

struct MoeFormat {
  double weight_bytes = 2;      // per element, scales included, as they lie in memory
  double activation_bytes = 2;  // per element, as the GEMM reads them
  double flops_per_s = 0;       // dense peak of the chip in the format that multiplies
};
MoeFormat moe_format(const MoeImplementation& how, const TimingGpu& gpu);

}  // namespace smtwin
