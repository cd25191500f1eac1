// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.hpp"

#include "arch/error.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("bytes take the suffixes people mean", "[unit]") {
  CHECK(parse_bytes("--smem", "61568") == 61568);
  CHECK(parse_bytes("--smem", "16KiB") == 16384);
  CHECK(parse_bytes("--smem", " 16 KiB ") == 16384);
  CHECK(parse_bytes("--smem", "1.5KiB") == 1536);
  CHECK(parse_bytes("--smem", "1kB") == 1000);
  CHECK(parse_bytes("--smem", "0") == 0);
  CHECK_THROWS_AS(parse_bytes("--smem", "16K"), UsageError);
  CHECK_THROWS_AS(parse_bytes("--smem", ""), UsageError);
}

TEST_CASE("lists of counts are checked one by one", "[unit]") {
  CHECK(parse_counts("--tp", "1, 2,4", 1, 8, "1 to 8") == std::vector<std::int64_t>{1, 2, 4});
  CHECK_THROWS_WITH(parse_counts("--tp", "1,9", 1, 8, "1 to 8"), "--tp 9: 1 to 8");
  CHECK_THROWS_WITH(parse_counts("--tp", "1,", 1, 8, "1 to 8"),
                    "--tp: expected a whole number, found \"\"; 1 to 8");
}

TEST_CASE("a setting goes to the kernel, the GPU or the model by its path", "[unit]") {
  const KernelDescriptor& kernel = find_kernel("sparse_decode_fieldnotes");
  const RoutedSettings routed =
      route_settings({"num-warps=4,8", "kernel.sparse_decode_fieldnotes.block_t=32",
                      "sm.shared_bytes_per_sm=228KiB", "model.num_hidden_layers=4"},
                     &kernel, true);
  REQUIRE(routed.kernel.size() == 2);
  CHECK(routed.kernel[0].path == "num_warps");
  CHECK(routed.kernel[0].values == std::vector<std::string>{"4", "8"});
  CHECK(routed.kernel[1].path == "block_t");
  REQUIRE(routed.gpu.size() == 1);
  CHECK(routed.gpu[0].single() == "sm.shared_bytes_per_sm=228KiB");
  REQUIRE(routed.model.size() == 1);
  CHECK(routed.model[0].path == "num_hidden_layers");
}

TEST_CASE("a setting that fits nowhere names what is near", "[unit]") {
  CHECK_THROWS_WITH(route_settings({"num_warp=4"}, &find_kernel("triton_gemm")),
                    "--set num_warp: neither a parameter of triton_gemm nor a field of a GPU; did "
                    "you mean num_warps?");
  CHECK_THROWS_AS(route_settings({"model.x=1"}, nullptr, false), UsageError);
  CHECK_THROWS_WITH(single_values({{.path = "m", .values = {"1", "2"}}}),
                    "--set m: one value expected, found 2; `smtwin whatif` compares several");
}
