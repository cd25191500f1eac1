// SPDX-License-Identifier: Apache-2.0
// One configuration of a kernel on one GPU, with everything the verbs show about it: its bytes and
// grid, how many CTAs are resident, and how long it takes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.hpp"
#include "kernels/descriptor.hpp"
#include "model/fitted_kernels.hpp"
#include "model/kernel_time.hpp"
#include "model/residency.hpp"

namespace CLI {
class App;
}

namespace smtwin {

struct KernelRun {
  Parameters parameters;  // complete
  KernelInstance instance;
  Residency residency;
  std::optional<KernelTime> time;  // empty: a rate of the GPU is not known, see no_time_because
  std::string no_time_because;
  std::optional<FittedKernelTime> fitted;  // the family whose numbers `time` holds; empty: v1's own

  bool fits() const { return instance.impossible.empty() && residency.ctas_per_sm > 0; }
  bool has_time() const { return time && time->runs; }
};

// How times are predicted: by a family of a profile where one covers the kernel, else uncalibrated.
struct KernelOptions : KernelTimeOptions {
  std::shared_ptr<const FittedKernels> families;  // null: none
};

// UsageError for a parameter out of range. A kernel that does not fit is an answer.
KernelRun run_kernel(const KernelDescriptor& kernel, const Parameters& given, const GpuSpec& gpu,
                     const KernelOptions& options);

// "no, 3,328 B over", "yes", "no, registers"
std::string describe_fit(const KernelRun& run);
// The full sentence why it does not run; "" when it does.
std::string describe_refusal(const KernelRun& run, const GpuSpec& gpu);

std::string label(Bound bound);

// What fit, whatif and predict share: --kernel, --l2 cold|warm and --launch graph|stream, as text
// until they are read.
struct KernelFlags {
  std::string kernel;
  std::string l2 = "cold";
  std::string launch = "graph";
  std::string profile = {};
};
void add_kernel_flags(CLI::App& app, KernelFlags& flags);
KernelOptions time_options(const KernelFlags& flags);  // UsageError lists what is allowed
// Intervals and families of the profile that --profile names, or of the GPU's own, into `options`,
// and its name into the report's context. Without --profile, families of kernels that the GPU's own
// profile lacks come from the shipped profile of another GPU, transferred by specification.
void use_profile(const std::string& profile, GpuChoice& gpu, KernelOptions& options);
// "90 % interval 21 us to 40 us" or why there is none; `run` has a time.
std::string describe_interval(const KernelRun& run);
// The same for many times at once, of which `first` is one: "90 % intervals 0.77 to 1.4 times
// each".
std::string describe_intervals(const KernelOptions& options, const KernelRun& first);
std::string describe(const KernelTimeOptions& options);  // "cold L2, replayed in a CUDA graph"

}  // namespace smtwin
