// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/fitted_ranges.hpp"

#include <algorithm>
#include <string>

namespace smtwin {
namespace {

struct ShapeColumn {
  const char* name;
  double MeasurementRow::*value;
};
constexpr ShapeColumn kShapeColumns[] = {
    {"m", &MeasurementRow::m},
    {"n", &MeasurementRow::n},
    {"k", &MeasurementRow::k},
    {"num_tokens", &MeasurementRow::num_tokens},
    {"hidden_size", &MeasurementRow::hidden_size},
    {"inter_size", &MeasurementRow::inter_size},
    {"topk", &MeasurementRow::topk},
    {"num_experts", &MeasurementRow::num_experts},
    {"moe_tp_size", &MeasurementRow::moe_tp_size},
    {"moe_ep_size", &MeasurementRow::moe_ep_size},
    {"batch_size", &MeasurementRow::batch_size},
    {"num_heads", &MeasurementRow::num_heads},
    {"num_key_value_heads", &MeasurementRow::num_key_value_heads},
    {"head_dim", &MeasurementRow::head_dim},
    {"window_size", &MeasurementRow::window_size},
    {"step", &MeasurementRow::step},
    {"compress_ratio", &MeasurementRow::compress_ratio},
    {"num_gpus", &MeasurementRow::num_gpus},
    {"message_size", &MeasurementRow::message_size},
    {"latency_s", &MeasurementRow::latency_s},
};

}  // namespace

std::vector<FittedRange> fitted_ranges(std::span<const MeasurementRow* const> rows) {
  std::vector<FittedRange> ranges;
  if (rows.empty()) return ranges;
  for (const ShapeColumn& column : kShapeColumns) {
    FittedRange range{column.name, rows.front()->*column.value, rows.front()->*column.value};
    for (const MeasurementRow* row : rows) {
      range.low = std::min(range.low, row->*column.value);
      range.high = std::max(range.high, row->*column.value);
    }
    if (range.high > 0) ranges.push_back(range);  // 0 in every row: the table has no such column
  }
  return ranges;
}

}  // namespace smtwin
