// SPDX-License-Identifier: Apache-2.0
// The sparse decode kernel of the field notes: every number the notes give.
#include "kernels/external/sparse_decode_fieldnotes/descriptor.hpp"

#include "model/residency.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chip.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;
using smtwin::test::fact;
using smtwin::test::instance_of;

namespace {
KernelInstance decode(const std::string& settings, const GpuSpec& gpu = test::sm120()) {
  return instance_of("sparse_decode_fieldnotes", gpu, settings);
}
std::int64_t bytes(const KernelInstance& instance) {
  return instance.resources.dynamic_shared_bytes;
}
}  // namespace

TEST_CASE("observed sizes and extrapolated ones are told apart", "[unit]") {
  struct Point {
    SparseDecodeTile tile;
    std::int64_t bytes;
    Provenance provenance;
  };
  for (const Point& point : {Point{{16, 16, 2}, 61568, Provenance::measured},
                             Point{{16, 32, 2}, 104704, Provenance::measured},
                             Point{{32, 16, 2}, 80000, Provenance::measured},
                             Point{{16, 16, 3}, 83136, Provenance::extrapolated},
                             Point{{16, 32, 1}, 61568, Provenance::extrapolated},
                             Point{{32, 32, 2}, 123136, Provenance::extrapolated},
                             Point{{32, 32, 1}, 80000, Provenance::extrapolated}}) {
    INFO(point.tile.block_h << "/" << point.tile.block_t << "/" << point.tile.num_stages);
    CHECK(sparse_decode_shared_bytes(point.tile) == point.bytes);
    CHECK(sparse_decode_shared_provenance(point.tile).provenance == point.provenance);
  }
  CHECK(sparse_decode_shared_provenance({32, 16, 2}).sentence ==
        "80,000 B was read from a live trace.");
  CHECK(sparse_decode_shared_provenance({16, 16, 3}).sentence ==
        "83,136 B is extrapolated from three observed sizes; this tile was never compiled.");
}

TEST_CASE("with 16 heads both entries with 32 tokens exceed the limit by 3,328 B", "[unit]") {
  const auto& kernel = find_kernel("sparse_decode_fieldnotes");
  for (const auto& [config, over] :
       {std::pair{"BT16/w4/s2", -39808}, {"BT32/w4/s2", 3328}, {"BT32/w8/s2", 3328}}) {
    const auto instance = kernel.instantiate(
        complete_parameters(kernel, parse_compact_config(kernel, config)), test::sm120());
    CHECK(instance.config == config);
    CHECK(bytes(instance) - 101376 == over);
  }
  CHECK(decode("").shared_formula == "1152 x 16 + 1348 x 2 x 16 = 61,568");
  // 64 heads: block_h = 32, and BLOCK_T 32 takes 123,136 B, 21,760 over.
  CHECK(bytes(decode("heads=64 block_t=32")) - 101376 == 21760);
}

TEST_CASE("head groups, splits and the grid", "[unit]") {
  // 64 heads, batch 64, 188 SMs. block_h 32: 2 groups; 64 x 2 x 2 = 256 <= 376, 512 is not:
  // 2 splits. block_h 16: 4 groups; 64 x 4 x 2 = 512 > 376: 1 split. 256 CTAs either way.
  const auto wide = decode("heads=64");
  CHECK(fact(wide, "block_h") == 32);
  CHECK(fact(wide, "n_hg") == 2);
  CHECK(fact(wide, "nsplit") == 2);
  CHECK(wide.grid.formula == "64 x 2 x 2");
  CHECK(wide.grid.ctas() == 256);
  CHECK(fact(wide, "tokens_gathered") == 2 * 64 * 512);
  const auto narrow = decode("heads=64 block_h=16");
  CHECK(fact(narrow, "n_hg") == 4);
  CHECK(narrow.grid.formula == "64 x 4 x 1");
  CHECK(fact(narrow, "tokens_gathered") == 4 * 64 * 512);
  CHECK(bytes(narrow) == 61568);
  CHECK(narrow.config == "BH16/BT16/w4/s2");
  // Few heads: the group is no larger than they are.
  CHECK(fact(decode("heads=8"), "block_h") == 8);
}

