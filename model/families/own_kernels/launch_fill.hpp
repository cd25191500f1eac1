// SPDX-License-Identifier: Apache-2.0
// How a grid of equal CTAs fills the SMs, as the families of our own kernels count it: the busiest
// SM decides, CTAs start as soon as others end, and no SM gets a second CTA while another has none.
#pragma once

#include "kernels/descriptor.hpp"
#include "model/residency.hpp"

namespace smtwin {

// CTAs that start together and, being equal, end together.
struct CtaRound {
  double count = 0;     // such rounds
  double ctas = 0;      // of the whole GPU in one
  double together = 0;  // on the busiest SM
};

struct LaunchFill {
  double ctas = 0;
  double sm_count = 0;  // that CTAs can run on
  double warps_per_cta = 0;
  double resident = 0;  // CTAs an SM has room for
  double busiest = 0;   // CTAs that the busiest SM runs, one after the other and at once
  double together = 0;  // of them at once
  double rounds = 0;    // of CTAs, one after the other
  CtaRound full;
  CtaRound tail;  // count 0: the last round is full

  double warps_together() const { return together * warps_per_cta; }
};

// `resident` 0: the kernel does not fit, every other number of CTAs is 0 as well.
LaunchFill launch_fill(const GpuSpec& gpu, const KernelInstance& kernel);

}  // namespace smtwin
