// SPDX-License-Identifier: Apache-2.0
// Little's law: throughput = what is in flight / how long each piece is under way. A memory
// delivers its peak only while the SMs keep peak x latency bytes requested; with fewer, the rate
// is proportional to the bytes in flight, that is to the resident CTAs. MODEL.md section 3.
// Left out: latency rises as the memory gets busy, so the corner is rounder in reality.
#pragma once

#include <algorithm>

namespace smtwin {

struct MemoryPath {
  double peak_bytes_per_s = 0;
  double latency_s = 0;  // unloaded
};

// Bytes in flight from which on the peak is what limits.
inline double bytes_in_flight_for_peak(const MemoryPath& path) {
  return path.peak_bytes_per_s * path.latency_s;
}

// Moving `read` + `written` bytes. Writes are posted: nobody waits for them, so they take their
// share of the peak but need nothing in flight.
struct TransferBytes {
  double read = 0;
  double written = 0;
};
struct TransferTime {
  double seconds = 0;
  bool starved = false;  // too little in flight for the peak: latency sets the rate
};
inline TransferTime transfer_time(const MemoryPath& path, const TransferBytes& bytes,
                                  double bytes_in_flight) {
  const double at_peak = (bytes.read + bytes.written) / path.peak_bytes_per_s;
  if (bytes.read <= 0) return {at_peak, false};
  const double waiting = bytes.read * path.latency_s / bytes_in_flight;
  return {std::max(at_peak, waiting), waiting > at_peak};
}

}  // namespace smtwin
