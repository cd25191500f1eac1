// SPDX-License-Identifier: Apache-2.0
// What to change for the SM to hold more CTAs: the cliffs of the residency model, put together
// where one resource alone does not do it, and the other way to more resident warps, a larger CTA.
#pragma once

#include <string>
#include <vector>

#include "model/residency.hpp"

namespace smtwin {

struct Need {
  Limiter resource = Limiter::shared_memory;  // warps means threads of a CTA
  std::int64_t at_most = 0;
  std::int64_t reduce_by = 0;
  friend bool operator==(const Need&, const Need&) = default;
};

// All needs together give `ctas`; a change of the listed values and nothing else.
struct NextStep {
  std::int32_t ctas = 0;
  double theoretical_occupancy = 0;    // with the threads of the step
  std::vector<Need> needs;             // none: only the opt-in is missing
  std::vector<Limiter> already_allow;  // resources that limited nothing at this count
};

// Nearest counts first. Counts that no change of bytes, registers or threads reaches are left out.
std::vector<NextStep> next_steps(const SmSpec& sm, const KernelResources& kernel,
                                 const Residency& residency);

// "2 CTAs (16.7 %) at <= 50,176 B of shared memory, 11,392 B less; registers already allow 2"
std::string describe(const NextStep& step);

// Why the launch is refused and what would launch, as one sentence; "" when it launches.
std::string describe_refusal(const GpuSpec& gpu, const KernelResources& kernel,
                             const Residency& residency);

}  // namespace smtwin
