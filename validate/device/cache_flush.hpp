// SPDX-License-Identifier: Apache-2.0
// Empties the L2 of a kernel's data before it is timed, by reading a buffer several times its size:
// a flush that writes would leave dirty lines whose write-back is charged to the kernel. One thread
// meanwhile counts SM clocks against the nanosecond timer, so that every sample knows the clock it
// was taken at.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/live_kernel.hpp"

namespace smtwin {

struct SmClock;  // clocks and nanoseconds that passed on one SM

class CacheFlush {
 public:
  explicit CacheFlush(std::int64_t l2_bytes);
  ~CacheFlush();
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;

  // Both can be captured into a graph and measure the clock; only the first touches the cache. The
  // second keeps one SM busy for `microseconds`, while the host enqueues what comes after it.
  void enqueue_read(DeviceStream stream) const;
  void enqueue_spin(DeviceStream stream, int microseconds) const;

  double sm_clock_hz() const;  // of the last one that finished; 0 = none did
  std::int64_t bytes() const { return bytes_; }

 private:
  void release();

  std::int64_t bytes_ = 0;
  void* buffer_ = nullptr;
  unsigned* sink_ = nullptr;
  SmClock* clock_ = nullptr;  // in host memory that the GPU writes
};

std::string cuda_compiler();  // "nvcc 13.0.88"

}  // namespace smtwin
