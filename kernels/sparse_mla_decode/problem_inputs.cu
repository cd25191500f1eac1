// SPDX-License-Identifier: Apache-2.0
// The device half of a problem's inputs. Every value is a function of the seed and its place, so
// that a thread can draw the values of a group twice: for their largest, and to quantize them.
#include "kernels/sparse_mla_decode/problem_inputs.hpp"

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "kernels/device_check.hpp"
#include "kernels/sparse_mla_decode/config.hpp"
#include "kernels/sparse_mla_decode/reference.hpp"

namespace smtwin {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxCtas = 4096;  // grid-stride loops
constexpr float kQueryDeviation = 2;

__device__ std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Two independent normal values.
__device__ float2 normal_pair(std::uint64_t seed, std::uint64_t place) {
  const std::uint64_t bits = mixed(mixed(seed) ^ place);
  const float u = (static_cast<float>(bits >> 40) + 0.5f) * 0x1p-24f;
  const float v = static_cast<float>(bits & 0xffffff) * 0x1p-24f;
  const float radius = sqrtf(-2 * logf(u));
  float sine, cosine;
  sincospif(2 * v, &sine, &cosine);
  return {radius * cosine, radius * sine};
}

// A thread fills 64 dimensions of a token: an FP8 group and its scale, or the rope part.
__global__ void fill_cache(std::uint8_t* cache, std::int64_t slots, std::int64_t page_size,
                           bool wide_scales, std::uint64_t seed) {
  constexpr int kGroups = kMlaHeadDim / kMlaGroupDims;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < slots * kGroups;
       i += stride) {
    const std::int64_t slot = i / kGroups, in_page = slot % page_size;
    const int group = static_cast<int>(i % kGroups);
    std::uint8_t* page = cache + slot / page_size * page_size * kMlaTokenBytes;
    std::uint8_t* row = page + in_page * kMlaRowBytes;
    std::uint8_t* scales = page + page_size * kMlaRowBytes + in_page * kMlaScaleBytes;
    const std::uint64_t place = static_cast<std::uint64_t>(i) * kMlaGroupDims;
    if (group == kGroups - 1) {
      auto* rope = reinterpret_cast<__nv_bfloat162*>(row + kMlaQuantizedDims);
      for (int pair = 0; pair < kMlaRopeDims / 2; ++pair) {
        rope[pair] = __float22bfloat162_rn(normal_pair(seed, place + pair));
      }
      scales[group] = 0xff;  // padding: must not matter
      continue;
    }
    const std::uint64_t dice = mixed(seed ^ mixed(place));
    float magnitude = exp2f(static_cast<float>(dice % 5) - 2);
    if (wide_scales && mixed(seed + static_cast<std::uint64_t>(slot)) % 64 == 0) {
      magnitude = exp2f(static_cast<float>(dice / 8 % 16));
    }
    float largest = 0;
    for (int pair = 0; pair < kMlaGroupDims / 2; ++pair) {
      const float2 values = normal_pair(seed, place + pair);
      largest = fmaxf(largest, fmaxf(fabsf(values.x), fabsf(values.y)));
    }
    constexpr float kLargestE4m3 = 448;
    const int exponent = static_cast<int>(ceilf(log2f(largest * magnitude / kLargestE4m3)));
    scales[group] = static_cast<std::uint8_t>(exponent + 127);
    const float by = exp2f(static_cast<float>(-exponent)) * magnitude;
    auto* quantized = reinterpret_cast<__nv_fp8x2_storage_t*>(row + group * kMlaGroupDims);
    for (int pair = 0; pair < kMlaGroupDims / 2; ++pair) {
      const float2 values = normal_pair(seed, place + pair);
      quantized[pair] = __nv_cvt_float2_to_fp8x2(make_float2(values.x * by, values.y * by),
                                                 __NV_SATFINITE, __NV_E4M3);
    }
  }
}

__global__ void fill_query(__nv_bfloat162* q, std::int64_t pairs, std::uint64_t seed) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < pairs;
       i += stride) {
    const float2 values = normal_pair(seed, static_cast<std::uint64_t>(i));
    q[i] =
        __float22bfloat162_rn(make_float2(kQueryDeviation * values.x, kQueryDeviation * values.y));
  }
}

__global__ void collect_tokens(std::uint8_t* to, const std::uint8_t* cache,
                               const MlaTokenOffsets* offsets, std::int64_t count) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
       i < count * kMlaTokenBytes; i += stride) {
    const std::int64_t token = i / kMlaTokenBytes, byte = i % kMlaTokenBytes;
    to[i] = byte < kMlaRowBytes ? cache[offsets[token].row + byte]
                                : cache[offsets[token].scales + byte - kMlaRowBytes];
  }
}

int ctas_for(std::int64_t items) {
  const std::int64_t ctas = (items + kThreads - 1) / kThreads;
  return static_cast<int>(ctas < kMaxCtas ? ctas : kMaxCtas);
}

}  // namespace

void fill_sparse_mla_cache(std::uint8_t* cache, const SparseMlaProblemShape& shape,
                           std::uint64_t seed) {
  fill_cache<<<ctas_for(shape.slots()), kThreads>>>(cache, shape.slots(), shape.page_size,
                                                    shape.wide_scales, seed);
  check_launch("fill_cache");
}

void fill_sparse_mla_query(std::uint16_t* q, const SparseMlaProblemShape& shape,
                           std::uint64_t seed) {
  const std::int64_t pairs = shape.batch * shape.heads * kMlaHeadDim / 2;
  fill_query<<<ctas_for(pairs), kThreads>>>(reinterpret_cast<__nv_bfloat162*>(q), pairs,
                                            seed ^ 0x51ull);
  check_launch("fill_query");
}

void collect_sparse_mla_tokens(std::uint8_t* to, const std::uint8_t* cache,
                               const MlaTokenOffsets* offsets, std::int64_t count) {
  collect_tokens<<<ctas_for(count * kMlaTokenBytes), kThreads>>>(to, cache, offsets, count);
  check_launch("collect_tokens");
}

}  // namespace smtwin
