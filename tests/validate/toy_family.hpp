// SPDX-License-Identifier: Apache-2.0
// A family small enough to work by hand: t = gap + bytes / rate.
#pragma once

#include <cmath>
#include <vector>

#include "validate/fit/family_fit.hpp"

namespace smtwin::test {

class ToyProblem : public TimeProblem {
 public:
  explicit ToyProblem(std::vector<double> bytes) : bytes_(std::move(bytes)) {}

  const std::vector<ConstantSpec>& constants() const override { return specs_; }
  std::size_t size() const override { return bytes_.size(); }
  double seconds(std::size_t i, std::span<const double> v, int&, bool) const override {
    return v[0] + bytes_[i] / v[1];
  }
  TimeParts parts(std::size_t i, std::span<const double> v) const override {
    TimeParts p;
    p[Regime::launch] = v[0];
    p[Regime::dram] = bytes_[i] / v[1];
    p.seconds = v[0] + bytes_[i] / v[1];
    return p;
  }

 private:
  std::vector<double> bytes_;
  std::vector<ConstantSpec> specs_{{.name = "gap",
                                    .unit = "s",
                                    .meaning = "launch gap",
                                    .prior = 2e-6,
                                    .log_sigma = 1,
                                    .low = 1e-8,
                                    .high = 1e-3,
                                    .off = 0.0},
                                   {.name = "dram_rate",
                                    .unit = "B/s",
                                    .meaning = "DRAM read rate",
                                    .prior = 2e12,
                                    .log_sigma = 1,
                                    .low = 1e10,
                                    .high = 1e14,
                                    .of_gpu = true}};
};

// `shapes` sizes from 1 kB to 1 GB, `copies` rows each, read with a gap of 3 us at 1.5 TB/s and a
// relative error that repeats: row r of a shape is off by noise x (r mod 5 - 2) / 2.
struct ToyRows {
  std::vector<double> bytes;
  MeasuredFamily family;

  ToyRows(int shapes, int copies, double noise) {
    for (int s = 0; s < shapes; ++s) {
      for (int r = 0; r < copies; ++r) {
        const double size = 1e3 * std::pow(1e6, (s + 0.5) / shapes);
        bytes.push_back(size);
        family.shape.push_back(static_cast<std::uint32_t>(s));
        const double off = noise * (((s + r) % 5) - 2) / 2.0;
        family.measured_s.push_back((3e-6 + size / 1.5e12) * (1 + off));
      }
    }
    family.shape_count = static_cast<std::uint32_t>(shapes);
  }
};

}  // namespace smtwin::test
