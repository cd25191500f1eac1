// SPDX-License-Identifier: Apache-2.0
// How far predictions lie from measurements. An error is |predicted / measured - 1|.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace smtwin {

// Value below which a share `q` of the sorted or unsorted `values` lies, linear between neighbours.
// NaN when empty.
double quantile(std::vector<double> values, double q);

// Half the distance between the 16th and the 84th percentile: the standard deviation of a normal
// distribution, and blind to outliers. 0 for fewer than two values.
double robust_spread(std::vector<double> values);

// Rank correlation, ties share their mean rank. NaN for fewer than two rows.
double spearman(std::span<const double> a, std::span<const double> b);

struct ErrorStatistics {
  std::size_t rows = 0;
  double median_error = 0;
  double mean_error = 0;
  double p90_error = 0;
  double bias = 0;  // mean of predicted / measured - 1
  double spearman = 0;
};
ErrorStatistics error_statistics(std::span<const double> predicted,
                                 std::span<const double> measured);

}  // namespace smtwin
