// SPDX-License-Identifier: Apache-2.0
// Constants of a GPU from the probe readings of a run: of every probe the setting that shows the
// capability itself (the best rate; the latency of one level), the specification where a run has no
// such reading.
#pragma once

#include "arch/gpu_spec.hpp"
#include "model/timing/probed_gpu.hpp"
#include "validate/runs/run_file.hpp"

namespace smtwin {

ProbedGpu probed_gpu(const RunFile& run, const GpuSpec& gpu);

}  // namespace smtwin
