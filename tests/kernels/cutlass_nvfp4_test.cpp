// SPDX-License-Identifier: Apache-2.0
// CUTLASS NVFP4 GEMM: shared storage of both library rules, reported tiles, work by hand.
#include "kernels/external/cutlass_nvfp4/descriptor.hpp"

#include "kernels/external/cutlass_nvfp4/storage.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chip.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;
using smtwin::test::fact;
using smtwin::test::instance_of;

namespace {
KernelInstance nvfp4(const std::string& tile, const std::string& settings = "",
                     const GpuSpec& gpu = test::sm120()) {
  const auto& kernel = find_kernel("cutlass_nvfp4");
  std::string all = settings;
  for (const auto& [name, value] : parse_compact_config(kernel, tile)) {
    all += " " + name + "=" + std::to_string(value);
  }
  return instance_of("cutlass_nvfp4", gpu, all);
}
std::int64_t bytes(const KernelInstance& instance) {
  return instance.resources.dynamic_shared_bytes;
}
}  // namespace

TEST_CASE("the current library fills the opt-in limit with stages", "[unit]") {
  // 128x128x128: a stage is 256 x 64 B packed + 8 x 256 B scales = 18,432 B; alignment 1,024 and
  // a 13,312 B slice leave 87,040 of 101,376 B: 4 stages (4.72).
  const auto instance = nvfp4("128x128x128");
  CHECK(bytes(instance) == 88064);
  CHECK(instance.shared_formula == "4 x 18,432 + 1,024 + 13,312 = 88,064");
  CHECK(fact(instance, "stages") == 4);
  CHECK(fact(instance, "mainloop_shared_bytes") == 74752);
  CHECK(fact(instance, "epilogue_shared_bytes") == 13312);
  CHECK(instance.resources.threads_per_cta == 384);
  CHECK(instance.shared_provenance == Provenance::compiled);
  // 128x256x128: 384 x 64 + 8 x 384 = 27,648 B: 3 stages (3.15), so it does fit today.
  CHECK(bytes(nvfp4("128x256x128")) == 97280);
}

TEST_CASE("tiles of 64 rows stage no A scales but more alignment", "[unit]") {
  // 64x256x128: 320 x 64 + 8 x 256 = 22,528 B, 3 stages + 2,048 + 13,312
  const auto instance = nvfp4("64x256x128");
  CHECK(bytes(instance) == 3 * 22528 + 2048 + 13312);
  CHECK(instance.shared_formula == "3 x 22,528 + 2,048 + 13,312 = 82,944");
  // 128x64x128: B scales are padded to 128 columns: 192 x 64 + 8 x 256 = 14,336 B, 6 stages
  CHECK(fact(nvfp4("128x64x128"), "stage_bytes") == 14336);
}

TEST_CASE("a grouped kernel holds a kilobyte more", "[unit]") {
  const auto instance = nvfp4("128x128x128", "grouped=1");
  CHECK(bytes(instance) == 89088);
  CHECK(instance.shared_formula == "4 x 18,432 + 1,024 + 13,312 + 1,024 = 89,088");
}

TEST_CASE("tiles reported with K in bytes", "[unit]") {
  // NVIDIA/TensorRT-LLM#11368: 128x128x256B and 256x128x128B fail, 128x128x128B works. Two stages
  // are the least: 2 x (256 x 256 + 32 x 256) = 147,456 B and 2 x (384 x 128 + 16 x 384) =
  // 110,592 B exceed 101,376 B by themselves.
  CHECK(bytes(nvfp4("128x128x256B")) == 147456 + 1024 + 13312);
  CHECK(bytes(nvfp4("256x128x128B")) == 110592 + 1024 + 13312);
  const auto works = nvfp4("128x128x128B");
  CHECK(bytes(works) == 2 * 36864 + 1024 + 13312);
  CHECK(bytes(works) <= 101376);
  CHECK(fact(works, "stages") == 2);
}

TEST_CASE("the estimate of the field notes", "[unit]") {
  struct Row {
    const char* tile;
    std::int64_t stage, plain, finalize;
  };
  // One stage plus one or two whole BF16 output tiles, e.g. 18,432 + 128 x 128 x 2 = 51,200.
  for (const Row& row :
       {Row{"128x128x128", 18432, 51200, 83968}, Row{"128x128x256", 36864, 69632, 102400},
        Row{"128x256x128", 27648, 93184, 158720}, Row{"256x128x128", 27648, 93184, 158720}}) {
    INFO(row.tile);
    const auto plain = nvfp4(row.tile, "library=fieldnotes grouped=1");
    CHECK(fact(plain, "stage_bytes") == static_cast<double>(row.stage));
    CHECK(bytes(plain) == row.plain);
    CHECK(plain.shared_provenance == Provenance::assumed);
    CHECK(bytes(nvfp4(row.tile, "library=fieldnotes finalize=1")) == row.finalize);
  }
  // Requiring two stages: 2 x 27,648 + 65,536 = 120,832; 2 x 36,864 + 32,768 = 106,496
  CHECK(bytes(nvfp4("128x256x128", "library=fieldnotes min_stages=2")) == 120832);
  CHECK(bytes(nvfp4("128x128x256", "library=fieldnotes min_stages=2")) == 106496);
}

