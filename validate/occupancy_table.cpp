// SPDX-License-Identifier: Apache-2.0
// Reads and scores residency tables. Integers are compared exactly: one CTA off is a mismatch.
#include "validate/occupancy_table.hpp"

#include <charconv>
#include <map>

#include "arch/error.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kLargestCount = std::numeric_limits<std::int32_t>::max();

std::string to_text(ComputeCapability cc) {
  return std::to_string(cc.major) + "." + std::to_string(cc.minor);
}

std::optional<int> parse_digits(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<ComputeCapability> parse_compute_capability(std::string_view text) {
  for (const std::string_view prefix : {"sm_", "sm-", "sm"}) {
    if (text.starts_with(prefix)) {
      text.remove_prefix(prefix.size());
      break;
    }
  }
  if (const auto dot = text.find('.'); dot != std::string_view::npos) {
    const auto major = parse_digits(text.substr(0, dot));
    const auto minor = parse_digits(text.substr(dot + 1));
    if (!major || !minor || *major < 1 || *minor > 9) return std::nullopt;
    return ComputeCapability{*major, *minor};
  }
  const auto both = parse_digits(text);  // the last digit is the minor version
  if (!both || *both < 10) return std::nullopt;
  return ComputeCapability{*both / 10, *both % 10};
}

OccupancyTable::OccupancyTable(std::istream& in, const std::string& file_name)
    : csv_(in, file_name) {
  csv_.require_columns(
      {"cc", "regs", "static_smem", "threads", "dyn_smem", "carveout", "api_blocks"});
  cc_ = csv_.require_column("cc");
  regs_ = csv_.require_column("regs");
  static_smem_ = csv_.require_column("static_smem");
  threads_ = csv_.require_column("threads");
  dyn_smem_ = csv_.require_column("dyn_smem");
  carveout_ = csv_.require_column("carveout");
  api_blocks_ = csv_.require_column("api_blocks");
  measured_blocks_ = csv_.column("measured_blocks");
}

bool OccupancyTable::next(OccupancyRow& row) {
  if (!csv_.next(cells_)) return false;
  const auto count = [this](std::size_t column, std::int64_t minimum) {
    return static_cast<std::int32_t>(
        parse_int_cell(csv_, cells_, column, {.minimum = minimum, .maximum = kLargestCount}));
  };
  const auto cc = parse_compute_capability(cells_[cc_]);
  if (!cc) {
    throw DataError(csv_.where() + ": cc: expected a compute capability, found \"" + cells_[cc_] +
                    "\"; write 90, 9.0 or sm_90");
  }
  row = {};
  row.line = csv_.line();
  row.compute_capability = *cc;
  row.kernel.threads_per_cta = count(threads_, 1);
  row.kernel.registers_per_thread = count(regs_, 0);
  row.kernel.static_shared_bytes = parse_int_cell(csv_, cells_, static_smem_, {.minimum = 0});
  row.kernel.dynamic_shared_bytes = parse_int_cell(csv_, cells_, dyn_smem_, {.minimum = 0});
  row.kernel.carveout_percent = static_cast<std::int32_t>(
      parse_int_cell(csv_, cells_, carveout_, {.minimum = kCarveoutDefault, .maximum = 100}));
  row.api_ctas = count(api_blocks_, 0);
  if (measured_blocks_) {
    const auto measured = parse_optional_int_cell(csv_, cells_, *measured_blocks_,
                                                  {.minimum = 0, .maximum = kLargestCount});
    if (measured) row.measured_ctas = static_cast<std::int32_t>(*measured);
  }
  return true;
}

OccupancyScore score_occupancy_table(std::istream& in, const std::string& file_name,
                                     const GpuSpec& gpu) {
  OccupancyTable table(in, file_name);
  OccupancyScore score;
  std::map<ComputeCapability, std::int64_t> left_out;
  for (OccupancyRow row; table.next(row);) {
    ++score.rows;
    if (row.compute_capability != gpu.compute_capability) {
      ++score.skipped;
      ++left_out[row.compute_capability];
      continue;
    }
    const ResidentCtas predicted = resident_ctas(gpu.sm, row.kernel);
    const bool api_differs = predicted.ctas_per_sm != row.api_ctas;
    const bool measured_differs = row.measured_ctas && predicted.ctas_per_sm != *row.measured_ctas;
    score.mismatches += api_differs ? 1 : 0;
    score.measured_rows += row.measured_ctas ? 1 : 0;
    score.measured_mismatches += measured_differs ? 1 : 0;
    if ((api_differs || measured_differs) &&
        score.first_differences.size() < OccupancyScore::kDifferencesKept) {
      score.first_differences.push_back({row, predicted});
    }
  }
  for (const auto& [cc, rows] : left_out) {
    if (!score.skipped_reason.empty()) score.skipped_reason += ", ";
    score.skipped_reason += std::to_string(rows) + (rows == 1 ? " row" : " rows") +
                            " of compute capability " + to_text(cc);
  }
  if (score.skipped > 0) {
    score.skipped_reason += "; " + gpu.name + " is " + to_text(gpu.compute_capability);
  }
  return score;
}

}  // namespace smtwin
