// SPDX-License-Identifier: Apache-2.0
#include "model/families/own_kernels/launch_fill.hpp"

#include <algorithm>
#include <cmath>

#include "arch/units.hpp"

namespace smtwin {
namespace {

// The CTAs of a cluster run on different SMs of one GPC, so SMs of a GPC that are left over when it
// is cut into clusters hold none. GPCs are made of pairs of SMs and taken as equal as pairs allow.
double usable_sms(const GpuSpec& gpu, int cluster_ctas) {
  const int sms = require(gpu, gpu.sm_count, "sm_count");
  if (cluster_ctas <= 1 || !gpu.sms_per_gpc) return sms;
  const int gpcs = static_cast<int>(ceil_div(sms, *gpu.sms_per_gpc));
  const int pairs = sms / 2;
  int usable = 0;
  for (int gpc = 0; gpc < gpcs; ++gpc) {
    const int of_gpc = 2 * (pairs / gpcs + (gpc < pairs % gpcs ? 1 : 0));
    usable += of_gpc / cluster_ctas * cluster_ctas;
  }
  return std::max(usable, cluster_ctas);
}

}  // namespace

LaunchFill launch_fill(const GpuSpec& gpu, const KernelInstance& kernel) {
  LaunchFill fill;
  fill.sm_count = usable_sms(gpu, kernel.resources.cluster_ctas);
  fill.warps_per_cta = ceil_div(kernel.resources.threads_per_cta, gpu.sm.threads_per_warp);
  if (!kernel.impossible.empty() || refused_outside_sm(gpu.sm, kernel.resources)) return fill;
  fill.resident = resident_ctas(gpu.sm, kernel.resources).ctas_per_sm;
  if (fill.resident <= 0) return fill;
  fill.ctas = static_cast<double>(kernel.grid.x) * static_cast<double>(kernel.grid.y) *
              static_cast<double>(kernel.grid.z);
  fill.busiest = std::ceil(fill.ctas / fill.sm_count);
  fill.together = std::min(fill.busiest, fill.resident);
  fill.rounds = std::ceil(fill.busiest / fill.together);
  const double slots = fill.resident * fill.sm_count;
  fill.full = {.count = std::floor(fill.ctas / slots), .ctas = slots, .together = fill.resident};
  const double rest = fill.ctas - fill.full.count * slots;
  fill.tail = {
      .count = rest > 0 ? 1.0 : 0.0, .ctas = rest, .together = std::ceil(rest / fill.sm_count)};
  return fill;
}

}  // namespace smtwin