TEST_CASE("epilogue and stages can be set against the library's rule", "[unit]") {
  // Whole tile in the current library: 65,536 B leave room for one 27,648 B stage; two are needed.
  const auto whole = nvfp4("128x256x128", "epilogue=whole");
  CHECK(bytes(whole) == 2 * 27648 + 1024 + 65536);
  CHECK(whole.shared_provenance == Provenance::extrapolated);
  CHECK(bytes(nvfp4("128x128x128/s2")) == 2 * 18432 + 1024 + 13312);
  CHECK(nvfp4("128x128x128/s2").config == "128x128x128/s2");
  // More shared memory, more stages: (233,472 - 1,024 - 14,336) / 18,432 = 11.8
  CHECK(fact(nvfp4("128x128x128", "", test::chip({12, 0}, 233472 - 1024)), "stages") == 11);
}

TEST_CASE("the cause behind the generic internal error is named", "[unit]") {
  const auto fails = nvfp4("256x128x256", "grouped=1");
  CHECK(bytes(fails) > 101376);
  CHECK(test::says(fails, "initialization returns a generic internal error"));
  CHECK_FALSE(test::says(nvfp4("128x128x128", "grouped=1"), "generic internal error"));
  CHECK(test::says(nvfp4("128x256x128", "grouped=1"), "fails at initialization"));
}

TEST_CASE("NVFP4 tiles exist on SM120 only, and not in every shape", "[unit]") {
  CHECK(nvfp4("128x128x128").impossible.empty());
  CHECK(nvfp4("128x128x128", "", test::chip({12, 1})).impossible.empty());
  CHECK(nvfp4("128x128x128", "", test::sm90()).impossible ==
        "this kernel is built for sm_120 and sm_121 (block-scaled mma.sync); sm_90 has no FP4 "
        "tensor instruction");
  CHECK(nvfp4("128x128x128", "", test::chip({10, 0}, 232448)).impossible ==
        "this kernel is built for sm_120 and sm_121 (block-scaled mma.sync); sm_100 runs FP4 "
        "through tcgen05 in other kernels");
  CHECK(nvfp4("96x128x128").impossible ==
        "tile 96x128x128 is not in the family: tile_m 64, 128, 256; tile_n 32, 64, 128, 256; "
        "tile_k 64, 128, 256, 512");
  CHECK(nvfp4("256x256x128").impossible ==
        "a 256 x 256 output tile needs more than 128 accumulators in each of 256 threads");
}

TEST_CASE("decode work is padded to whole tiles", "[unit]") {
  // 8 experts with one row each, n 256, k 1024: 8 x 2 tiles of 128 rows, 8 steps of 128
  const auto instance = nvfp4("128x128x128", "grouped=1 groups=8 m=8 n=256 k=1024");
  CHECK(instance.grid.ctas() == 16);
  CHECK(instance.work.steps == 8);
  CHECK(instance.work.math_flops == 8 * 2.0 * 128 * 128 * 128);
  CHECK(instance.useful_flops == 2.0 * 8 * 256 * 1024);
  CHECK(fact(instance, "useful_share") == Approx(1.0 / 128));
  // One real row and 128 columns of 1,024 values at 9 bits: 129 x 576 B
  CHECK(instance.work.global_read_bytes == 129 * 576);
  CHECK(instance.unique_read_bytes == (8 + 8 * 256) * 576);
  CHECK(instance.pipe == MathPipe::nvfp4);
  // 17 rows over 4 groups: one group of 5, three of 4, a tile each
  CHECK(fact(nvfp4("128x128x128", "grouped=1 groups=4 m=17"), "row_tiles") == 4);
  CHECK(test::usage_error([] { nvfp4("128x128x128", "groups=8"); }) ==
        "groups: found 8 for a dense kernel; set grouped=1 or groups=1");
}

TEST_CASE("more stages never take fewer bytes; automatic stages never exceed the limit",
          "[property]") {
  const std::int64_t limit = 101376;
  for (const std::int64_t m : {64, 128, 256}) {
    for (const std::int64_t n : {32, 64, 128, 256}) {
      for (const std::int64_t k : {64, 128, 256, 512}) {
        for (const auto version : {CutlassVersion::current, CutlassVersion::fieldnotes}) {
          CutlassStorageOptions options;
          options.version = version;
          options.limit_bytes = limit;
          std::int64_t before = 0;
          for (options.stages = 1; options.stages <= 8; ++options.stages) {
            const auto total = cutlass_storage({m, n, k}, options).total_bytes;
            REQUIRE(total > before);
            before = total;
          }
          options.stages = 0;
          const auto automatic = cutlass_storage({m, n, k}, options);
          if (version == CutlassVersion::current && automatic.stages > options.min_stages) {
            REQUIRE(automatic.total_bytes <= limit);
            REQUIRE(automatic.total_bytes + automatic.stage_bytes > limit);
          }
        }
      }
    }
  }
}
