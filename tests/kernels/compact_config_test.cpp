// SPDX-License-Identifier: Apache-2.0
// Configs as users write them, there and back.
#include "kernels/descriptor.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/chip.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;
using smtwin::test::usage_error;

TEST_CASE("the tuner list of the field notes is read", "[unit]") {
  const auto& kernel = find_kernel("sparse_decode_fieldnotes");
  using P = Parameters;
  CHECK(parse_compact_config(kernel, "BT16/w4/s2") ==
        P{{"block_t", 16}, {"num_warps", 4}, {"num_stages", 2}});
  CHECK(parse_compact_config(kernel, "BT32/w8/s2") ==
        P{{"block_t", 32}, {"num_warps", 8}, {"num_stages", 2}});
  CHECK(parse_compact_config(kernel, " bt32 / W8 ") == P{{"block_t", 32}, {"num_warps", 8}});
  CHECK(parse_compact_config(kernel, "block_t=16,num_warps=4") ==
        P{{"block_t", 16}, {"num_warps", 4}});
  CHECK(parse_compact_config(kernel, "BH32/BT16/w4/s2").at("block_h") == 32);
}

TEST_CASE("GEMM configs name tile, warps, stages and the rarely varied rest", "[unit]") {
  const auto& kernel = find_kernel("triton_gemm");
  const Parameters parsed = parse_compact_config(kernel, "BM128/BN256/BK64/w8/s3/G8/SK2");
  CHECK(parsed == Parameters{{"block_m", 128},
                             {"block_n", 256},
                             {"block_k", 64},
                             {"num_warps", 8},
                             {"num_stages", 3},
                             {"group_m", 8},
                             {"split_k", 2}});
  const Parameters mixed = parse_compact_config(kernel, "BM16,dtype=fp8");
  CHECK(mixed == Parameters{{"block_m", 16}, {"dtype", 2}});
}

TEST_CASE("CUTLASS tiles are read with K in elements or bytes of packed FP4", "[unit]") {
  const auto& kernel = find_kernel("cutlass_nvfp4");
  const Parameters elements{{"tile_m", 128}, {"tile_n", 128}, {"tile_k", 256}};
  CHECK(parse_compact_config(kernel, "128x128x256") == elements);
  CHECK(parse_compact_config(kernel, "128x128x128B") == elements);
  CHECK(parse_compact_config(kernel, "TM128/TN128/TK256") == elements);
  CHECK(parse_compact_config(kernel, "128x128x256/s2").at("stages") == 2);
}

TEST_CASE("a config that cannot be read shows how to write one", "[unit]") {
  const auto& kernel = find_kernel("sparse_decode_fieldnotes");
  const auto message = [&](const std::string& text) {
    return usage_error([&] { parse_compact_config(kernel, text); });
  };
  const std::string advice =
      "; write for example BT16/w4/s2 or block_t=16,num_warps=4,num_stages=2 (BH = block_h, BT = "
      "block_t, w = num_warps, s = num_stages)";
  CHECK(message("BTx/w4") ==
        "sparse_decode_fieldnotes config \"BTx/w4\": cannot read \"BTx\"" + advice);
  CHECK(message("") == "sparse_decode_fieldnotes config \"\": cannot read \"\"" + advice);
  CHECK(message("BT16/q4") ==
        "sparse_decode_fieldnotes config \"BT16/q4\": cannot read \"q4\"" + advice);
  CHECK(message("BT16b") ==
        "sparse_decode_fieldnotes config \"BT16b\": cannot read \"BT16b\"" + advice);
  CHECK(message("128x128x256") ==
        "sparse_decode_fieldnotes config \"128x128x256\": cannot read \"128x128x256\"" + advice);
  CHECK(message("BT16/BT32") ==
        "sparse_decode_fieldnotes config \"BT16/BT32\": block_t is set twice; give it once");
  CHECK(message("BT4096") == "block_t: found 4096; allowed: an integer from 1 to 1024");
  CHECK(usage_error([] { parse_compact_config(find_kernel("cutlass_nvfp4"), "128x128xB"); }) ==
        "cutlass_nvfp4 config \"128x128xB\": cannot read \"128x128xB\"; write for example "
        "128x128x128 or tile_m=128,tile_n=128,tile_k=128 (TM = tile_m, TN = tile_n, TK = tile_k, "
        "s = stages)");
}

TEST_CASE("what a descriptor prints, it reads back", "[property]") {
  for (const auto& kernel : kernel_registry()) {
    for (const auto& point : config_space(*kernel, {})) {
      const std::string text = kernel->compact_config(point);
      INFO(kernel->name() << " " << text);
      Parameters again = complete_parameters(*kernel, parse_compact_config(*kernel, text));
      REQUIRE(again == point);
    }
  }
}

TEST_CASE("the printed config leaves out what is at its default and never varied", "[unit]") {
  const GpuSpec gpu = test::sm120();
  CHECK(test::instance_of("sparse_decode_fieldnotes", gpu, "").config == "BT16/w4/s2");
  CHECK(test::instance_of("sparse_decode_fieldnotes", gpu, "block_h=32").config ==
        "BH32/BT16/w4/s2");
  CHECK(test::instance_of("triton_gemm", gpu, "split_k=4").config == "BM128/BN128/BK64/w4/s3/SK4");
  CHECK(test::instance_of("cutlass_nvfp4", gpu, "stages=3").config == "128x128x128/s3");
}