TEST_CASE("the assumed split rule stops at the grid or at a tile of tokens", "[unit]") {
  SplitInput input{.batch = 1, .head_groups = 1, .topk = 512, .block_t = 16, .sm_count = 188};
  CHECK(assumed_split_count(input) == 32);  // 512 / 64 = 8 < 16
  input.topk = 1 << 20;
  CHECK(assumed_split_count(input) == 256);  // 512 > 376
  input.batch = 1000;
  CHECK(assumed_split_count(input) == 1);
  const auto fixed = decode("nsplit=4");
  CHECK(fixed.grid.z == 4);
  CHECK(fact(fixed, "tokens_per_split") == 128);
  CHECK(test::says(fixed, "set by hand"));
  CHECK(test::says(decode(""), "split rule of production is not known"));
}

TEST_CASE("a chip without an SM count is refused by name, unless the splits are given", "[unit]") {
  GpuSpec gpu = test::sm120();
  gpu.sm_count.reset();
  CHECK_THROWS_WITH(decode("", gpu),
                    "test-chip: sm_count is not known for this GPU; give it with --set "
                    "sm_count=VALUE");
  CHECK(bytes(decode("nsplit=2", gpu)) == 61568);
}

TEST_CASE("registers: seen at four warps, guessed at eight", "[unit]") {
  const auto trace = decode("heads=64");
  CHECK(trace.resources.registers_per_thread == 255);
  CHECK(trace.registers_provenance == Provenance::measured);
  CHECK(decode("").registers_provenance == Provenance::extrapolated);
  const auto eight = decode("num_warps=8");
  CHECK(eight.resources.registers_per_thread >= 150);
  CHECK(eight.resources.registers_per_thread <= 200);
  CHECK(eight.registers_provenance == Provenance::assumed);
  CHECK(test::says(eight, "150 to 200"));
  // 1,024 threads can have 64 registers each.
  CHECK(decode("num_warps=32").resources.registers_per_thread == 64);
}

TEST_CASE("one CTA a multiprocessor with four warps or eight", "[unit]") {
  GpuSpec gpu = test::sm120();
  gpu.sm.max_threads_per_cta = 1024;
  gpu.sm.max_warps_per_sm = 48;
  gpu.sm.max_ctas_per_sm = 24;
  gpu.sm.registers_per_sm = 65536;
  gpu.sm.registers_per_cta = 65536;
  gpu.sm.max_registers_per_thread = 255;
  gpu.sm.register_allocation_unit = 256;
  gpu.sm.partitions_per_sm = 4;
  gpu.sm.register_check_partitions = 4;
  gpu.sm.shared_bytes_per_sm = 102400;
  gpu.sm.shared_bytes_per_cta_default = 49152;
  gpu.sm.shared_bytes_reserved_per_cta = 1024;
  gpu.sm.shared_allocation_unit_bytes = 128;
  gpu.sm.shared_carveouts_bytes[0] = 102400;
  gpu.sm.shared_carveout_count = 1;
  for (const auto& [warps, resident] : {std::pair{"4", 4}, {"8", 8}}) {
    const auto answer =
        resident_ctas(gpu.sm, decode(std::string("num_warps=") + warps, gpu).resources);
    INFO(warps);
    CHECK(answer.ctas_per_sm == 1);
    CHECK(answer.limiters.contains(Limiter::shared_memory));
    CHECK(decode(std::string("num_warps=") + warps, gpu).resources.threads_per_cta ==
          resident * 32);
  }
}

TEST_CASE("what Triton cannot compile", "[unit]") {
  CHECK(decode("").impossible.empty());
  CHECK(decode("block_t=24").impossible ==
        "block_t 24 is not a power of two, which Triton requires");
  CHECK(decode("heads=24").impossible == "block_h 24 is not a power of two, which Triton requires");
  CHECK(decode("block_t=8").impossible == "block_t below 16 is less than a tl.dot takes along K");
  CHECK(decode("", test::chip({8, 0})).impossible ==
        "Triton converts fp8 from sm_89 on; this is sm_80");
  CHECK(test::says(decode("num_stages=1"), "gives up the overlap"));
}

TEST_CASE("bytes grow with heads, tokens and stages", "[property]") {
  for (const std::int64_t h : {16, 32}) {
    for (const std::int64_t t : {16, 32, 64}) {
      for (const std::int64_t s : {1, 2, 3}) {
        const auto here = sparse_decode_shared_bytes({h, t, s});
        CHECK(sparse_decode_shared_bytes({h * 2, t, s}) > here);
        CHECK(sparse_decode_shared_bytes({h, t * 2, s}) > here);
        CHECK(sparse_decode_shared_bytes({h, t, s + 1}) > here);
      }
    }
  }
}
