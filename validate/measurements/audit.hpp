// SPDX-License-Identifier: Apache-2.0
// Rows that no physics allows, or that measured something else than their kernel. They are named,
// never dropped.
//   faster_than_dram    weights or KV cache beyond the L2 arrived above the datasheet DRAM rate
//   faster_than_tensor  more operations per second than the tensor cores have
//   flat                rows of one file, kernel source and type lie at one level whatever their
//                       size: work differs by more than 16 times, would take less than a quarter of
//                       the time, and the best kernel of that table and type starts 4 times lower
//   duplicates          equal in every column, but more than 10 % slower than the fastest of them
// The bounds count low (audit_work.hpp): a row without a finding is not proven right. Left out:
// rows slower than they should be at any other place than a common floor.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/timing/timing_gpu.hpp"
#include "validate/measurements/measurement_row.hpp"

namespace smtwin {

enum class AuditKind : std::uint8_t { faster_than_dram, faster_than_tensor, flat, duplicates };
std::string_view to_string(AuditKind kind);  // "faster than DRAM"

struct AuditFinding {
  const MeasurementRow* row = nullptr;
  AuditKind kind = AuditKind::flat;
  std::string reason;  // one clause with both numbers
};

// In the order of the rows. `gpu_of`: the GPU of a device as the row names it, null when nobody
// knows it (such rows are only checked for duplicates); asked once a device.
std::vector<AuditFinding> audit(
    std::span<const MeasurementRow> rows,
    const std::function<const TimingGpu*(std::string_view device)>& gpu_of);

}  // namespace smtwin
