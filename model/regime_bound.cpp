// SPDX-License-Identifier: Apache-2.0
#include "model/regime_bound.hpp"

namespace smtwin {

Bound bound_of(Regime regime, Bound compute) {
  switch (regime) {
    case Regime::launch:
      return Bound::launch;
    case Regime::latency:
    case Regime::link:
      return Bound::latency;
    case Regime::l2:
      return Bound::l2;
    case Regime::dram:
      return Bound::dram;
    case Regime::compute:
      return compute;
  }
  return Bound::launch;
}

}  // namespace smtwin
