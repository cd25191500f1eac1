// SPDX-License-Identifier: Apache-2.0
// One constant of a kernel-time family: what it is called, what it means, and what is known about
// it before anything was measured. Constants are positive and fitted in the logarithm: a rate twice
// too high and one twice too low are equally wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace smtwin {

struct ConstantSpec {
  std::string name;     // "dram_rate"; lower case, unique in its family
  std::string unit;     // base units: "s", "B/s", "flop/s", "s/row", "1" for a share or a factor
  std::string meaning;  // one clause that a reader can check: "DRAM read rate of a full grid"
  double prior = 0;     // start and centre of the prior, from the GPU's specification where it can
  double log_sigma = 0.5;  // of the prior, in natural logarithm: 0.1 = known to about 10 %
  double low = 0;          // bounds; a fitted value at one of them is reported as not identified
  double high = 0;
  // Shared by all families of a GPU (DRAM rate): fitted from all of them together.
  bool of_gpu = false;
  // Value that removes the effect (0 for a latency, a huge rate): the ablation refits with it.
  // Empty: the effect cannot be taken out.
  std::optional<double> off = std::nullopt;
};

}  // namespace smtwin
