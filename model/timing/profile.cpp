// SPDX-License-Identifier: Apache-2.0
#include "model/timing/profile.hpp"

#include <cmath>

namespace smtwin {
namespace {
constexpr double kNormal95 = 1.645;  // 95th percentile of a normal distribution
}

std::string FamilyIdentity::key() const {
  std::string key = table;
  for (const std::string* part : {&kernel_source, &dtype, &kv_dtype}) {
    if (!part->empty()) key += "/" + *part;
  }
  if (!gemm_type.empty()) {
    key = table + "/" + kernel_source + "/" + gemm_type + (kv_dtype.empty() ? "" : "/" + kv_dtype);
  }
  return key;
}

std::vector<double> FamilyCalibration::values() const {
  std::vector<double> values;
  for (const FittedConstant& c : constants) values.push_back(c.value);
  return values;
}

const FamilyCalibration* CalibrationProfile::find(const FamilyIdentity& identity) const {
  for (const FamilyCalibration& f : families) {
    if (f.identity == identity) return &f;
  }
  return nullptr;
}

TimeInterval UnmeasuredErrors::around(double seconds) const {
  return {seconds * std::exp(low), seconds * std::exp(high)};
}

UnmeasuredErrors UnmeasuredErrors::widened(double transfer_sd) const {
  const double transfer = kNormal95 * transfer_sd;
  return {-std::hypot(low, transfer), std::hypot(high, transfer)};
}

TimeInterval interval_of(double seconds, Regime regime, const FamilyCalibration& family,
                         double constants_variance, double transfer_sd) {
  const double spread = family.spread[static_cast<std::size_t>(regime)];
  const double u = std::sqrt(spread * spread + constants_variance);
  const double transfer = kNormal95 * transfer_sd;
  return {seconds * std::exp(-std::hypot(family.low_score * u, transfer)),
          seconds * std::exp(std::hypot(family.high_score * u, transfer))};
}

}  // namespace smtwin
