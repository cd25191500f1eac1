// SPDX-License-Identifier: Apache-2.0
// Times one operation on the GPU, sample by sample: [flush or spin] [event] [operation] [event],
// captured once into a CUDA graph and replayed, or enqueued on a stream behind the flush, which
// keeps the GPU busy until all of it is in the queue. Both say what a decode step would see: the
// kernel with its launch latency on the GPU, without the host.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "validate/device/cache_flush.hpp"
#include "validate/runs/run_file.hpp"
#include "validate/runs/samples.hpp"

namespace smtwin {

using Enqueue = std::function<void(DeviceStream)>;

// A stream with the two events of a sample. Where a wait ends in a timeout the GPU is stuck in a
// kernel that cannot be stopped: stuck() stays true and nothing is freed any more.
class ReplayTimer {
 public:
  explicit ReplayTimer(const CacheFlush& flush);
  ~ReplayTimer();
  ReplayTimer(const ReplayTimer&) = delete;
  ReplayTimer& operator=(const ReplayTimer&) = delete;

  DeviceStream stream() const { return stream_; }
  bool stuck() const { return stuck_; }

  // `count` samples of `operation`, which may be captured. `what` names it in errors.
  std::vector<Sample> time(const Enqueue& operation, SampleCache cache, SampleLaunch launch,
                           int count, const std::string& what);

  // Waits for the stream; DeviceError for what the kernels on it did wrong, or after the timeout.
  void wait(const std::string& what);

 private:
  void enqueue_sample(const Enqueue& operation, SampleCache cache, SampleLaunch launch);
  Sample finish_sample(const std::string& what);

  const CacheFlush& flush_;
  DeviceStream stream_ = nullptr;
  void* begin_ = nullptr;  // events
  void* end_ = nullptr;
  bool stuck_ = false;
};

}  // namespace smtwin
