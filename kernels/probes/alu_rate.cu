// SPDX-License-Identifier: Apache-2.0
// One arithmetic instruction in a loop: see alu_rate.hpp.
#include "kernels/probes/alu_rate.hpp"

#include <array>
#include <string_view>

#include "kernels/probes/probe_point.hpp"
#include "kernels/probes/trace.cuh"
#include "kernels/probes/workspace.cuh"

namespace smtwin {
namespace {

constexpr int kMaxWarps = 32;
constexpr int kWarp = 32;
constexpr int kChains = 8;
constexpr int kUnroll = 16;

struct AluWork {
  const unsigned* random = nullptr;
  int iterations = 0;  // of kUnroll x kChains instructions
  unsigned* sink = nullptr;
  CtaTrace* trace = nullptr;
};

// fma and ex2 keep their values finite and away from zero for any number of steps.
struct Fma {
  static constexpr double kWork = 2;
  float factor = 0;  // magnitude 0.5 to 1, negative
  float addend = 0;  // 0.5 to 1
  __device__ explicit Fma(unsigned bits) {
    factor = -__uint_as_float(0x3f000000U | (bits >> 9));
    addend = __uint_as_float(0x3f000000U | (bits & 0x7fffffU));
  }
  __device__ __forceinline__ void step(unsigned& x) const {
    x = __float_as_uint(fmaf(__uint_as_float(x), factor, addend));
  }
};

struct Ex2 {
  static constexpr double kWork = 1;
  __device__ explicit Ex2(unsigned) {}
  __device__ __forceinline__ void step(unsigned& x) const {
    float y;  // 2^-x: the sign is an operand modifier, not an instruction
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(-__uint_as_float(x)));
    x = __float_as_uint(y);
  }
};

struct CvtE4m3 {
  static constexpr double kWork = 2;
  __device__ explicit CvtE4m3(unsigned) {}
  // The lower half of the result feeds the next step: no instruction between two conversions. Its
  // value is 0 from the third step on.
  __device__ __forceinline__ void step(unsigned& x) const {
    asm volatile("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(x) : "h"(static_cast<unsigned short>(x)));
  }
};

template <class Operation>
__device__ __forceinline__ void alu_body(const AluWork& work) {
  const unsigned* mine = work.random + threadIdx.x * kChains + blockIdx.x;
  const Operation operation(mine[0]);
  unsigned x[kChains];
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) {
    x[chain] = 0x3f000000U | (mine[chain] & 0x7fffffU);  // 0.5 to 1
  }
  const TraceStart start = trace_start_together();
#pragma unroll 1
  for (int i = 0; i < work.iterations; ++i) {
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) {
#pragma unroll
      for (int chain = 0; chain < kChains; ++chain) operation.step(x[chain]);
    }
  }
  unsigned sum = 0;
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) sum ^= x[chain];
  work.sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  trace_end(work.trace, start);
}

#define SMTWIN_ALU_KERNEL(name, operation)                          \
  extern "C" __global__ void __launch_bounds__(kMaxWarps* kWarp, 1) \
      smtwin_probe_##name(AluWork work) {                           \
    alu_body<operation>(work);                                      \
  }
SMTWIN_ALU_KERNEL(fma, Fma)
SMTWIN_ALU_KERNEL(ex2, Ex2)
SMTWIN_ALU_KERNEL(cvt_e4m3, CvtE4m3)
#undef SMTWIN_ALU_KERNEL

struct AluKernel {
  std::string_view name;
  double work_per_lane;
  int instructions_per_sm;  // of warps, in one run: some 200 us
  void (*kernel)(AluWork);
};
constexpr std::array kAluKernels{
    AluKernel{"fma", Fma::kWork, 1'400'000, smtwin_probe_fma},
    AluKernel{"ex2", Ex2::kWork, 200'000, smtwin_probe_ex2},
    AluKernel{"cvt_e4m3", CvtE4m3::kWork, 700'000, smtwin_probe_cvt_e4m3},
};

// `times` as long as the run of a rate; returns the instructions each warp issues.
double launch(ProbeWorkspace& workspace, const AluKernel& kernel, std::int64_t warps, int times,
              CtaTrace* traces) {
  AluWork work;
  work.random = reinterpret_cast<const unsigned*>(workspace.data.data());
  work.iterations =
      static_cast<int>(kernel.instructions_per_sm / (warps * kChains * kUnroll)) * times;
  work.sink = workspace.sink.data();
  work.trace = traces;
  kernel.kernel<<<workspace.gpu.sm_count, static_cast<unsigned>(warps * kWarp), 0,
                  workspace.stream>>>(work);
  check_launch("probe " + std::string(kernel.name));
  return double(work.iterations) * kChains * kUnroll;
}

}  // namespace

double run_alu_rate(ProbeWorkspace& workspace, const ProbePoint& point) {
  const std::int64_t warps = whole_parameter(point, "warps_per_sm");
  if (warps < 1 || warps > kMaxWarps) refuse_parameter(point, "warps_per_sm", "1 to 32");
  constexpr std::string_view kPerCycle = "_per_cycle";
  const bool per_cycle = point.probe.ends_with(kPerCycle);
  const std::string_view name =
      std::string_view(point.probe)
          .substr(0, point.probe.size() - (per_cycle ? kPerCycle.size() : 0));
  const AluKernel* kernel = kAluKernels.data();
  while (kernel->name != name) ++kernel;  // the bench sends only names from the list of points

  const double instructions = launch(workspace, *kernel, warps, 1, workspace.traces.data());
  const CtaTime time = mean_time(fetch_traces(workspace, workspace.gpu.sm_count));
  const double work_of_sm = instructions * double(warps) * kWarp * kernel->work_per_lane;
  return per_cycle ? work_of_sm / time.cycles : work_of_sm * workspace.gpu.sm_count / time.seconds;
}

void enqueue_fma(ProbeWorkspace& workspace, CtaTrace* traces) {
  constexpr int kWarps = 16;
  constexpr int kLongerThanARate = 8;
  launch(workspace, kAluKernels[0], kWarps, kLongerThanARate, traces);
}

}  // namespace smtwin
