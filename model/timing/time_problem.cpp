// SPDX-License-Identifier: Apache-2.0
#include "model/timing/time_problem.hpp"

#include <algorithm>

namespace smtwin {

std::string_view to_string(Regime regime) {
  switch (regime) {
    case Regime::launch:
      return "launch";
    case Regime::latency:
      return "latency";
    case Regime::l2:
      return "L2";
    case Regime::dram:
      return "DRAM";
    case Regime::compute:
      return "compute";
    case Regime::link:
      return "link";
  }
  return "?";
}

Regime TimeParts::regime() const {
  const auto largest = std::max_element(regime_s.begin(), regime_s.end());
  return static_cast<Regime>(largest - regime_s.begin());
}

}  // namespace smtwin
