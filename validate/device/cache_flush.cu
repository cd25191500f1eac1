// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <algorithm>

#include "kernels/device_check.hpp"
#include "validate/device/cache_flush.hpp"

namespace smtwin {

struct SmClock {
  unsigned long long clocks;
  unsigned long long nanoseconds;
};

namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{256} << 20;
constexpr std::int64_t kTimesL2 = 4;
constexpr int kThreads = 512;

__device__ unsigned long long nanosecond_timer() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// The next tick: the timer may advance in steps of a microsecond.
__device__ unsigned long long next_tick() {
  const unsigned long long now = nanosecond_timer();
  unsigned long long next = now;
  while (next == now) next = nanosecond_timer();
  return next;
}

// Sums the buffer so that no load can be left out; what is added is never what it compares to.
// `words` 0: only the clock, for `least_ns`.
__global__ void smtwin_read_and_clock(const uint4* buffer, std::int64_t words, unsigned* sink,
                                      SmClock* clock, unsigned long long least_ns) {
  const bool keeps_time = blockIdx.x == 0 && threadIdx.x == 0;
  unsigned long long first_ns = 0, first_clock = 0;
  if (keeps_time) {
    first_ns = next_tick();
    first_clock = static_cast<unsigned long long>(clock64());
  }
  unsigned sum = 0;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < words; i += 4 * stride) {
    const uint4 a = buffer[i], b = buffer[i + stride];
    const uint4 c = buffer[i + 2 * stride], d = buffer[i + 3 * stride];
    sum += a.x ^ a.w ^ b.y ^ b.z ^ c.x ^ c.w ^ d.y ^ d.z;
  }
  for (; i < words; i += stride) sum += buffer[i].x;
  if (sum == 0xFFFFFFFFU) *sink = sum;
  if (keeps_time) {
    unsigned long long ns = next_tick();
    while (ns - first_ns < least_ns) ns = next_tick();
    clock->clocks = static_cast<unsigned long long>(clock64()) - first_clock;
    clock->nanoseconds = ns - first_ns;
    __threadfence_system();
  }
}

cudaStream_t stream_of(DeviceStream stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

CacheFlush::CacheFlush(std::int64_t l2_bytes)
    : bytes_(std::max(kLeastBytes, kTimesL2 * l2_bytes) / 64 * 64) {
  try {
    check_cuda(cudaMalloc(&buffer_, static_cast<std::size_t>(bytes_)),
               "memory to flush the L2 (" + std::to_string(bytes_ >> 20) + " MiB)");
    check_cuda(cudaMemset(buffer_, 0, static_cast<std::size_t>(bytes_)),
               "filling the flush buffer");
    void* word = nullptr;
    check_cuda(cudaMalloc(&word, sizeof(unsigned)), "memory to flush the L2");
    sink_ = static_cast<unsigned*>(word);
    void* clock = nullptr;
    check_cuda(cudaHostAlloc(&clock, sizeof(SmClock), cudaHostAllocMapped), "pinned host memory");
    clock_ = static_cast<SmClock*>(clock);
    *clock_ = {};
  } catch (...) {
    release();
    throw;
  }
}

CacheFlush::~CacheFlush() { release(); }

void CacheFlush::release() {
  cudaFree(buffer_);
  cudaFree(sink_);
  cudaFreeHost(clock_);
}

void CacheFlush::enqueue_read(DeviceStream stream) const {
  int device = 0, sms = 0;
  check_cuda(cudaGetDevice(&device), "current device");
  check_cuda(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "SM count");
  smtwin_read_and_clock<<<4 * sms, kThreads, 0, stream_of(stream)>>>(
      static_cast<const uint4*>(buffer_), bytes_ / static_cast<std::int64_t>(sizeof(uint4)), sink_,
      clock_, 0ULL);
  check_launch("the L2 flush");
}

void CacheFlush::enqueue_spin(DeviceStream stream, int microseconds) const {
  smtwin_read_and_clock<<<1, 1, 0, stream_of(stream)>>>(
      static_cast<const uint4*>(buffer_), std::int64_t{0}, sink_, clock_,
      1000ULL * static_cast<unsigned long long>(microseconds));
  check_launch("the spin kernel");
}

double CacheFlush::sm_clock_hz() const {
  const volatile SmClock* clock = clock_;
  const double ns = static_cast<double>(clock->nanoseconds);
  return ns > 0 ? static_cast<double>(clock->clocks) / ns * 1e9 : 0;
}

std::string cuda_compiler() {
  return "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." +
         std::to_string(__CUDACC_VER_MINOR__) + "." + std::to_string(__CUDACC_VER_BUILD__);
}

}  // namespace smtwin
