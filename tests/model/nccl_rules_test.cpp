// SPDX-License-Identifier: Apache-2.0
#include "model/families/collectives/nccl_rules.hpp"

#include "tests/catch.hpp"

namespace smtwin {
namespace {

using Op = CollectiveOp;

TimingGpu pcie_card() {
  TimingGpu gpu;
  gpu.compute_capability = {12, 0};
  gpu.pcie_bytes_per_s = 63.015384615e9;
  return gpu;
}

TimingGpu hopper() {
  TimingGpu gpu;
  gpu.compute_capability = {9, 0};
  gpu.nvlink = true;
  gpu.nvlink_bytes_per_s = 450e9;
  return gpu;
}

NcclProtocol all_reduce(const TimingGpu& gpu, int gpus, double bytes, bool int8 = false) {
  return nccl_ring_protocol(gpu, Op::all_reduce, gpus, bytes, int8);
}

TEST_CASE("a ring of four PCIe GPUs changes to Simple at 960 kB") {
  // N = 6, link 48 GB/s.  LL      6.6 + 6 x 1.0 us + 1.5 S / 24 GB/s
  //                       Simple  8.4 + 6 x 5.7 us + 1.5 S / 48 GB/s
  // 42.6 - 12.6 = 30 us = 1.5 S / 48 GB/s, S = 960,000 B.
  CHECK(all_reduce(pcie_card(), 4, 959e3) == NcclProtocol::ll);
  CHECK(all_reduce(pcie_card(), 4, 961e3) == NcclProtocol::simple);
}

TEST_CASE("over two sockets the ring is slower and LL ends earlier") {
  // N = 14, link 22 GB/s: 88.2 - 20.6 = 67.6 us = 1.75 S / 22 GB/s, S = 849,829 B.
  CHECK(all_reduce(pcie_card(), 8, 849e3) == NcclProtocol::ll);
  CHECK(all_reduce(pcie_card(), 8, 851e3) == NcclProtocol::simple);
}

TEST_CASE("a ring of four Hopper GPUs goes from LL to LL128 to Simple") {
  // N = 6, link 360 GB/s.  LL 10.2 us + 1.5 S / 141;  LL128 25.4 us + 1.5 S / 331.2;
  // Simple 28.8 us + 1.5 S / 360 GB/s.
  // LL = LL128: 15.2 us = 1.5 S x 4.0729e-12 s/B, S = 2.488 MB.
  // LL128 = Simple: 3.4 us = 1.5 S x 0.24155e-12 s/B, S = 9.384 MB.
  CHECK(all_reduce(hopper(), 4, 2.47e6) == NcclProtocol::ll);
  CHECK(all_reduce(hopper(), 4, 2.50e6) == NcclProtocol::ll128);
  CHECK(all_reduce(hopper(), 4, 9.37e6) == NcclProtocol::ll128);
  CHECK(all_reduce(hopper(), 4, 9.40e6) == NcclProtocol::simple);
}

TEST_CASE("eight Hopper GPUs reduce floats in the switch") {
  // N = 14.  LL 15 us + 1.75 S / 141;  NVLS 25 us + 1.75 S / (2 x 0.85 x 15/16 x 360 = 573.75).
  // 10 us = 1.75 S x 5.3493e-12 s/B, S = 1.0682 MB.
  CHECK(all_reduce(hopper(), 8, 1.06e6) == NcclProtocol::ll);
  CHECK(all_reduce(hopper(), 8, 1.08e6) == NcclProtocol::nvls);
  CHECK(all_reduce(hopper(), 8, 1.08e6, true) == NcclProtocol::ll);
  CHECK(nccl_ring_protocol(hopper(), Op::all_gather, 8, 1.08e6, false) == NcclProtocol::ll);
}

TEST_CASE("a send is LL up to 16 KiB to each peer") {
  CHECK(nccl_send_protocol(8, 8 * 16384) == NcclProtocol::ll);
  CHECK(nccl_send_protocol(8, 8 * 16384 + 8) == NcclProtocol::simple);
}

TEST_CASE("a ring's steps") {
  CHECK(ring_steps(Op::all_reduce, 8) == 14);
  CHECK(ring_steps(Op::reduce_scatter, 8) == 7);
}

TEST_CASE("small LL messages use few warps, larger ones all channels, then batches") {
  const NcclTopology four_channels{48e9, 4};
  // 4 GPUs: S / (8 x 4) threads have work.
  // 1024 B: 32 threads; 512 -> 256 -> 128 -> 64 and no further, at least 3 warps.
  CHECK(ll_shape(four_channels, 4, 1024).warps == 3);
  // 4096 B: 128 threads = 4 warps of one channel.
  CHECK(ll_shape(four_channels, 4, 4096).warps == 4);
  CHECK(ll_shape(four_channels, 4, 4096).channels == 1);
  // 64 KiB: 2048 threads = 4 channels x 512, one batch of 4 KiB each.
  const LlShape full = ll_shape(four_channels, 4, 65536);
  CHECK(full.warps == 16);
  CHECK(full.channels == 4);
  CHECK(full.batches == 1);
  // 70,000 B: 17,500 B a step, 4,375 B a channel: a second batch, mostly empty.
  CHECK(ll_shape(four_channels, 4, 70000).batches == 2);
  // 48 KiB: 1536 threads, 3 channels.
  CHECK(ll_shape(four_channels, 4, 49152).channels == 3);
}

TEST_CASE("a larger LL message never uses fewer channels or warps", "[property]") {
  const NcclTopology topology = nccl_topology(hopper(), 8);
  LlShape before;
  for (double bytes = 8; bytes < 1e8; bytes *= 1.07) {
    const LlShape now = ll_shape(topology, 8, bytes);
    CHECK(now.channels >= before.channels);
    CHECK(now.warps >= before.warps);
    CHECK(now.channels <= topology.channels);
    before = now;
  }
}

TEST_CASE("announced bandwidth follows the link", "[property]") {
  TimingGpu gen4 = pcie_card();
  gen4.pcie_bytes_per_s /= 2;
  CHECK(nccl_topology(gen4, 2).ring_bytes_per_s == Approx(24e9));
  CHECK(nccl_topology(pcie_card(), 8).ring_bytes_per_s == Approx(22e9));
  CHECK(nccl_topology(hopper(), 8).ring_bytes_per_s == Approx(360e9));
}

}  // namespace
}  // namespace smtwin
