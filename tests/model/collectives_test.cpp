// SPDX-License-Identifier: Apache-2.0
#include "model/collectives.hpp"

#include "arch/error.hpp"
#include "tests/catch.hpp"

namespace smtwin {
namespace {

GpuSpec linked_gpu() {
  GpuSpec gpu;
  gpu.name = "round";
  gpu.display_name = "Round GPU";
  gpu.allreduce_alpha_s = {5e-6, 10e-6, std::nullopt};
  gpu.allreduce_bytes_per_s = {40e9, 30e9, std::nullopt};
  gpu.pcie_bytes_per_s = 63e9;
  gpu.sources["allreduce_alpha_s_4"] = {Provenance::measured, "", ""};
  gpu.sources["allreduce_bytes_per_s_4"] = {Provenance::fitted, "", ""};
  return gpu;
}

TEST_CASE("an all-reduce is latency plus 2 (n-1)/n of the message") {
  // 4 GPUs, 8192 B: 10 us + 1.5 x 8192 B / 30 GB/s = 10 us + 0.4096 us.
  const CollectiveTime t = collective_time(linked_gpu(), Collective::all_reduce, 4, 8192);
  CHECK(t.seconds == Approx(10.4096e-6));
  CHECK(t.transferred_bytes == Approx(12288));
  CHECK(t.provenance == Provenance::fitted);
  CHECK(t.equation == "10.0 us + 2 (4 - 1)/4 x 8.19 kB / 30.0 GB/s");
  CHECK(collective_seconds(linked_gpu(), Collective::all_reduce, 4, 8192) == t.seconds);
}

TEST_CASE("an all-gather passes half of that") {
  // 2 GPUs, 1 MB gathered: 5 us + 0.5 MB / 40 GB/s = 17.5 us.
  CHECK(collective_seconds(linked_gpu(), Collective::all_gather, 2, 1e6) == Approx(17.5e-6));
}

TEST_CASE("one GPU has nothing to reduce") {
  CHECK(collective_seconds(linked_gpu(), Collective::all_reduce, 1, 1e9) == 0);
  CHECK(collective_gap(linked_gpu(), 1).empty());
}

TEST_CASE("what is not known is refused by name") {
  CHECK(collective_gap(linked_gpu(), 16) ==
        "a collective of 16 GPUs is not modelled; 2, 4 and 8 GPUs of one host are");
  CHECK(collective_gap(linked_gpu(), 8) ==
        "the all-reduce of 8 Round GPU is not known; give it with --set "
        "allreduce_alpha_s_8=SECONDS --set allreduce_bytes_per_s_8=BYTES_PER_S");
  CHECK_THROWS_AS(collective_seconds(linked_gpu(), Collective::all_reduce, 8, 1), DataError);
}

TEST_CASE("the link is named from the data") {
  GpuSpec gpu = linked_gpu();
  CHECK(interconnect_name(gpu) == "PCIe");
  gpu.nvlink_bytes_per_s = 450e9;
  CHECK(interconnect_name(gpu) == "NVLink");
}

TEST_CASE("a larger message never takes less", "[property]") {
  double before = 0;
  for (double bytes = 1; bytes < 1e9; bytes *= 3) {
    const double seconds = collective_seconds(linked_gpu(), Collective::all_reduce, 2, bytes);
    CHECK(seconds > before);
    before = seconds;
  }
}

}  // namespace
}  // namespace smtwin
