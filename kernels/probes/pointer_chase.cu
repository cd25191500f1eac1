// SPDX-License-Identifier: Apache-2.0
// Chains of pointers: see pointer_chase.hpp. A node holds the address of the next, so that a load
// and nothing else lies between two loads.
#include "kernels/probes/pointer_chase.hpp"

#include "arch/error.hpp"
#include "kernels/kernel_resources.hpp"
#include "kernels/probes/probe_point.hpp"
#include "kernels/probes/trace.cuh"
#include "kernels/probes/workspace.cuh"

namespace smtwin {
namespace {

constexpr int kUnroll = 16;
constexpr int kHops = 4096;                   // timed
constexpr std::int64_t kWalkedBefore = 8192;  // nodes: chains up to here are walked once
constexpr std::int64_t kLineBytes = 128;
constexpr std::int64_t kFlushBytes = 512LL << 20;

// A bijection of [0, 2^bits): odd multipliers and right shifts can both be undone.
__device__ __forceinline__ unsigned scramble(unsigned x, unsigned bits) {
  const unsigned mask = (1U << bits) - 1;
  const unsigned shift = (bits + 1) / 2;
  x = (x * 0x9e3779b1U) & mask;
  x ^= x >> shift;
  x = (x * 0x85ebca6bU + 0x3c6ef372U) & mask;
  x ^= x >> shift;
  x = (x * 0xc2b2ae35U) & mask;
  return x ^ (x >> shift);
}

// Place of the i-th node of the walk: outside [0, nodes) the bijection is applied again.
__device__ __forceinline__ unsigned place(unsigned i, unsigned nodes, unsigned bits) {
  do {
    i = scramble(i, bits);
  } while (i >= nodes);
  return i;
}

extern "C" __global__ void smtwin_probe_chase_lay(unsigned char* base, unsigned nodes,
                                                  unsigned bits, long long stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nodes) return;
  unsigned char* next = base + place(i + 1 == nodes ? 0 : i + 1, nodes, bits) * stride;
  *reinterpret_cast<unsigned char**>(base + place(i, nodes, bits) * stride) = next;
}

extern "C" __global__ void smtwin_probe_chase_touch(const uint4* data, std::int64_t count,
                                                    unsigned* sink) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (std::int64_t i = first; i < count; i += stride) sum ^= __ldcg(data + i).x;
  sink[first] = sum;
}

template <bool kInL1>
__device__ __forceinline__ unsigned long long follow(unsigned long long node) {
  unsigned long long next;
  if constexpr (kInL1) {
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(node) : "memory");
  } else {
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(node) : "memory");
  }
  return next;
}

// `state`: cycles of the timed hops, and where the walk stands; the next repetition goes on there.
struct ChaseState {
  unsigned long long cycles;
  unsigned long long node;
};

template <bool kInL1>
__device__ __forceinline__ void chase_body(int hops_before, int hops, ChaseState* state) {
  unsigned long long node = state->node;
  for (int i = 0; i < hops_before; ++i) node = follow<kInL1>(node);
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < hops; i += kUnroll) {
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) node = follow<kInL1>(node);
  }
  // The end needs the last node, or it would be read while that load is on its way.
  const long long end = clock64() + (node == 0 ? 1 : 0);
  state->cycles = end - start;
  state->node = node;
}

extern "C" __global__ void smtwin_probe_chase_l1(int before, int hops, ChaseState* state) {
  chase_body<true>(before, hops, state);
}
extern "C" __global__ void smtwin_probe_chase_l2(int before, int hops, ChaseState* state) {
  chase_body<false>(before, hops, state);
}

extern "C" __global__ void smtwin_probe_chase_shared(int nodes, int hops, ChaseState* state) {
  extern __shared__ unsigned chain[];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(chain));
  constexpr int kStep = 33;  // words; odd, so that a round visits every word
  for (int i = 0; i < nodes; ++i) chain[i] = base + 4 * ((i + kStep) % nodes);
  unsigned node = base;
  const auto hop = [&] { asm volatile("ld.shared.u32 %0, [%0];" : "+r"(node)::"memory"); };
  hop();
  const long long start = clock64();
#pragma unroll 1
  for (int i = 0; i < hops; i += kUnroll) {
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) hop();
  }
  const long long end = clock64() + (node == 0 ? 1 : 0);
  state->cycles = end - start;
  state->node = node;
}

