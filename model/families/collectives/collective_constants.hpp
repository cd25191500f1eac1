// SPDX-License-Identifier: Apache-2.0
// The constants of all collectives of one GPU and what is known about them before any measurement.
// NCCL rings, NCCL all-to-all and the frameworks' kernels share latencies and rates where the rows
// cannot tell them apart; the meaning of each constant starts with the paths that use it. No path
// and no measured family uses more than 16 of them. Latencies have one prior on every GPU, rates
// are shares of the PCIe or NVLink rate, equal for both links where the rows allow it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/timing/constant_specs.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

// Seconds, bytes per second, factors. An effect that a link does not have keeps a neutral value.
struct CollectiveConstants {
  // NCCL rings
  double launch_s = 0;
  double ll_hop_s = 0;
  double ll_warps_s = 0;
  double ll_batch_s = 0;
  double far_hop_factor = 1;
  double simple_launch_s = 0;
  double simple_hop_s = 0;
  double own_chunk_share = 0;
  double ring_fill_share = 0;
  double ring_rate = 1e12;
  double ring_share_4 = 1;
  double ring_share_8 = 1;
  double unregistered_factor = 1;
  double int8_channel_rate = kNoRate;
  double ll128_rate = 1e12;
  double nvls_launch_s = 0;
  double nvls_fill_share = 0;
  // NCCL all-to-all
  double alltoall_peer_s = 0;
  double alltoall_ll_rate = 1e12;
  double alltoall_ll_link_rate = kNoRate;
  double alltoall_ll_share_8 = 1;
  double alltoall_fill_share = 0;
  double alltoall_rate = 1e12;
  double alltoall_share_4 = 1;
  double alltoall_share_8 = 1;
  // The frameworks' kernels
  double pull_rate = 1e12;
  double push_rate = 1e12;
  double multimem_rate = 1e12;
  double one_shot_s = 0;
  double two_shot_s = 0;
  double push_peer_s = 0;
  double sglang_s = 0;
  double sglang_two_shot_peer_s = 0;
  double trtllm_one_shot_s = 0;
  // Calls outside a graph
  double vllm_host_s = 0;
  double sglang_host_s = 0;
  double nccl_host_s = 0;
};

class CollectiveConstantList {
 public:
  // DataError when no link between the GPUs is known.
  explicit CollectiveConstantList(const TimingGpu& gpu);

  const std::vector<ConstantSpec>& specs() const { return specs_; }
  CollectiveConstants read(std::span<const double> values) const {
    CollectiveConstants c;
    for (std::size_t i = 0; i < members_.size(); ++i) c.*members_[i] = values[i];
    return c;
  }

 private:
  using Member = double CollectiveConstants::*;
  void latency(Member member, const char* name, double prior_s, const char* meaning);
  // A share, or a factor >= 1.
  void factor(Member member, const char* name, double prior, double low, double high, double off,
              const char* meaning);
  void rate(Member member, const char* name, double prior_bytes_per_s, const char* meaning);
  void add_rings(const TimingGpu& gpu);
  void add_all_to_all(const TimingGpu& gpu);
  void add_custom_kernels(const TimingGpu& gpu);
  void add_eager();
  void add(Member member, ConstantSpec spec);

  std::vector<ConstantSpec> specs_;
  std::vector<Member> members_;
};

}  // namespace smtwin
