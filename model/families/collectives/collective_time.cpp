// SPDX-License-Identifier: Apache-2.0
#include "model/families/collectives/collective_time.hpp"

#include <algorithm>
#include "model/timing/norms.hpp"

namespace smtwin {
namespace {

// Read and write of a device copy: 1404 GB/s of 1597 and 4250 of 4800 (eager minus graph rows of
// 0.5 and 1 GiB), the same share of the datasheet rate on both GPUs.
constexpr double kCopyShareOfDram = 0.885;

// The kinds of time of one path, kept apart for the explanation; they add up.
struct Terms {
  double launch_s = 0;
  double latency_s = 0;
  double link_s = 0;
  double compute_s = 0;
  double dram_s = 0;
  double total() const { return launch_s + latency_s + link_s + compute_s + dram_s; }
};

double far_factor(const CollectivePlan& p, const CollectiveConstants& c) {
  return p.link == LinkClass::near ? 1.0 : c.far_hop_factor;
}

double share(LinkClass link, double of_socket, double of_two_sockets) {
  if (link == LinkClass::near) return 1;
  return link == LinkClass::socket ? of_socket : of_two_sockets;
}

// Adding int8 values and sending them overlap, the slower of both decides: x^6 norm of the two
// times per byte, minus the time of the link alone.
double int8_addition_s(const CollectivePlan& p, double ring_rate, const CollectiveConstants& c) {
  if (p.int8_added_bytes == 0) return 0;
  const double link_over_add = ring_rate / (c.int8_channel_rate * p.channels);
  return p.int8_added_bytes / ring_rate * (norm6(1, link_over_add) - 1);
}

Terms ring(const CollectivePlan& p, const CollectiveConstants& c) {
  const double far = far_factor(p, c);
  const double crossed =
      p.sent_bytes + c.own_chunk_share * p.chunk_bytes + c.ring_fill_share * p.fill_bytes;
  if (p.path == CollectivePath::ll_ring) {
    const double warps =
        static_cast<double>(p.ll.warps - kLlMinWarps) / (kLlMaxWarps - kLlMinWarps);
    return {.launch_s = c.launch_s,
            .latency_s = p.steps * (c.ll_hop_s * far + c.ll_warps_s * warps),
            .link_s = (p.steps + 1) * (p.ll.batches - 1) * c.ll_batch_s * far};
  }
  if (p.path == CollectivePath::ll128_ring) {
    return {.launch_s = c.simple_launch_s,
            .latency_s = p.steps * c.ll_hop_s,
            .link_s = crossed / c.ll128_rate};
  }
  const double rate = c.ring_rate * share(p.link, c.ring_share_4, c.ring_share_8) /
                      (p.unregistered ? c.unregistered_factor : 1.0);
  return {.launch_s = c.simple_launch_s,
          .latency_s = p.steps * c.simple_hop_s * far,
          .link_s = crossed / rate,
          .compute_s = int8_addition_s(p, rate, c)};
}

Terms all_to_all(const CollectivePlan& p, const CollectiveConstants& c) {
  const double far = far_factor(p, c);
  if (p.path == CollectivePath::ll_alltoall) {
    const double all =
        c.alltoall_ll_link_rate * (p.link == LinkClass::two_sockets ? c.alltoall_ll_share_8 : 1.0);
    return {.launch_s = c.launch_s,
            .latency_s = 2 * c.ll_hop_s * far + p.peers * c.alltoall_peer_s,
            .link_s = std::max(p.chunk_bytes / c.alltoall_ll_rate, p.sent_bytes / all)};
  }
  const double rate = p.nvlink
                          ? c.push_rate
                          : c.alltoall_rate * share(p.link, c.alltoall_share_4, c.alltoall_share_8);
  return {.launch_s = c.launch_s,
          .latency_s = 2 * c.simple_hop_s * far + p.peers * c.alltoall_peer_s,
          .link_s = (p.sent_bytes + c.alltoall_fill_share * p.fill_bytes) / rate};
}

Terms one_shot(const CollectivePlan& p, const CollectiveConstants& c, double copy_rate) {
  const double received = p.peers * p.message_bytes;
  if (p.provider == CollectiveLibrary::vllm || !p.nvlink) {
    return {.launch_s = c.one_shot_s, .link_s = received / c.pull_rate};
  }
  Terms t{.latency_s = p.peers * c.push_peer_s, .link_s = received / c.push_rate};
  const bool trtllm = p.provider == CollectiveLibrary::trtllm;
  t.launch_s = trtllm ? c.trtllm_one_shot_s : c.sglang_s;
  t.dram_s = p.spilled_bytes / copy_rate;
  return t;
}

Terms two_shot(const CollectivePlan& p, const CollectiveConstants& c) {
  const double link_s = p.sent_bytes / c.pull_rate;
  if (p.provider == CollectiveLibrary::vllm) return {.launch_s = c.two_shot_s, .link_s = link_s};
  return {
      .launch_s = c.sglang_s, .latency_s = p.peers * c.sglang_two_shot_peer_s, .link_s = link_s};
}

Terms symmetric(const CollectivePlan& p, const CollectiveConstants& c, double copy_rate) {
  const double link_s = p.path == CollectivePath::symmetric_multimem
                            ? p.message_bytes / c.multimem_rate
                            : p.sent_bytes / c.ll128_rate;
  return {.launch_s = c.two_shot_s, .link_s = link_s, .dram_s = 4 * p.message_bytes / copy_rate};
}

Terms kernel_terms(const CollectivePlan& p, const CollectiveConstants& c, double copy_rate) {
  switch (p.path) {
    case CollectivePath::none:
      return {};
    case CollectivePath::ll_ring:
    case CollectivePath::ll128_ring:
    case CollectivePath::simple_ring:
      return ring(p, c);
    case CollectivePath::nvls:
      return {.launch_s = c.nvls_launch_s,
              .link_s = (p.message_bytes + c.nvls_fill_share * p.fill_bytes) / c.multimem_rate};
    case CollectivePath::ll_alltoall:
    case CollectivePath::simple_alltoall:
      return all_to_all(p, c);
    case CollectivePath::one_shot_push:
    case CollectivePath::one_shot_pull:
      return one_shot(p, c, copy_rate);
    case CollectivePath::two_shot:
      return two_shot(p, c);
    case CollectivePath::symmetric_two_shot:
    case CollectivePath::symmetric_multimem:
      return symmetric(p, c, copy_rate);
  }
  return {};
}

double host_s(const CollectivePlan& p, const CollectiveConstants& c) {
  if (p.provider == CollectiveLibrary::vllm && p.mapped_memory) return c.vllm_host_s;
  // SGLang launches its push kernel, and over PCIe its only one, with less host work than others.
  const bool light = p.path == CollectivePath::one_shot_push || !p.nvlink;
  if (p.provider == CollectiveLibrary::sglang && p.mapped_memory && light) return c.sglang_host_s;
  return c.nccl_host_s;
}

Terms device_terms(const CollectivePlan& p, const CollectiveConstants& c, double copy_rate) {
  Terms t = kernel_terms(p, c, copy_rate);
  t.dram_s += p.copies * 2 * p.message_bytes / copy_rate;
  return t;
}

}  // namespace

double CollectiveTimeModel::seconds(const CollectivePlan& plan,
                                    std::span<const double> values) const {
  if (plan.path == CollectivePath::none) return 0;
  const CollectiveConstants c = list_.read(values);
  const double device_s = device_terms(plan, c, kCopyShareOfDram * gpu_.dram_bytes_per_s).total();
  // Host and device work side by side: the slower decides, with a smooth change between them.
  return plan.eager ? norm8(device_s, host_s(plan, c)) : device_s;
}

TimeParts CollectiveTimeModel::parts(const CollectivePlan& plan,
                                     std::span<const double> values) const {
  TimeParts out;
  out.choice = path_text(plan);
  if (plan.path == CollectivePath::none) return out;
  const CollectiveConstants c = list_.read(values);
  const Terms t = device_terms(plan, c, kCopyShareOfDram * gpu_.dram_bytes_per_s);
  out.seconds = seconds(plan, values);
  out[Regime::launch] = plan.eager ? std::max(t.launch_s, host_s(plan, c)) : t.launch_s;
  out[Regime::latency] = t.latency_s;
  out[Regime::link] = t.link_s;
  out[Regime::compute] = t.compute_s;
  out[Regime::dram] = t.dram_s;
  return out;
}

}  // namespace smtwin
