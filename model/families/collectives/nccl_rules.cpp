// SPDX-License-Identifier: Apache-2.0
#include "model/families/collectives/nccl_rules.hpp"

#include <algorithm>
#include <cmath>

namespace smtwin {
namespace {

// Bandwidths that NCCL assumes (topo.h): 48 GB/s for a PCIe Gen5 x16 slot, whose line carries 16
// lanes x 32 GT/s in 128 of 130 bits, and 22 GB/s between the sockets of a Sapphire Rapids host,
// which is what the measured one switches by. Other slots get the same share of their line rate.
constexpr double kNcclGen5BytesPerS = 48e9;
constexpr double kGen5LineBytesPerS = 16 * 32e9 / 8 * 128 / 130;
constexpr double kPcieShare = kNcclGen5BytesPerS / kGen5LineBytesPerS;
constexpr double kSocketBytesPerS = 22e9;
constexpr int kGpusOfSocket = 4;  // of the measured host: 8 slots, two sockets
// 18 links of 20.6 GB/s on Hopper (topo.h), cut to the speed step of the topology search: 360 of
// 450 GB/s.
constexpr double kNvlinkShare = 0.8;
// Channels of a ring, inferred from rows.
constexpr int kNvlinkChannels = 24;
constexpr int kPcieChannels = 4;
constexpr int kTwoSocketChannels = 2;

// Base and step latencies and efficiencies of tuning.cc.
constexpr double kLlBase_s = 6.6e-6, kLl128Base_s = 14e-6, kSimpleBase_s = 8.4e-6;
constexpr double kLlStepPcie_s = 1.0e-6, kSimpleStepPcie_s = 5.7e-6;
constexpr double kLlStepNvlink_s = 0.6e-6, kLl128StepNvlink_s = 1.9e-6,
                 kSimpleStepNvlink_s = 3.4e-6;
constexpr double kLlShare = 0.5;  // half of an LL line is flags
constexpr double kLl128Share = 0.92;
constexpr double kNvls_s = 25e-6;
constexpr double kNvlsShareHopper = 0.85, kNvlsShareBlackwell = 0.74;
constexpr double kNvlsChannelShare = 15.0 / 16.0;
constexpr int kNvlsGpus = 8;  // fewer never ran NVLS in the rows

constexpr double kLlSendBytes = 16 * 1024;  // to one peer; inferred from rows
constexpr double kLlBytesPerThread = 8;
constexpr int kThreadsPerWarp = 32;
constexpr int kLlThreads = kLlMaxWarps * kThreadsPerWarp;
constexpr double kLlBatchBytes = kLlThreads * kLlBytesPerThread;

// tuning.cc: LL's largest bandwidth inside a host, by architecture (Ampere, Hopper, Blackwell).
double ll_cap_bytes_per_s(const TimingGpu& gpu) {
  if (gpu.compute_capability.major <= 8) return 87.7e9;
  return gpu.hopper() ? 141e9 : 282e9;
}

}  // namespace

NcclTopology nccl_topology(const TimingGpu& gpu, int gpus) {
  if (gpu.nvlink) return {kNvlinkShare * gpu.nvlink_bytes_per_s, kNvlinkChannels};
  const double slot = kPcieShare * gpu.pcie_bytes_per_s;
  if (gpus <= kGpusOfSocket) return {slot, kPcieChannels};
  return {std::min(slot, kSocketBytesPerS), kTwoSocketChannels};
}

int ring_steps(CollectiveOp op, int gpus) {
  return (op == CollectiveOp::all_reduce ? 2 : 1) * (gpus - 1);
}

NcclProtocol nccl_ring_protocol(const TimingGpu& gpu, CollectiveOp op, int gpus, double bytes,
                                bool int8) {
  const double steps = ring_steps(op, gpus);
  const double ring = nccl_topology(gpu, gpus).ring_bytes_per_s;
  // Algorithm bandwidth: bytes of the message per second, not bytes on a link.
  const auto cost = [&](double base_s, double step_s, double link_bytes_per_s) {
    return base_s + steps * step_s + bytes * steps / (gpus * link_bytes_per_s);
  };
  NcclProtocol best = NcclProtocol::simple;
  double least = cost(kSimpleBase_s, gpu.nvlink ? kSimpleStepNvlink_s : kSimpleStepPcie_s, ring);
  const auto offer = [&](NcclProtocol protocol, double estimate_s) {
    if (estimate_s >= least) return;
    least = estimate_s;
    best = protocol;
  };
  if (!gpu.nvlink) {
    offer(NcclProtocol::ll, cost(kLlBase_s, kLlStepPcie_s, kLlShare * ring));
    return best;
  }
  offer(NcclProtocol::ll,
        cost(kLlBase_s, kLlStepNvlink_s, std::min(ll_cap_bytes_per_s(gpu), kLlShare * ring)));
  offer(NcclProtocol::ll128, cost(kLl128Base_s, kLl128StepNvlink_s, kLl128Share * ring));
  // The switch reduces floats only.
  const bool multicast = gpu.compute_capability.major >= 9 && gpus >= kNvlsGpus && !int8;
  if (multicast && op == CollectiveOp::all_reduce) {
    const double share = gpu.hopper() ? kNvlsShareHopper : kNvlsShareBlackwell;
    offer(NcclProtocol::nvls,
          kNvls_s + bytes * steps / (gpus * 2 * share * kNvlsChannelShare * ring));
  }
  return best;
}

NcclProtocol nccl_send_protocol(int gpus, double bytes) {
  return bytes / gpus <= kLlSendBytes ? NcclProtocol::ll : NcclProtocol::simple;
}

LlShape ll_shape(const NcclTopology& topology, int gpus, double bytes) {
  LlShape shape{.channels = topology.channels};
  const double threads = bytes / (kLlBytesPerThread * gpus);  // that have 8 B to carry
  if (threads < static_cast<double>(shape.channels) * kLlThreads) {
    shape.channels = std::max(1, static_cast<int>(threads / kLlThreads));
  }
  int used = kLlThreads;
  while (threads < static_cast<double>(shape.channels) * used && used % 128 == 0) used /= 2;
  shape.warps = std::max(kLlMinWarps, used / kThreadsPerWarp);
  shape.batches = std::max(1.0, std::ceil(bytes / gpus / (kLlBatchBytes * shape.channels)));
  return shape;
}

}  // namespace smtwin
