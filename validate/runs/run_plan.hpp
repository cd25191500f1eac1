// SPDX-License-Identifier: Apache-2.0
// Which shapes a run measures: per kernel a sweep over what a decode step asks for, the most
// telling first, so that a run cut short by its time box still covers every kernel. Peers get the
// shapes of the kernel they stand beside.
#pragma once

#include <string>
#include <vector>

#include "validate/runs/measurer.hpp"

namespace smtwin {

struct PlannedShape {
  std::string kernel;
  bool peer = false;
  Parameters shape;       // complete
  bool warm_too = false;  // every variant also with a warm L2
};

// Shapes of `kernel`, a name of the registry, in order of importance. A kernel without a sweep of
// its own gets its default shape.
std::vector<Parameters> sweep_of(const std::string& kernel, Effort effort);

// The kernel whose shapes a peer is measured at: "dense_gemm" for "cublas_gemm"; the name itself
// for one of ours.
std::string kernel_beside(const std::string& name);

// Whether the kernel's descriptor knows this configuration for this shape: a tile for FP8 does not
// multiply BF16. True for a peer, which has no descriptor.
bool can_run(const std::string& kernel, const Parameters& shape, const Parameters& config,
             const GpuSpec& gpu);

// Kernels in turn, a peer right after the shape it shares; a check is of our kernels alone. `only`:
// a kernel (with its peers) or empty for all; UsageError names those that can run.
std::vector<PlannedShape> plan_run(const std::vector<MeasurableKernel>& kernels, Effort effort,
                                   const std::string& only = "");

}  // namespace smtwin