void touch(ProbeWorkspace& workspace, const void* data, std::int64_t bytes) {
  smtwin_probe_chase_touch<<<workspace.gpu.sm_count * 4, 512, 0, workspace.stream>>>(
      static_cast<const uint4*>(data), bytes / static_cast<std::int64_t>(sizeof(uint4)),
      workspace.sink.data());
  check_launch("smtwin_probe_chase_touch");
}

void lay_chain(ProbeWorkspace& workspace, std::int64_t nodes, std::int64_t stride,
               ChaseState* state) {
  if (workspace.laid.nodes == nodes && workspace.laid.stride_bytes == stride) return;
  unsigned bits = 1;
  while ((std::int64_t{1} << bits) < nodes) ++bits;
  constexpr int kThreads = 256;
  const auto grid = static_cast<unsigned>((nodes + kThreads - 1) / kThreads);
  smtwin_probe_chase_lay<<<grid, kThreads, 0, workspace.stream>>>(
      workspace.chain.data(), static_cast<unsigned>(nodes), bits, stride);
  check_launch("smtwin_probe_chase_lay");
  const ChaseState fresh{0, reinterpret_cast<unsigned long long>(workspace.chain.data())};
  check_cuda(
      cudaMemcpyAsync(state, &fresh, sizeof(fresh), cudaMemcpyHostToDevice, workspace.stream),
      "probes: starting a chain");
  workspace.laid = {nodes, stride};
}

double cycles_per_hop(ProbeWorkspace& workspace, const ChaseState* state) {
  ChaseState read{};
  check_cuda(cudaMemcpyAsync(&read, state, sizeof(read), cudaMemcpyDeviceToHost, workspace.stream),
             "probes: reading a chain's cycles");
  check_cuda(cudaStreamSynchronize(workspace.stream), "probes: waiting for a pointer chase");
  return double(read.cycles) / kHops;
}

void set_carveout(int percent) {
  check_cuda(cudaFuncSetAttribute(smtwin_probe_chase_l1,
                                  cudaFuncAttributePreferredSharedMemoryCarveout, percent),
             "probes: setting a carveout");
}

}  // namespace

double run_pointer_chase(ProbeWorkspace& workspace, const ProbePoint& point) {
  auto* state = reinterpret_cast<ChaseState*>(workspace.answer.data());
  const std::int64_t bytes = whole_parameter(point, "working_set_bytes");
  if (point.probe == "latency_shared") {
    if (bytes < 1024 || bytes > 48 * 1024) {
      refuse_parameter(point, "working_set_bytes", "1 to 48 KiB");
    }
    smtwin_probe_chase_shared<<<1, 1, bytes, workspace.stream>>>(static_cast<int>(bytes / 4), kHops,
                                                                 state + 1);
    check_launch("smtwin_probe_chase_shared");
    return cycles_per_hop(workspace, state + 1);
  }
  const bool carveout = point.probe == "l1_carveout";
  const bool in_l1 = carveout || whole_parameter(point, "cached_in_l1") != 0;
  const bool flushed = !carveout && whole_parameter(point, "l2_flushed") != 0;
  const std::int64_t stride = carveout ? kLineBytes : whole_parameter(point, "stride_bytes");
  if (stride < 8 || stride % 8 != 0) refuse_parameter(point, "stride_bytes", "a multiple of 8");
  const std::int64_t nodes = bytes / stride;
  if (nodes < 2 || bytes > workspace.chain.count()) {
    refuse_parameter(point, "working_set_bytes", "two strides to 2 GiB");
  }

  lay_chain(workspace, nodes, stride, state);
  const bool walk_before = !flushed && nodes <= kWalkedBefore;
  if (flushed) {
    touch(workspace, workspace.data.data(), kFlushBytes);
  } else if (!walk_before) {
    touch(workspace, workspace.chain.data(), bytes);
  }
  const int before = walk_before ? static_cast<int>(nodes) : 0;
  if (carveout) set_carveout(static_cast<int>(whole_parameter(point, "carveout_percent")));
  const auto kernel = in_l1 ? smtwin_probe_chase_l1 : smtwin_probe_chase_l2;
  kernel<<<1, 1, 0, workspace.stream>>>(before, kHops, state);
  check_launch("probe " + point.probe);
  const double cycles = cycles_per_hop(workspace, state);
  if (carveout) set_carveout(kCarveoutDefault);
  return cycles;
}

}  // namespace smtwin
