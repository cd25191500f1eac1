// SPDX-License-Identifier: Apache-2.0
// Constants fitted on one GPU, used on a relative (or on the same GPU with changed fields). The
// prior of a constant says how it follows from the specification (a rate from the clock, SMs and
// bandwidth; a latency from cycles), so
//   value on the other = fitted value x prior of the other / prior of the fitted one.
// What the fit learned beyond the specification is carried over as a factor.
//
// Rates in flop/s also meet the power limit. Dynamic power grows as SMs x f^3 (voltage follows the
// clock), so a board with P watts sustains
//   f / f_boost = min(1, ((P / P0) (SMs0 f0^3) / (SMs f^3))^(1/3))
// of what the fitted one (P0, SMs0, f0) sustained. An assumption; bytes are not affected.
#pragma once

#include <span>
#include <vector>

#include "model/timing/constant_spec.hpp"
#include "model/timing/profile.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

// Standard deviation added to every interval, in log: assumed, no second SM120 board was measured.
inline constexpr double kTransferSd = 0.15;

// True when the families treat both as the same kind of chip: Hopper, or SM120 and its relatives.
bool are_relatives(ComputeCapability a, ComputeCapability b);

// Same values in every number that a prior may follow from.
bool same_specification(const TimingGpu& a, const TimingGpu& b);

// Values in the order of `target`, which are the specs of a family on GPU `to`; `source` those of
// the same family on GPU `from`, where it was fitted. DataError when the calibration does not hold
// exactly these constants in this order: it was written for another version of the equations.
std::vector<double> transferred_values(const FamilyCalibration& fitted,
                                       std::span<const ConstantSpec> source, const TimingGpu& from,
                                       std::span<const ConstantSpec> target, const TimingGpu& to);

}  // namespace smtwin
