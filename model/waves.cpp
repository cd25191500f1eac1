// SPDX-License-Identifier: Apache-2.0
// How a grid fills the GPU. The hardware deals CTAs to SMs until every slot is taken; what is left
// waits. slots = SMs x resident CTAs, so a grid takes ceil(ctas / slots) waves and only the last
// one can be partial. CTAs of one kernel take about equally long, which is what makes waves
// visible; how far they drift apart in long kernels is left out. MODEL.md section 2.
#include <algorithm>

#include "arch/units.hpp"
#include "model/kernel_time.hpp"

namespace smtwin {

Waves fill_waves(std::int64_t ctas, int sm_count, int ctas_per_sm) {
  Waves w;
  w.ctas = ctas;
  w.slots = saturating_mul(sm_count, ctas_per_sm);
  if (w.slots == 0 || ctas <= 0) return w;
  const auto count = static_cast<double>(ctas);
  const auto slots = static_cast<double>(w.slots);
  w.waves = count / slots;
  w.full_waves = ctas / w.slots;
  w.tail_ctas = ctas % w.slots;
  // CTAs go to the emptiest SM first, so a tail gives one CTA to as many SMs as it can.
  w.tail_fill = w.tail_ctas == 0 ? 1.0 : std::min(1.0, static_cast<double>(w.tail_ctas) / sm_count);
  w.efficiency = count / (static_cast<double>(ceil_div(ctas, w.slots)) * slots);
  return w;
}

}  // namespace smtwin
