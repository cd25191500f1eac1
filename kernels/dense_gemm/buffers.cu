// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense_gemm/buffers.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "arch/error.hpp"
#include "kernels/dense_gemm/reference.hpp"
#include "kernels/device_check.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kCheckedRows = 96;  // of W
constexpr int kFillThreads = 256;
constexpr int kFillCtas = 2048;

__device__ std::uint64_t scrambled(std::uint64_t x) {  // splitmix64
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Four 16-bit pieces of one random word, summed: close to normal, standard deviation 1.
__device__ float normal(std::uint64_t seed, std::uint64_t index) {
  constexpr float kMean = 4 * 32767.5f, kDeviation = 37837.2f;  // sqrt(4 (2^32 - 1) / 12)
  const std::uint64_t r = scrambled(seed ^ scrambled(index));
  const auto sum =
      static_cast<float>((r & 0xFFFF) + (r >> 16 & 0xFFFF) + (r >> 32 & 0xFFFF) + (r >> 48));
  return (sum - kMean) / kDeviation;
}

// Two elements a thread and turn; `count` is even.
__global__ void fill_bf16(std::uint32_t* to, std::int64_t count, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i < count / 2; i += stride) {
    std::uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
        : "=r"(pair)
        : "f"(normal(seed, 2 * i + 1)), "f"(normal(seed, 2 * i)));
    to[i] = pair;
  }
}

__global__ void fill_e4m3(std::uint16_t* to, std::int64_t count, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i < count / 2; i += stride) {
    std::uint16_t pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;"
        : "=h"(pair)
        : "f"(normal(seed, 2 * i + 1)), "f"(normal(seed, 2 * i)));
    to[i] = pair;
  }
}

void fill_random(const DeviceMemory& memory, std::int64_t count, DenseGemmDtype dtype,
                 std::uint64_t seed) {
  if (dtype == DenseGemmDtype::fp8) {
    fill_e4m3<<<kFillCtas, kFillThreads>>>(static_cast<std::uint16_t*>(memory.get()), count, seed);
  } else {
    fill_bf16<<<kFillCtas, kFillThreads>>>(static_cast<std::uint32_t*>(memory.get()), count, seed);
  }
  check_launch("random inputs of a GEMM");
}

std::vector<std::uint8_t> copied(const void* from, std::int64_t bytes) {
  std::vector<std::uint8_t> host(static_cast<std::size_t>(bytes));
  check_cuda(cudaMemcpy(host.data(), from, host.size(), cudaMemcpyDeviceToHost),
             "copy of a GEMM operand to the host");
  return host;
}

DenseGemmShape checked(const DenseGemmShape& shape) {
  if (const auto problem = gemm_shape_problem(shape); !problem.empty()) throw UsageError(problem);
  return shape;
}

}  // namespace

DeviceMemory::DeviceMemory(std::int64_t bytes, const std::string& what)
    : memory_(nullptr, [](void* p) { cudaFree(p); }), bytes_(bytes) {
  void* pointer = nullptr;
  check_cuda(cudaMalloc(&pointer, static_cast<std::size_t>(bytes)),
             what + ", " + std::to_string(bytes) + " bytes");
  memory_.reset(pointer);
}

void DeviceMemory::fill(int byte, DeviceStream stream) {
  check_cuda(cudaMemsetAsync(get(), byte, static_cast<std::size_t>(bytes_),
                             static_cast<cudaStream_t>(stream)),
             "filling device memory");
}

GemmBuffers::GemmBuffers(const DenseGemmShape& shape, std::uint64_t seed)
    : shape_(checked(shape)),
      seed_(seed),
      a_(shape.m * shape.k * element_bytes(shape.dtype), "A of a GEMM"),
      w_(shape.n * shape.k * element_bytes(shape.dtype), "W of a GEMM"),
      d_(shape.m * shape.n * 2, "D of a GEMM"),
      scales_(2 * kScaleDistance * sizeof(float), "scales of a GEMM") {
  std::mt19937_64 random(seed);
  fill_random(a_, shape.m * shape.k, shape.dtype, random());
  fill_random(w_, shape.n * shape.k, shape.dtype, random());
  std::uniform_real_distribution<float> scale(0.25f, 4.0f);
  std::vector<float> scales(2 * kScaleDistance);
  for (float& x : scales) x = scale(random);
  check_cuda(cudaMemcpy(scales_.get(), scales.data(), static_cast<std::size_t>(scales_.bytes()),
                        cudaMemcpyHostToDevice),
             "copy of a GEMM's scales");
  if (shape.dtype == DenseGemmDtype::fp8) {
    scale_ = double{scales[0]} * double{scales[static_cast<std::size_t>(kScaleDistance)]};
  }
}

void GemmBuffers::compute_expected() {
  checked_rows_ = sample_rows(shape_.n, kCheckedRows, seed_);
  GemmOperands in{.a = decode(copied(a(), a_.bytes()), shape_.dtype),
                  .w = {},
                  .m = shape_.m,
                  .rows = static_cast<std::int64_t>(checked_rows_.size()),
                  .k = shape_.k,
                  .scale = scale_};
  const auto bytes = shape_.k * element_bytes(shape_.dtype);
  for (const auto row : checked_rows_) {
    const auto values =
        decode(copied(static_cast<const char*>(w()) + row * bytes, bytes), shape_.dtype);
    in.w.insert(in.w.end(), values.begin(), values.end());
  }
  expected_ = gemm_reference(in);
}

double GemmBuffers::relative_error() {
  check_cuda(cudaDeviceSynchronize(), "waiting for a GEMM");
  if (expected_.empty()) compute_expected();
  const auto all = decode(copied(d(), d_.bytes()), DenseGemmDtype::bf16);
  if (!std::all_of(all.begin(), all.end(), [](double x) { return std::isfinite(x); })) {
    return std::numeric_limits<double>::infinity();
  }
  std::vector<double> out;
  for (std::int64_t i = 0; i < shape_.m; ++i) {
    for (const auto row : checked_rows_) {
      out.push_back(all[static_cast<std::size_t>(i * shape_.n + row)]);
    }
  }
  return smtwin::relative_error(out, expected_);
}

}  // namespace smtwin
