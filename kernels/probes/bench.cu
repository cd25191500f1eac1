// SPDX-License-Identifier: Apache-2.0
// ProbeBench: the one door to all probes. Which family a probe belongs to follows from the
// families' lists of points, so that no name is written twice.
#include <array>
#include <set>
#include <string>

#include "arch/error.hpp"
#include "kernels/probes/alu_rate.hpp"
#include "kernels/probes/launch_gap.hpp"
#include "kernels/probes/load_state.hpp"
#include "kernels/probes/memory_stream.hpp"
#include "kernels/probes/pointer_chase.hpp"
#include "kernels/probes/residency.hpp"
#include "kernels/probes/shared_memory.hpp"
#include "kernels/probes/tensor_rate.hpp"
#include "kernels/probes/workspace.cuh"

namespace smtwin {
namespace {

struct ProbeFamily {
  std::vector<ProbePoint> (*points)(const ProbeGpu&, ProbeEffort);
  std::optional<double> (*run)(ProbeWorkspace&, const ProbePoint&);
};

// Most probes always have an answer and return a plain double.
template <auto kRun>
std::optional<double> answered(ProbeWorkspace& workspace, const ProbePoint& point) {
  return kRun(workspace, point);
}

constexpr std::array kFamilies{
    ProbeFamily{memory_stream_points, answered<run_memory_stream>},
    ProbeFamily{pointer_chase_points, answered<run_pointer_chase>},
    ProbeFamily{tensor_rate_points, answered<run_tensor_rate>},
    ProbeFamily{alu_rate_points, answered<run_alu_rate>},
    ProbeFamily{shared_memory_points, answered<run_shared_memory>},
    ProbeFamily{launch_gap_points, answered<run_launch_gap>},
    ProbeFamily{residency_points, answered<run_residency>},
    ProbeFamily{load_state_points, run_load_state},
};

}  // namespace

ProbeBench::ProbeBench(std::uint64_t seed) : workspace_(std::make_unique<ProbeWorkspace>(seed)) {}
ProbeBench::~ProbeBench() = default;

const ProbeGpu& ProbeBench::gpu() const { return workspace_->gpu; }

std::optional<double> ProbeBench::run(const ProbePoint& point) {
  std::set<std::string> known;
  for (const ProbeFamily& family : kFamilies) {
    for (const ProbePoint& listed : family.points(gpu(), ProbeEffort::full)) {
      if (listed.probe == point.probe) return family.run(*workspace_, point);
      known.insert(listed.probe);
    }
  }
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + name;
  throw UsageError("unknown probe \"" + point.probe + "\"; known: " + names);
}

}  // namespace smtwin
