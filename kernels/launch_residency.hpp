// SPDX-License-Identifier: Apache-2.0
// How many CTAs an SM holds, for launch rules that size their grid by it and are asked where the
// model is not at hand: by shared memory, registers, warps and CTA slots. model/residency.hpp has
// the whole answer, with limiters, barriers and clusters; a test holds the two together.
#pragma once

#include <cstdint>

#include "arch/gpu_spec.hpp"
#include "kernels/kernel_resources.hpp"

namespace smtwin {

// A limit that the chip does not state (0), or registers that nobody knows (0), do not count; 1
// when none does.
std::int64_t launch_ctas_per_sm(const KernelResources& kernel, const SmSpec& sm);

}  // namespace smtwin
