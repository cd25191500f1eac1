// SPDX-License-Identifier: Apache-2.0
// MODEL.md follows one kernel through every equation. Here the program computes it again: the
// document must contain what it says, word for word, so that the two cannot drift apart.
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "arch/gpu_catalog.hpp"
#include "kernels/descriptor.hpp"
#include "model/quantity_text.hpp"
#include "model/time_comparison.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

namespace {

std::string model_md() {
  std::ifstream file(SMTWIN_TEST_SOURCE_DIR "/model/MODEL.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

KernelInstance worked_kernel(const GpuSpec& gpu, std::int64_t num_warps = 4) {
  const KernelDescriptor& kernel = find_kernel("sparse_decode_fieldnotes");
  return kernel.instantiate(complete_parameters(kernel, {{"heads", 16},
                                                         {"topk", 512},
                                                         {"batch", 64},
                                                         {"block_h", 16},
                                                         {"block_t", 16},
                                                         {"num_warps", num_warps},
                                                         {"num_stages", 2}}),
                            gpu);
}

// The document, or the sentence that it should contain.
void check_stated(const std::string& text) {
  static const std::string document = model_md();
  INFO("model/MODEL.md must state: " << text);
  CHECK(document.find(text) != std::string::npos);
}

}  // namespace

TEST_CASE("MODEL.md: residency and waves of the worked kernel", "[unit]") {
  const GpuSpec gpu = find_gpu("rtx-pro-6000-server");
  const KernelInstance k = worked_kernel(gpu);
  const auto t = kernel_time(gpu, k);
  CHECK(k.resources.dynamic_shared_bytes == 61568);
  CHECK(k.resources.registers_per_thread == 255);
  CHECK(t.residency.limits.warps == 12);
  CHECK(t.residency.limits.registers == 2);
  CHECK(t.residency.limits.shared_memory == 1);
  CHECK(t.residency.limits.cta_slots == 24);
  CHECK(t.residency.ctas_per_sm == 1);
  CHECK(t.residency.limiters == LimiterSet{Limiter::shared_memory});
  CHECK(max_shared_bytes_for(gpu.sm, 2) == 50176);
  CHECK(k.grid.ctas() == 256);
  CHECK(t.waves.full_waves == 1);
  CHECK(t.waves.tail_ctas == 68);
}

TEST_CASE("MODEL.md: every equation of the worked kernel's time", "[unit]") {
  const GpuSpec gpu = find_gpu("rtx-pro-6000-server");
  const KernelInstance k = worked_kernel(gpu);
  const auto cold = kernel_time(gpu, k);
  for (const BoundTime& b : cold.bounds) check_stated(b.equation);
  check_stated(concat({quantity_text(cold.seconds, "s"), " cold, bound by DRAM"}));
  CHECK(cold.binding == Bound::dram);
  const auto warm = kernel_time(gpu, k, {.l2 = L2State::warm});
  check_stated(concat({quantity_text(warm.seconds, "s"), " warm, bound by shared memory"}));
  CHECK(warm.binding == Bound::shared_memory);
  check_stated(concat({quantity_text(cold.bytes_in_flight_for_dram_peak, "B"), " under way"}));
}

TEST_CASE("MODEL.md: why eight warps lose", "[unit]") {
  for (const char* name : {"rtx-pro-6000-server", "h200-sxm"}) {
    const GpuSpec gpu = find_gpu(name);
    const auto w4 = kernel_time(gpu, worked_kernel(gpu, 4));
    const auto w8 = kernel_time(gpu, worked_kernel(gpu, 8));
    CHECK(w8.seconds > w4.seconds);
    check_stated(compare(w4, w8).sentence);
  }
}

TEST_CASE("MODEL.md: a read stream on an H200 rises with the resident CTAs as measured", "[unit]") {
  // 4 GiB read by 1, 2, 4, 8 CTAs of 256 threads per SM; measured 1,305, 2,440, 3,939, 4,480 GB/s.
  const GpuSpec gpu = find_gpu("h200-sxm");
  const double bytes = 4294967296.0;
  const struct {
    int ctas_per_sm;
    double measured_bytes_per_s;
  } points[] = {{1, 1305e9}, {2, 2440e9}, {4, 3939e9}, {8, 4480e9}};
  for (const auto& point : points) {
    INFO(point.ctas_per_sm << " CTAs per SM");
    const double ctas = 132.0 * point.ctas_per_sm;
    KernelInstance k;
    k.resources = {.threads_per_cta = 256, .registers_per_thread = 32};
    k.grid.x = 132 * point.ctas_per_sm;
    k.work.global_read_bytes = bytes / ctas;
    k.unique_read_bytes = bytes;
    const auto s = kernel_seconds(gpu, k);
    const double rate = bytes / s.bound_seconds[static_cast<std::size_t>(Bound::dram)];
    check_stated(count_text(std::round(rate / 1e9)));
    CHECK(rate / point.measured_bytes_per_s > 0.99);
    CHECK(rate / point.measured_bytes_per_s < 1.29);
  }
}
