// SPDX-License-Identifier: Apache-2.0
#include "model/families/collectives/collective_plan.hpp"

#include <algorithm>

#include "arch/error.hpp"

namespace smtwin {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

// Send FIFO to one peer: 8 steps of 512 KiB (NCCL's NCCL_P2P_NVL_CHUNKSIZE x NCCL_STEPS).
constexpr double kFifoBytes = 4 * kMiB;
// A ring moves chunks of 4 of the 8 steps of a 4 MiB buffer, per channel (NCCL's
// ALLREDUCE_CHUNKSTEPS).
constexpr double kRingChunkBytes = 2 * kMiB;
// NVLS: 16 channels x 8 GPUs x chunks of 128 KiB (NCCL's NCCL_NVLS_CHUNKSIZE).
constexpr double kNvlsFirstChunksBytes = 16 * kMiB;
// Size above which rings without registered buffers measured slower with 4 GPUs; cause not known.
constexpr double kUnregisteredBytes = 6 * kMiB;
// TensorRT-LLM's one-shot rotates three buffers, each with room for the messages of all GPUs.
constexpr double kRotatedBuffers = 3;
// Every byte of a message that leaves the L2 is written, read, cleared and evicted once.
constexpr double kSpillTraffic = 4;
// Of the L2 that the buffers can fill; set on TensorRT-LLM's NVLink rows (H200), the only ones
// where they outgrow it.
constexpr double kUsableL2Share = 0.7;

// Share of a working set that the L2 no longer holds.
double spilled_share(double working_set_bytes, double l2_bytes) {
  const double r = working_set_bytes / (kUsableL2Share * l2_bytes);
  const double r4 = r * r * r * r;
  return r4 / (1 + r4);
}

LinkClass link_class(const TimingGpu& gpu, int gpus) {
  if (gpu.nvlink || gpus <= 2) return LinkClass::near;
  return gpus <= 4 ? LinkClass::socket : LinkClass::two_sockets;
}

CollectivePath path_of(AllReduceKernel kernel) {
  switch (kernel) {
    case AllReduceKernel::nccl:
      return CollectivePath::none;
    case AllReduceKernel::one_shot_push:
      return CollectivePath::one_shot_push;
    case AllReduceKernel::one_shot_pull:
      return CollectivePath::one_shot_pull;
    case AllReduceKernel::two_shot:
      return CollectivePath::two_shot;
    case AllReduceKernel::symmetric_two_shot:
      return CollectivePath::symmetric_two_shot;
    case AllReduceKernel::symmetric_multimem:
      return CollectivePath::symmetric_multimem;
  }
  return CollectivePath::none;
}

CollectivePath path_of(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::ll:
      return CollectivePath::ll_ring;
    case NcclProtocol::ll128:
      return CollectivePath::ll128_ring;
    case NcclProtocol::simple:
      return CollectivePath::simple_ring;
    case NcclProtocol::nvls:
      return CollectivePath::nvls;
  }
  return CollectivePath::none;
}

void plan_nccl(const TimingGpu& gpu, const CollectiveQuestion& q, CollectivePlan& plan) {
  if (q.op == CollectiveOp::all_to_all) {
    plan.path = nccl_send_protocol(q.gpus, q.bytes) == NcclProtocol::ll
                    ? CollectivePath::ll_alltoall
                    : CollectivePath::simple_alltoall;
    plan.fill_bytes = std::min(plan.sent_bytes, kFifoBytes * (gpu.nvlink ? q.gpus : 1));
    return;
  }
  const NcclTopology topology = nccl_topology(gpu, q.gpus);
  plan.path = path_of(nccl_ring_protocol(gpu, q.op, q.gpus, q.bytes, q.int8));
  plan.ll = ll_shape(topology, q.gpus, q.bytes);
  plan.channels = topology.channels;
  plan.fill_bytes = plan.path == CollectivePath::nvls
                        ? std::min(q.bytes, kNvlsFirstChunksBytes)
                        : std::min(plan.chunk_bytes, kRingChunkBytes * plan.channels);
  if (q.int8 && q.op != CollectiveOp::all_gather) {
    plan.int8_added_bytes = plan.peers * plan.chunk_bytes;
  }
  plan.unregistered =
      plan.link == LinkClass::socket && q.bytes > kUnregisteredBytes &&
      (q.provider == CollectiveLibrary::nccl || q.provider == CollectiveLibrary::trtllm);
}

}  // namespace

CollectivePlan collective_plan(const TimingGpu& gpu, const CollectiveQuestion& q) {
  if (q.gpus < 1 || !(q.bytes >= 1)) {
    throw DataError(std::string(to_string(q.op)) + " of " + std::to_string(q.bytes) + " bytes on " +
                    std::to_string(q.gpus) + " GPUs: expected at least 1 byte and 1 GPU");
  }
  CollectivePlan plan{.provider = q.provider, .nvlink = gpu.nvlink};
  if (q.gpus == 1) return plan;
  plan.link = link_class(gpu, q.gpus);
  plan.peers = q.gpus - 1;
  plan.steps = ring_steps(q.op, q.gpus);
  plan.message_bytes = q.bytes;
  plan.chunk_bytes = q.bytes / q.gpus;
  plan.sent_bytes = plan.chunk_bytes * plan.steps;
  const AllReduceKernel kernel = q.op == CollectiveOp::all_reduce
                                     ? all_reduce_kernel(gpu, q.provider, q.gpus, q.bytes)
                                     : AllReduceKernel::nccl;
  plan.path = path_of(kernel);
  plan.mapped_memory = on_mapped_memory(kernel);
  if (kernel == AllReduceKernel::nccl) plan_nccl(gpu, q, plan);
  if (q.provider == CollectiveLibrary::trtllm && plan.mapped_memory) {
    plan.spilled_bytes =
        kSpillTraffic * q.bytes * spilled_share(kRotatedBuffers * q.gpus * q.bytes, gpu.l2_bytes);
  }
  plan.eager = q.launch == CollectiveLaunch::eager;
  if (plan.eager) plan.copies = (plan.mapped_memory ? 1 : 0) + (q.clones_input ? 1 : 0);
  return plan;
}

std::string path_text(const CollectivePlan& plan) {
  const std::string library(to_string(plan.provider));
  switch (plan.path) {
    case CollectivePath::none:
      return "nothing to exchange";
    case CollectivePath::ll_ring:
      return "NCCL LL ring, " + std::to_string(plan.ll.channels) +
             (plan.ll.channels == 1 ? " channel" : " channels");
    case CollectivePath::ll128_ring:
      return "NCCL LL128 ring";
    case CollectivePath::simple_ring:
      return "NCCL Simple ring";
    case CollectivePath::nvls:
      return "NCCL NVLS";
    case CollectivePath::ll_alltoall:
      return "NCCL LL sends";
    case CollectivePath::simple_alltoall:
      return "NCCL Simple sends";
    case CollectivePath::one_shot_push:
    case CollectivePath::one_shot_pull:
      return library + " one-shot";
    case CollectivePath::two_shot:
      return library + " two-shot";
    case CollectivePath::symmetric_two_shot:
      return library + " symmetric memory, two-shot";
    case CollectivePath::symmetric_multimem:
      return library + " symmetric memory, multimem";
  }
  return "?";
}

}  // namespace smtwin
