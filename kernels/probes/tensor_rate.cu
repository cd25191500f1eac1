// SPDX-License-Identifier: Apache-2.0
// mma.sync in a loop: see tensor_rate.hpp. Chain c multiplies its own B fragment with one of two A
// fragments, so that consecutive instructions see different operands, as in a real kernel.
#include "kernels/probes/tensor_rate.hpp"

#include <array>
#include <string>
#include <string_view>
#include <type_traits>

#include "kernels/probes/probe_point.hpp"
#include "kernels/probes/trace.cuh"
#include "kernels/probes/workspace.cuh"

namespace smtwin {
namespace {

constexpr int kMaxWarps = 16;
constexpr int kWarp = 32;
// mma instructions of an SM in one run: some 200 us at the rates of 2022-2025.
constexpr int kMmasPerSm = 220'000;

// Every type has the same fragments: 4 registers of A, 2 of B, 4 of C. Random bits become values
// of magnitude 0.5 to 2 of either sign: `keep` & bits | `set`.
#define SMTWIN_MMA_TYPE(type, instruction, sum, constraint, keep_bits, set_bits, k)     \
  struct Mma_##type {                                                                   \
    using Sum = sum;                                                                    \
    static constexpr unsigned kKeep = keep_bits;                                        \
    static constexpr unsigned kSet = set_bits;                                          \
    static constexpr double kWork = 2.0 * 16 * 8 * k;                                   \
    static constexpr bool kMayConvert = std::is_same_v<Sum, float> && k == 32;          \
    static __device__ __forceinline__ void run(Sum (&c)[4], const unsigned (&a)[4],     \
                                               const unsigned (&b)[2]) {                \
      asm volatile("mma.sync.aligned." instruction                                      \
                   " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"   \
                   : "+" constraint(c[0]), "+" constraint(c[1]), "+" constraint(c[2]),  \
                     "+" constraint(c[3])                                               \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])); \
    }                                                                                   \
  }
SMTWIN_MMA_TYPE(bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f", 0x80ff80ffU, 0x3f003f00U,
                16);
SMTWIN_MMA_TYPE(f16, "m16n8k16.row.col.f32.f16.f16.f32", float, "f", 0x87ff87ffU, 0x38003800U, 16);
SMTWIN_MMA_TYPE(tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f", 0x80ffffffU, 0x3f000000U, 8);
SMTWIN_MMA_TYPE(fp8, "m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f", 0x8f8f8f8fU, 0x30303030U,
                32);
SMTWIN_MMA_TYPE(int8, "m16n8k32.row.col.s32.s8.s8.s32", int, "r", 0xffffffffU, 0U, 32);
#undef SMTWIN_MMA_TYPE

struct TensorWork {
  const unsigned* random = nullptr;
  int iterations = 0;  // of all chains
  unsigned zero = 0;
  unsigned* sink = nullptr;
  CtaTrace* trace = nullptr;
};

template <class Mma, int kChains>
__device__ __forceinline__ void tensor_body(const TensorWork& work) {
  constexpr int kWords = 8 + 2 * kChains;
  const unsigned* mine = work.random + threadIdx.x * kWords + blockIdx.x;
  const auto operand = [&](int i) { return (mine[i] & Mma::kKeep) | Mma::kSet; };
  unsigned a[2][4];
  unsigned b[kChains][2];
#pragma unroll
  for (int i = 0; i < 8; ++i) a[i / 4][i % 4] = operand(i);
#pragma unroll
  for (int i = 0; i < 2 * kChains; ++i) b[i / 2][i % 2] = operand(8 + i);
  typename Mma::Sum c[kChains][4] = {};
  const TraceStart start = trace_start_together();
#pragma unroll 1
  for (int i = 0; i < work.iterations; i += 2) {
    // Where operands must be converted first (FP8 on 9.x), every iteration has to pay for it, as
    // if they had just been loaded: the compiler cannot know that `zero` changes nothing.
    if constexpr (Mma::kMayConvert) {
#pragma unroll
      for (int f = 0; f < 8; ++f) a[f / 4][f % 4] ^= work.zero;
#pragma unroll
      for (int f = 0; f < 2 * kChains; ++f) b[f / 2][f % 2] ^= work.zero;
    }
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) Mma::run(c[chain], a[0], b[chain]);
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) Mma::run(c[chain], a[1], b[chain]);
  }
  typename Mma::Sum sum = 0;
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain)
    sum += c[chain][0] + c[chain][1] + c[chain][2] + c[chain][3];
  work.sink[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<unsigned>(static_cast<int>(sum));
  trace_end(work.trace, start);
}

