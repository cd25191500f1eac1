// SPDX-License-Identifier: Apache-2.0
#include "model/families/collectives/collective_constants.hpp"

#include "arch/error.hpp"

namespace smtwin {
namespace {

using C = CollectiveConstants;

double link_bytes_per_s(const TimingGpu& gpu) {
  return gpu.nvlink ? gpu.nvlink_bytes_per_s : gpu.pcie_bytes_per_s;
}

constexpr double kLatencySigma = 0.35, kRateSigma = 0.2, kFactorSigma = 0.35;
constexpr double kLatencySpan = 8, kRateSpan = 4;  // bounds: prior divided by and times

}  // namespace

CollectiveConstantList::CollectiveConstantList(const TimingGpu& gpu) {
  if (link_bytes_per_s(gpu) <= 0) {
    throw DataError(gpu.name +
                    ": no link between its GPUs is known; give it with --set "
                    "pcie_bytes_per_s=BYTES_PER_S or --set nvlink_bytes_per_s=BYTES_PER_S");
  }
  add_rings(gpu);
  add_all_to_all(gpu);
  add_custom_kernels(gpu);
  add_eager();
}

void CollectiveConstantList::add_rings(const TimingGpu& gpu) {
  const double link = link_bytes_per_s(gpu);
  latency(&C::launch_s, "launch_s", 4.8e-6,
          "NCCL rings and all-to-all: launch of the kernel and first flag");
  latency(&C::ll_hop_s, "ll_hop_s", 0.76e-6,
          "NCCL rings and all-to-all: one hop of LL or LL128 to a near GPU");
  latency(&C::ll_warps_s, "ll_warps_s", 0.45e-6,
          "NCCL rings: more per LL hop when all 16 warps of a channel take part");
  latency(&C::ll_batch_s, "ll_batch_s", 0.54e-6,
          "NCCL rings: one more LL batch (4 KiB a channel) to a near GPU");
  latency(&C::simple_launch_s, "simple_launch_s", 13.7e-6,
          "NCCL rings: launch and pipeline start of Simple and LL128");
  latency(&C::simple_hop_s, "simple_hop_s", 2.4e-6,
          "NCCL rings and all-to-all: one hop of Simple to a near GPU");
  factor(&C::own_chunk_share, "own_chunk_share", 0.42, 0.02, 2, 0,
         "NCCL rings: cost of the one chunk operation of a ring that crosses no link");
  rate(&C::ring_rate, "ring_rate", 0.76 * link,
       "NCCL rings: Simple to a near GPU (two-shot on symmetric memory excepted)");
  if (gpu.nvlink) {
    factor(&C::ring_fill_share, "ring_fill_share", 0.2, 0.01, 2, 0,
           "NCCL rings: part of the first Simple or LL128 chunk that overlaps with nothing");
    rate(&C::ll128_rate, "ll128_rate", 0.73 * link,
         "NCCL rings: LL128; also vLLM's two-shot on symmetric memory");
    latency(&C::nvls_launch_s, "nvls_launch_s", 25e-6,
            "NCCL all-reduce: launch of NVLS, 25 us in NCCL's own model");
    factor(&C::nvls_fill_share, "nvls_fill_share", 0.6, 0.02, 3, 0,
           "NCCL all-reduce: part of NVLS's first chunks that overlaps with nothing");
    rate(&C::multimem_rate, "multimem_rate", 0.6 * link,
         "NCCL NVLS and vLLM multimem: message bytes the switch reduces and broadcasts");
    return;
  }
  factor(&C::far_hop_factor, "far_hop_factor", 2.0, 0.9, 8, 1,
         "NCCL rings and all-to-all: hop to a GPU behind another host bridge over one to a near");
  factor(&C::ring_share_4, "ring_share_4", 0.7, 0.1, 1.2, 1,
         "NCCL rings: Simple rate of 3-4 GPUs of one socket over that of 2");
  factor(&C::ring_share_8, "ring_share_8", 0.55, 0.1, 1.2, 1,
         "NCCL rings: Simple rate of more GPUs, on two sockets, over that of 2");
  factor(&C::unregistered_factor, "unregistered_factor", 1.15, 0.9, 2, 1,
         "NCCL rings of nccl-tests and TensorRT-LLM: slowdown of 3-4 GPUs above 6 MiB");
  rate(&C::int8_channel_rate, "int8_channel_rate", 10e9,
       "NCCL reducing int8: bytes one channel adds up, bound when channels are few");
}

void CollectiveConstantList::add_all_to_all(const TimingGpu& gpu) {
  latency(&C::alltoall_peer_s, "alltoall_peer_s", 0.23e-6, "NCCL all-to-all: more per peer");
  rate(&C::alltoall_ll_rate, "alltoall_ll_rate", 6.2e9, "NCCL all-to-all: LL to one peer");
  factor(&C::alltoall_fill_share, "alltoall_fill_share", 0.2, 0.01, 2, 0,
         "NCCL all-to-all: part of the filled FIFOs that overlaps with nothing");
  if (gpu.nvlink) return;  // its rate is that of pushing to all peers
  const double link = link_bytes_per_s(gpu);
  rate(&C::alltoall_ll_link_rate, "alltoall_ll_link_rate", 0.11 * link,
       "NCCL all-to-all: LL to all peers together, up to 4 GPUs");
  factor(&C::alltoall_ll_share_8, "alltoall_ll_share_8", 0.45, 0.05, 1.5, 1,
         "NCCL all-to-all: the same of 8 GPUs on two sockets over that of 4");
  rate(&C::alltoall_rate, "alltoall_rate", 0.46 * link, "NCCL all-to-all: Simple of 2 GPUs");
  factor(&C::alltoall_share_4, "alltoall_share_4", 0.85, 0.1, 1.5, 1,
         "NCCL all-to-all: rate of 3-4 GPUs of one socket over that of 2");
  factor(&C::alltoall_share_8, "alltoall_share_8", 0.62, 0.1, 1.5, 1,
         "NCCL all-to-all: rate of more GPUs, on two sockets, over that of 2");
}

void CollectiveConstantList::add_custom_kernels(const TimingGpu& gpu) {
  const double link = link_bytes_per_s(gpu);
  rate(&C::pull_rate, "pull_rate", 0.645 * link,
       "vLLM one- and two-shot, SGLang two-shot: reading peers' memory");
  latency(&C::one_shot_s, "one_shot_s", 4.5e-6,
          "vLLM one-shot, over PCIe also SGLang's: launch and two barriers");
  if (!gpu.nvlink) return;
  rate(&C::push_rate, "push_rate", 0.7 * link,
       "SGLang and TensorRT-LLM one-shot, NCCL all-to-all: writing to peers");
  latency(&C::two_shot_s, "two_shot_s", 8e-6,
          "vLLM two-shot and symmetric memory: launch and three barriers");
  latency(&C::push_peer_s, "push_peer_s", 0.12e-6,
          "SGLang and TensorRT-LLM one-shot: more per peer");
  latency(&C::sglang_s, "sglang_s", 2.5e-6, "SGLang one- and two-shot: launch of the kernel");
  latency(&C::sglang_two_shot_peer_s, "sglang_two_shot_peer_s", 0.58e-6,
          "SGLang two-shot: barriers with one peer");
  latency(&C::trtllm_one_shot_s, "trtllm_one_shot_s", 2.5e-6,
          "TensorRT-LLM one-shot: launch, no barrier (data carry their flags)");
}

void CollectiveConstantList::add_eager() {
  latency(&C::vllm_host_s, "vllm_host_s", 21e-6, "vLLM outside a graph: host time of one call");
  latency(&C::sglang_host_s, "sglang_host_s", 24e-6,
          "SGLang outside a graph: host time of one one-shot call");
  latency(&C::nccl_host_s, "nccl_host_s", 32e-6,
          "outside a graph: host time of a call that ends in NCCL, symmetric memory or SGLang's "
          "two-shot");
}

void CollectiveConstantList::latency(Member member, const char* name, double prior_s,
                                     const char* meaning) {
  add(member, {.name = name,
               .unit = "s",
               .meaning = meaning,
               .prior = prior_s,
               .log_sigma = kLatencySigma,
               .low = prior_s / kLatencySpan,
               .high = prior_s * kLatencySpan,
               .off = 0});
}

void CollectiveConstantList::factor(Member member, const char* name, double prior, double low,
                                    double high, double off, const char* meaning) {
  add(member, {.name = name,
               .unit = "1",
               .meaning = meaning,
               .prior = prior,
               .log_sigma = kFactorSigma,
               .low = low,
               .high = high,
               .off = off});
}

void CollectiveConstantList::rate(Member member, const char* name, double prior_bytes_per_s,
                                  const char* meaning) {
  add(member, {.name = name,
               .unit = "B/s",
               .meaning = meaning,
               .prior = prior_bytes_per_s,
               .log_sigma = kRateSigma,
               .low = prior_bytes_per_s / kRateSpan,
               .high = prior_bytes_per_s * kRateSpan});
}

void CollectiveConstantList::add(Member member, ConstantSpec spec) {
  members_.push_back(member);
  specs_.push_back(std::move(spec));
}

}  // namespace smtwin
