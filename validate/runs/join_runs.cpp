// SPDX-License-Identifier: Apache-2.0
// Runs taken in turns (ours and a peer's script) as one. GPU, versions and method are those of the
// first run that this program took, in whatever order the files are given.
#include <algorithm>

#include "arch/error.hpp"
#include "validate/runs/run_journal.hpp"
#include "validate/runs/run_report.hpp"

namespace smtwin {
namespace {

// A peer's script knows less about the GPU than we do: what it leaves empty agrees.
bool same_gpu(const RunGpu& a, const RunGpu& b) {
  const auto agree = [](const std::string& x, const std::string& y) {
    return x.empty() || y.empty() || x == y;
  };
  return a.reported == b.reported && agree(a.name, b.name) && agree(a.driver, b.driver) &&
         (a.sm_count == 0 || b.sm_count == 0 || a.sm_count == b.sm_count);
}

}  // namespace

RunFile join_runs(const std::vector<RunFile>& runs, const std::vector<std::string>& names) {
  const auto own = std::find_if(runs.begin(), runs.end(),
                                [](const RunFile& run) { return !run.tool_version.empty(); });
  const auto first = static_cast<std::size_t>(own == runs.end() ? 0 : own - runs.begin());
  RunFile all = runs[first];
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == first) continue;
    const RunFile& run = runs[i];
    if (!same_gpu(all.gpu, run.gpu)) {
      throw DataError(names[i] + ": taken on " + run.gpu.reported + " with driver " +
                      run.gpu.driver + ", " + names[first] + " on " + all.gpu.reported + " with " +
                      all.gpu.driver + "; score them one by one");
    }
    if (all.gpu.name.empty()) all.gpu = run.gpu;
    for (const ProbeReading& r : run.probes) keep(all.probes, r);
    for (const FunctionReading& r : run.functions) keep(all.functions, r);
    for (const TimeReading& r : run.times) keep(all.times, r);
    if (!run.note.empty()) all.note += (all.note.empty() ? "" : "; ") + run.note;
  }
  return all;
}

}  // namespace smtwin
