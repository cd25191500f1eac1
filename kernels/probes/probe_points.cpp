// SPDX-License-Identifier: Apache-2.0
// The list of everything that can be measured, in the order of probes.hpp.
#include "kernels/probes/alu_rate.hpp"
#include "kernels/probes/launch_gap.hpp"
#include "kernels/probes/load_state.hpp"
#include "kernels/probes/memory_stream.hpp"
#include "kernels/probes/pointer_chase.hpp"
#include "kernels/probes/probes.hpp"
#include "kernels/probes/residency.hpp"
#include "kernels/probes/shared_memory.hpp"
#include "kernels/probes/tensor_rate.hpp"

namespace smtwin {

std::vector<ProbePoint> probe_points(const ProbeGpu& gpu, ProbeEffort effort) {
  std::vector<ProbePoint> all;
  for (const auto points :
       {memory_stream_points, pointer_chase_points, tensor_rate_points, alu_rate_points,
        shared_memory_points, launch_gap_points, residency_points, load_state_points}) {
    const std::vector<ProbePoint> some = points(gpu, effort);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace smtwin
