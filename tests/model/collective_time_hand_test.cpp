// SPDX-License-Identifier: Apache-2.0
// One hand calculation a path, and what must hold for all of them.
#include "model/families/collectives/collective_time.hpp"

#include <cmath>
#include <map>
#include <string>

#include "arch/error.hpp"
#include "tests/catch.hpp"

namespace smtwin {
namespace {

using Op = CollectiveOp;
using Library = CollectiveLibrary;

TimingGpu pcie_card() {
  TimingGpu gpu;
  gpu.name = "card";
  gpu.compute_capability = {12, 0};
  gpu.pcie_bytes_per_s = 63.015384615e9;
  gpu.dram_bytes_per_s = 1.6e12;
  gpu.l2_bytes = 128e6;
  return gpu;
}

TimingGpu hopper() {
  TimingGpu gpu = pcie_card();
  gpu.compute_capability = {9, 0};
  gpu.nvlink = true;
  gpu.nvlink_bytes_per_s = 450e9;
  gpu.dram_bytes_per_s = 4.8e12;
  gpu.l2_bytes = 60e6;
  return gpu;
}

// Priors, except for what a test sets.
std::vector<double> values(const CollectiveTimeModel& model,
                           const std::map<std::string, double>& set) {
  std::vector<double> out;
  std::size_t found = 0;
  for (const ConstantSpec& spec : model.constants()) {
    const auto given = set.find(spec.name);
    found += given != set.end() ? 1 : 0;
    out.push_back(given != set.end() ? given->second : spec.prior);
  }
  REQUIRE(found == set.size());
  return out;
}

const std::map<std::string, double> kCard = {
    {"launch_s", 5e-6},           {"ll_hop_s", 0.7e-6},    {"ll_warps_s", 0.4e-6},
    {"ll_batch_s", 0.5e-6},       {"far_hop_factor", 2},   {"simple_launch_s", 13e-6},
    {"simple_hop_s", 2e-6},       {"own_chunk_share", .5}, {"ring_rate", 50e9},
    {"ring_share_4", 0.7},        {"ring_share_8", 0.5},   {"unregistered_factor", 1.25},
    {"int8_channel_rate", 12.5e9}};

double card_us(const CollectiveQuestion& question, const std::map<std::string, double>& more = {}) {
  const CollectiveTimeModel model(pcie_card());
  std::map<std::string, double> set = kCard;
  for (const auto& [name, value] : more) set[name] = value;
  return model.seconds(model.plan(question), values(model, set)) * 1e6;
}

double hopper_us(const CollectiveQuestion& question, const std::map<std::string, double>& set) {
  const CollectiveTimeModel model(hopper());
  return model.seconds(model.plan(question), values(model, set)) * 1e6;
}

TEST_CASE("LL ring: hops, warps, batches") {
  // 2 GPUs, 64 KiB: N = 2, 32 KiB a step over 4 channels = 2 batches, 16 warps.
  // 5 + 2 (0.7 + 0.4) + (2+1)(2-1) 0.5 = 8.7 us
  CHECK(card_us({.gpus = 2, .bytes = 65536}) == Approx(8.7));
  // 4 GPUs: N = 6, 1 batch, hops twice as long: 5 + 6 (1.4 + 0.4) = 15.8 us
  CHECK(card_us({.gpus = 4, .bytes = 65536}) == Approx(15.8));
  // 4 KiB: 4 warps, (4-3)/13 of the 0.4 us: 5 + 6 (1.4 + 0.030769) = 13.584615 us
  CHECK(card_us({.gpus = 4, .bytes = 4096}) == Approx(13.584615));
}

TEST_CASE("Simple ring: sent bytes and one local chunk") {
  // 2 GPUs, 4 MB: V = 4 MB, own 0.5 x 2 MB: 13 + 2 x 2 + 5 MB / 50 GB/s = 117 us
  CHECK(card_us({.gpus = 2, .bytes = 4e6}) == Approx(117));
  // 4 GPUs, 8 MB in registered buffers: V = 12 MB, own 1 MB: 13 + 6 x 2 x 2 + 13 MB / 35 GB/s
  //   = 37 + 371.428571 us; nccl-tests' ring is 1.25 times slower: 37 + 464.285714 us
  CHECK(card_us({.gpus = 4, .bytes = 8e6, .provider = Library::vllm}) == Approx(408.428571));
  CHECK(card_us({.gpus = 4, .bytes = 8e6}) == Approx(501.285714));
}

TEST_CASE("two channels add int8 slower than the link brings it") {
  // reduce-scatter of 16 MB on 8 GPUs: V = 14 MB, own 1 MB: 13 + 7 x 2 x 2 + 15 MB / 25 GB/s
  // = 641 us. Adding: 14 MB at 2 x 12.5 = 25 GB/s, as fast as the link: 560 us x (2^(1/6) - 1)
  // = 560 x 0.122462 = 68.5787 us.
  const CollectiveQuestion half{.op = Op::reduce_scatter, .gpus = 8, .bytes = 16e6};
  CollectiveQuestion int8 = half;
  int8.int8 = true;
  CHECK(card_us(half) == Approx(641));
  CHECK(card_us(int8) == Approx(709.5787));
  int8.op = Op::all_gather;  // adds nothing
  CHECK(card_us(int8) == Approx(641));
}

TEST_CASE("all-to-all") {
  // LL, 2 GPUs, 8 KiB: x = V = 4096 B; 8 GB/s to the peer, 4 GB/s over the link decide:
  // 5 + 2 x 0.7 + 0.2 + 1.024 = 7.624 us
  CHECK(card_us({.op = Op::all_to_all, .gpus = 2, .bytes = 8192}, {{"alltoall_ll_rate", 8e9},
                                                                   {"alltoall_ll_link_rate", 4e9},
                                                                   {"alltoall_peer_s", 0.2e-6}}) ==
        Approx(7.624));
  // Simple, 4 Hopper GPUs, 8 MiB: V = 6 MiB = 6,291,456 B, all of it within 4 FIFOs of 4 MiB:
  // 5 + 2 x 3 + 3 x 0.2 + 1.25 V / 300 GB/s = 11.6 + 26.2144 us
  CHECK(hopper_us({.op = Op::all_to_all, .gpus = 4, .bytes = 8388608},
                  {{"launch_s", 5e-6},
                   {"simple_hop_s", 3e-6},
                   {"alltoall_peer_s", 0.2e-6},
                   {"alltoall_fill_share", 0.25},
                   {"push_rate", 300e9}}) == Approx(37.8144));
}

TEST_CASE("a first chunk of a Hopper ring overlaps with nothing") {
  // 2 GPUs, 200 MB: V = 200 MB, x = 100 MB, first chunk 24 x 2 MiB = 50,331,648 B.
  // 13 + 2 x 3 + (200 + 0.4 x 100 + 0.25 x 50.331648) MB / 400 GB/s = 19 + 631.45728 us
  CHECK(hopper_us({.gpus = 2, .bytes = 200e6}, {{"simple_launch_s", 13e-6},
                                                {"simple_hop_s", 3e-6},
                                                {"own_chunk_share", 0.4},
                                                {"ring_fill_share", 0.25},
                                                {"ring_rate", 400e9}}) == Approx(650.45728));
}

TEST_CASE("LL128 takes LL's hops and Simple's launch") {
  // 4 GPUs, 4 MB: N = 6, V = 6 MB, x = 1 MB, all of it first chunk:
  // 13 + 6 x 0.8 + (6 + 0.4 + 0.1) MB / 325 GB/s = 17.8 + 20 us
  CHECK(hopper_us({.gpus = 4, .bytes = 4e6}, {{"simple_launch_s", 13e-6},
                                              {"ll_hop_s", 0.8e-6},
                                              {"own_chunk_share", 0.4},
                                              {"ring_fill_share", 0.1},
                                              {"ll128_rate", 325e9}}) == Approx(37.8));
}

TEST_CASE("NVLS") {
  // 8 GPUs, 32 MiB: 25 + (32 + 0.5 x 16) MiB / 250 GB/s = 25 + 167.77216 us
  CHECK(hopper_us({.gpus = 8, .bytes = 33554432},
                  {{"nvls_launch_s", 25e-6}, {"nvls_fill_share", 0.5}, {"multimem_rate", 250e9}}) ==
        Approx(192.77216));
}

TEST_CASE("the frameworks' kernels") {
  const std::map<std::string, double> set = {
      {"pull_rate", 300e9},  {"push_rate", 320e9},     {"one_shot_s", 4e-6},
      {"two_shot_s", 8e-6},  {"sglang_s", 2.5e-6},     {"sglang_two_shot_peer_s", 0.6e-6},
      {"push_peer_s", 1e-7}, {"multimem_rate", 250e9}, {"ll128_rate", 325e9}};
  // One-shot, 4 GPUs, 300 kB: every GPU receives 3 x 300 kB.
  CHECK(hopper_us({.gpus = 4, .bytes = 300e3, .provider = Library::vllm}, set) == Approx(4 + 3));
  CHECK(hopper_us({.gpus = 4, .bytes = 300e3, .provider = Library::sglang}, set) ==
        Approx(2.5 + 0.3 + 2.8125));
  // Two-shot, 4 GPUs, 2 MB: V = 3 MB.
  CHECK(hopper_us({.gpus = 4, .bytes = 2e6, .provider = Library::vllm}, set) == Approx(8 + 10));
  CHECK(hopper_us({.gpus = 4, .bytes = 2e6, .provider = Library::sglang}, set) ==
        Approx(2.5 + 1.8 + 10));
  // Symmetric memory, 4 GPUs, 10 MB: copied in and out at 0.885 x 4.8 TB/s, 40 MB of traffic:
  // 8 + 9.416196 + 40 us; 2 GPUs: V = 10 MB at 325 GB/s, 8 + 9.416196 + 30.769231 us.
  CHECK(hopper_us({.gpus = 4, .bytes = 10e6, .provider = Library::vllm}, set) == Approx(57.416196));
  CHECK(hopper_us({.gpus = 2, .bytes = 10e6, .provider = Library::vllm}, set) == Approx(48.185427));
}

TEST_CASE("TensorRT-LLM's three buffers spill from the L2") {
  // 2 GPUs, 7 MB: 3 x 2 x 7 = 42 MB = 0.7 x 60 MB, half of the message is in DRAM:
  // 2.5 + 0.1 + 7 MB / 350 GB/s + 4 x 3.5 MB / (0.885 x 4.8 TB/s) = 2.6 + 20 + 3.295669 us
  CHECK(hopper_us({.gpus = 2, .bytes = 7e6, .provider = Library::trtllm},
                  {{"trtllm_one_shot_s", 2.5e-6}, {"push_peer_s", 1e-7}, {"push_rate", 350e9}}) ==
        Approx(25.895669));
}

TEST_CASE("outside a graph the slower of host and device decides") {
  // Device 117 us as above, host 117 us: 117 x 2^(1/8) = 127.5894 us.
  CollectiveQuestion q{.gpus = 2, .bytes = 4e6, .launch = CollectiveLaunch::eager};
  CHECK(card_us(q, {{"nccl_host_s", 117e-6}}) == Approx(127.5894));
  // The benchmark's clone reads and writes 4 MB at 0.885 x 1.6 TB/s: 5.649718 us more.
  q.clones_input = true;
  CHECK(card_us(q, {{"nccl_host_s", 1e-6}}) == Approx(122.649718));
  // A small message: the host alone.
  CHECK(
      card_us(
          {.gpus = 2, .bytes = 1024, .provider = Library::vllm, .launch = CollectiveLaunch::eager},
          {{"vllm_host_s", 21e-6}}) == Approx(21).epsilon(1e-4));
}

TEST_CASE("one GPU exchanges nothing") { CHECK(card_us({.gpus = 1, .bytes = 1e6}) == 0); }

TEST_CASE("what cannot be asked is refused") {
  const CollectiveTimeModel model(pcie_card());
  CHECK_THROWS_AS(model.plan({.gpus = 0, .bytes = 1024}), DataError);
  CHECK_THROWS_AS(model.plan({.gpus = 2, .bytes = 0}), DataError);
  CHECK_THROWS_AS(model.plan({.gpus = 2, .bytes = std::nan("")}), DataError);
  TimingGpu alone = pcie_card();
  alone.pcie_bytes_per_s = 0;
  CHECK_THROWS_WITH(CollectiveTimeModel(alone),
                    "card: no link between its GPUs is known; give it with --set "
                    "pcie_bytes_per_s=BYTES_PER_S or --set nvlink_bytes_per_s=BYTES_PER_S");
}

TEST_CASE("the path is named") {
  const CollectiveTimeModel model(hopper());
  CHECK(path_text(model.plan({.gpus = 4, .bytes = 16384})) == "NCCL LL ring, 1 channel");
  CHECK(path_text(model.plan({.gpus = 8, .bytes = 64e6})) == "NCCL NVLS");
  CHECK(path_text(model.plan({.gpus = 8, .bytes = 1e6, .provider = Library::vllm})) ==
        "vLLM symmetric memory, multimem");
}

// Calls `use` with every kind of question, of one byte.
template <class Use>
void for_each_question(Use use) {
  for (const Op op : {Op::all_reduce, Op::all_gather, Op::reduce_scatter, Op::all_to_all}) {
    for (const Library library : {Library::nccl, Library::vllm, Library::sglang, Library::trtllm}) {
      for (const int gpus : {2, 3, 4, 6, 8, 16}) {
        for (const bool int8 : {false, true}) {
          for (const CollectiveLaunch launch : {CollectiveLaunch::graph, CollectiveLaunch::eager}) {
            use(CollectiveQuestion{.op = op,
                                   .gpus = gpus,
                                   .bytes = 1,
                                   .int8 = int8,
                                   .provider = library,
                                   .launch = launch});
          }
        }
      }
    }
  }
}

TEST_CASE("on one path more bytes are never faster, and no time is out of bounds", "[property]") {
  for (const TimingGpu& gpu : {pcie_card(), hopper()}) {
    const CollectiveTimeModel model(gpu);
    std::vector<double> prior, low, high;
    for (const ConstantSpec& spec : model.constants()) {
      prior.push_back(spec.prior);
      low.push_back(spec.low);
      high.push_back(spec.high);
    }
    for_each_question([&](CollectiveQuestion q) {
      CollectivePath path = CollectivePath::none;
      double before = 0;
      for (; q.bytes < 4e9; q.bytes *= 1.9) {
        const CollectivePlan plan = model.plan(q);
        const double now = model.seconds(plan, prior);
        const bool falls = plan.path == path && now < before;
        const bool sane = now > 0 && std::isfinite(now) && model.seconds(plan, low) > 0 &&
                          std::isfinite(model.seconds(plan, high));
        if (falls || !sane) {
          FAIL(path_text(plan) << ", " << q.bytes << " B on " << q.gpus << " GPUs: " << now);
        }
        path = plan.path;
        before = now;
      }
    });
  }
}

TEST_CASE("a call outside a graph is never faster than in one", "[property]") {
  const CollectiveTimeModel model(hopper());
  const std::vector<double> prior = values(model, {});
  for (double bytes = 2; bytes < 1e9; bytes *= 3) {
    CollectiveQuestion q{.gpus = 4, .bytes = bytes, .provider = Library::sglang};
    const double graph = model.seconds(model.plan(q), prior);
    q.launch = CollectiveLaunch::eager;
    CHECK(model.seconds(model.plan(q), prior) >= graph);
  }
}

TEST_CASE("parts name what decides and add up outside of host time", "[property]") {
  const CollectiveTimeModel model(hopper());
  const std::vector<double> prior = values(model, {});
  for (const double bytes : {512.0, 1e6, 64e6}) {
    const TimeParts parts = model.parts(model.plan({.gpus = 4, .bytes = bytes}), prior);
    double sum = 0;
    for (const double s : parts.regime_s) sum += s;
    CHECK(sum == Approx(parts.seconds));
  }
  const auto regime = [&](double bytes) {
    return model.parts(model.plan({.gpus = 8, .bytes = bytes}), prior).regime();
  };
  CHECK(regime(512) == Regime::latency);
  CHECK(regime(1e9) == Regime::link);
}

TEST_CASE("constants have a unit, a meaning and a prior inside their bounds", "[property]") {
  for (const TimingGpu& gpu : {pcie_card(), hopper()}) {
    const CollectiveTimeModel model(gpu);
    for (const ConstantSpec& spec : model.constants()) {
      INFO(spec.name);
      CHECK((spec.unit == "s" || spec.unit == "B/s" || spec.unit == "1"));
      CHECK(spec.meaning.size() > 20);
      CHECK(spec.low > 0);
      CHECK(spec.low < spec.prior);
      CHECK(spec.prior < spec.high);
    }
  }
}

}  // namespace
}  // namespace smtwin
