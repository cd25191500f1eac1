// SPDX-License-Identifier: Apache-2.0
// What NCCL decides before it sends a byte, on one host: protocol, channels, warps. It takes the
// smallest of its own estimates
//   cost(p) = base_p + N step_p + S / (bandwidth_p n / N)
// with N ring steps (all-reduce 2 (n-1); all-gather, reduce-scatter n-1), S message bytes, n GPUs,
// then removes channels, then warps, until every thread has work. Constants: NCCL 2.29
// (src/graph/tuning.cc, src/graph/topo.h, src/enqueue.cc). NCCL's estimates are wrong by up to a
// factor of two, so they decide the choice here and never a time.
// Inferred from measured rows, not read in a source: channel counts; no NVLS below 8 GPUs; the size
// up to which a send is LL. Left out: Tree, CollNet and PAT (never chosen on one measured host),
// protocols set by the environment, more than one node, NVLink bridges between pairs of GPUs.
#pragma once

#include "model/families/collectives/collective_question.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

enum class NcclProtocol { ll, ll128, simple, nvls };

// What NCCL's topology search announces for a ring over n GPUs.
struct NcclTopology {
  double ring_bytes_per_s = 0;
  int channels = 0;
};
NcclTopology nccl_topology(const TimingGpu& gpu, int gpus);

int ring_steps(CollectiveOp op, int gpus);  // N; of an all-to-all the n-1 peers

NcclProtocol nccl_ring_protocol(const TimingGpu& gpu, CollectiveOp op, int gpus, double bytes,
                                bool int8);
// Sends and receives, of which an all-to-all consists.
NcclProtocol nccl_send_protocol(int gpus, double bytes);

// An LL ring hands 4 KiB at a time through every channel: 512 threads x 8 B of payload. Small
// messages use fewer warps of one channel, larger ones all 16 warps of more channels, and when all
// channels are in use every step becomes several batches.
struct LlShape {
  int channels = 1;
  int warps = 3;
  double batches = 1;  // of 4 KiB per channel and ring step
};
LlShape ll_shape(const NcclTopology& topology, int gpus, double bytes);

inline constexpr int kLlMinWarps = 3;
inline constexpr int kLlMaxWarps = 16;

}  // namespace smtwin
