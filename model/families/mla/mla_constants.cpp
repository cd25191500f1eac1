// SPDX-License-Identifier: Apache-2.0
#include "model/families/mla/mla_constants.hpp"

#include <algorithm>
#include <utility>

#include "model/timing/constant_specs.hpp"

namespace smtwin {

namespace {

constexpr double kSpan = 30;  // of the bounds around a prior

}  // namespace

MlaConstant MlaConstants::add(ConstantSpec spec) {
  specs_.push_back(std::move(spec));
  return MlaConstant::at(specs_.size() - 1);
}

MlaConstant MlaConstants::dram_rate(const TimingGpu& gpu) {
  const auto listed =
      std::find_if(specs_.begin(), specs_.end(), [](const ConstantSpec& s) { return s.of_gpu; });
  if (listed != specs_.end()) {
    return MlaConstant::at(static_cast<std::size_t>(listed - specs_.begin()));
  }
  return add(dram_rate_spec(gpu));
}

MlaConstant MlaConstants::time(std::string name, std::string meaning, double prior_s,
                               double log_sigma) {
  return add({.name = std::move(name),
              .unit = "s",
              .meaning = std::move(meaning),
              .prior = prior_s,
              .log_sigma = log_sigma,
              .low = prior_s / kSpan,
              .high = prior_s * kSpan,
              .off = 0});
}

MlaConstant MlaConstants::rate(std::string name, std::string unit, std::string meaning,
                               double prior, double log_sigma) {
  return add({.name = std::move(name),
              .unit = std::move(unit),
              .meaning = std::move(meaning),
              .prior = prior,
              .log_sigma = log_sigma,
              .low = prior / kSpan,
              .high = prior * kSpan,
              .off = kNoRate});
}

MlaConstant MlaConstants::factor(std::string name, std::string meaning, double prior,
                                 double log_sigma, double off) {
  return add({.name = std::move(name),
              .unit = "1",
              .meaning = std::move(meaning),
              .prior = prior,
              .log_sigma = log_sigma,
              .low = off > 0 ? std::min(off, prior) / 2 : prior / kSpan,
              .high = prior * (off > 0 ? 3 : kSpan),
              .off = off});
}

}  // namespace smtwin
