// SPDX-License-Identifier: Apache-2.0
// The list of constants of a latent-attention family while it is put together: kernel, projections
// and module add theirs, and each keeps where its value stands. A variant that lacks an effect
// holds a fixed number instead.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/timing/constant_spec.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

class MlaConstant {
 public:
  MlaConstant() = default;
  explicit MlaConstant(double fixed) : fixed_(fixed) {}
  static MlaConstant at(std::size_t index) {
    MlaConstant c;
    c.index_ = static_cast<int>(index);
    return c;
  }
  double operator()(std::span<const double> values) const {
    return index_ < 0 ? fixed_ : values[static_cast<std::size_t>(index_)];
  }

 private:
  int index_ = -1;
  double fixed_ = 0;
};

class MlaConstants {
 public:
  // The GPU's DRAM rate, listed once however many parts ask for it.
  MlaConstant dram_rate(const TimingGpu& gpu);
  // A time with the bounds and the ablation that all families use; a rate; a pure number whose
  // effect is gone at `off`.
  MlaConstant time(std::string name, std::string meaning, double prior_s, double log_sigma = 0.6);
  MlaConstant rate(std::string name, std::string unit, std::string meaning, double prior,
                   double log_sigma = 0.6);
  MlaConstant factor(std::string name, std::string meaning, double prior, double log_sigma,
                     double off);

  const std::vector<ConstantSpec>& specs() const { return specs_; }

 private:
  MlaConstant add(ConstantSpec spec);

  std::vector<ConstantSpec> specs_;
};

}  // namespace smtwin