#define SMTWIN_TENSOR_KERNEL(type, chains)                          \
  extern "C" __global__ void __launch_bounds__(kMaxWarps* kWarp, 1) \
      smtwin_probe_tensor_##type##_c##chains(TensorWork work) {     \
    tensor_body<Mma_##type, chains>(work);                          \
  }
#define SMTWIN_TENSOR_KERNELS(type) \
  SMTWIN_TENSOR_KERNEL(type, 1)     \
  SMTWIN_TENSOR_KERNEL(type, 2)     \
  SMTWIN_TENSOR_KERNEL(type, 4)     \
  SMTWIN_TENSOR_KERNEL(type, 8)
SMTWIN_TENSOR_KERNELS(bf16)
SMTWIN_TENSOR_KERNELS(f16)
SMTWIN_TENSOR_KERNELS(tf32)
SMTWIN_TENSOR_KERNELS(fp8)
SMTWIN_TENSOR_KERNELS(int8)

struct TensorKernel {
  std::string_view type;
  int chains;
  double work_per_mma;
  void (*kernel)(TensorWork);
};
#define SMTWIN_TENSOR_ROW(type, chains) \
  TensorKernel { #type, chains, Mma_##type::kWork, smtwin_probe_tensor_##type##_c##chains }
#define SMTWIN_TENSOR_ROWS(type)                                                      \
  SMTWIN_TENSOR_ROW(type, 1), SMTWIN_TENSOR_ROW(type, 2), SMTWIN_TENSOR_ROW(type, 4), \
      SMTWIN_TENSOR_ROW(type, 8)
constexpr std::array kTensorKernels{SMTWIN_TENSOR_ROWS(bf16), SMTWIN_TENSOR_ROWS(f16),
                                    SMTWIN_TENSOR_ROWS(tf32), SMTWIN_TENSOR_ROWS(fp8),
                                    SMTWIN_TENSOR_ROWS(int8)};

const TensorKernel& kernel_for(const ProbePoint& point, std::string_view type) {
  const std::int64_t chains = whole_parameter(point, "chains");
  for (const TensorKernel& kernel : kTensorKernels) {
    if (kernel.type == type && kernel.chains == chains) return kernel;
  }
  refuse_parameter(point, "chains", "1, 2, 4 or 8");
}

void launch(ProbeWorkspace& workspace, const TensorKernel& kernel, int warps, int iterations,
            CtaTrace* traces) {
  TensorWork work;
  work.random = reinterpret_cast<const unsigned*>(workspace.data.data());
  work.iterations = iterations;
  work.sink = workspace.sink.data();
  work.trace = traces;
  kernel.kernel<<<workspace.gpu.sm_count, warps * kWarp, 0, workspace.stream>>>(work);
  check_launch("probe tensor_" + std::string(kernel.type));
}

}  // namespace

double run_tensor_rate(ProbeWorkspace& workspace, const ProbePoint& point) {
  constexpr std::string_view kPrefix = "tensor_";
  const std::string_view rest = std::string_view(point.probe).substr(kPrefix.size());
  const std::size_t end_of_type = rest.find('_');
  const std::string_view measure =
      end_of_type == std::string_view::npos ? "" : rest.substr(end_of_type);
  const TensorKernel& kernel = kernel_for(point, rest.substr(0, end_of_type));
  const std::int64_t warps = whole_parameter(point, "warps_per_sm");
  if (warps < 1 || warps > kMaxWarps) refuse_parameter(point, "warps_per_sm", "1 to 16");

  // One warp alone issues far less in the same time.
  const double mmas = warps == 1 ? kMmasPerSm / kMaxWarps : kMmasPerSm;
  const int iterations = static_cast<int>(mmas / double(warps * kernel.chains)) / 2 * 2;
  launch(workspace, kernel, static_cast<int>(warps), iterations, workspace.traces.data());
  const CtaTime time = mean_time(fetch_traces(workspace, workspace.gpu.sm_count));
  const double mmas_of_warp = double(iterations) * kernel.chains;
  if (measure == "_latency") return time.cycles / mmas_of_warp;
  const double work_of_sm = mmas_of_warp * double(warps) * kernel.work_per_mma;
  return measure == "_per_cycle" ? work_of_sm / time.cycles
                                 : work_of_sm * workspace.gpu.sm_count / time.seconds;
}

void enqueue_tensor_bf16(ProbeWorkspace& workspace, CtaTrace* traces) {
  constexpr int kLongerThanARate = 8;
  const TensorKernel& kernel = kTensorKernels[3];
  static_assert(kTensorKernels[3].type == "bf16" && kTensorKernels[3].chains == 8);
  launch(workspace, kernel, kMaxWarps,
         kLongerThanARate * kMmasPerSm / (kMaxWarps * kernel.chains) / 2 * 2, traces);
}

}  // namespace smtwin
