// SPDX-License-Identifier: Apache-2.0
// Scoring of compiled tables on made-up files: agreement, one row off, kernels not known, bad
// cells.
#include "validate/compiled_table.hpp"

#include <sstream>

#include "arch/error.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

namespace {

// Enough of a chip for shared bytes, so that no data files are needed.
GpuSpec chip(ComputeCapability cc) {
  if (cc.major < 7) throw UsageError("unknown gpu \"" + architecture_name(cc) + "\"");
  GpuSpec gpu;
  gpu.compute_capability = cc;
  gpu.sm.shared_bytes_per_cta_optin = cc.major == 9 ? 232448 : 101376;
  return gpu;
}

CompiledScore score(const std::string& text) {
  std::istringstream in(text);
  return score_compiled_table(in, "rows.csv", chip);
}

std::string complaint(const std::string& text) {
  try {
    score(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

const std::string kTriton =
    "kernel,cc,BLOCK_M,BLOCK_N,BLOCK_K,BLOCK_H,BLOCK_T,num_warps,num_stages,shared,regs,stack\n";

}  // namespace

TEST_CASE("rows that agree, rows of kernels nobody describes, rows that failed", "[unit]") {
  // bf16 128 x 256 x 64, 4 stages on sm_120: 3 x 384 x 64 x 2 = 147,456
  const auto got = score(kTriton +
                         "dense_gemm_kernel,120,128,256,64,,,8,4,147456,200,0\n"
                         "dense_gemm_kernel,sm_120,128,256,64,,,8,4,147456,200,64\n"
                         "moe_grouped_gemm_kernel,9.0,16,64,128,,,4,3,20480,64,0\n"
                         "sparse_mla_decode_split_kernel,120,,,,16,16,8,2,32768,237,0\n"
                         "dense_gemm_kernel,120,128,256,64,,,8,4,-1,-1,-1\n"
                         "triton_gemm,90,128,256,64,,,8,4,,,\n");
  CHECK(got.rows == 6);
  CHECK(got.skipped == 3);
  CHECK(got.compared() == 3);
  CHECK(got.mismatches == 0);
  CHECK(got.agrees());
  CHECK(got.skipped_kernels ==
        std::map<std::string, std::int64_t>{{"sparse_mla_decode_split_kernel", 1},
                                            {"dense_gemm_kernel (no shared bytes in the row)", 1},
                                            {"triton_gemm (no shared bytes in the row)", 1}});
  CHECK(got.compared_kernels ==
        std::map<std::string, std::int64_t>{{"triton_gemm", 2}, {"triton_moe_gemm", 1}});
  // The row that spills says nothing about registers.
  CHECK(got.register_rows == 2);
  CHECK(got.register_error_p90.has_value());
}

TEST_CASE("a row one byte off is a mismatch, in full", "[unit]") {
  const auto got = score(kTriton +
                         "dense_gemm_kernel,120,128,256,64,,,8,4,147456,200,0\n"
                         "dense_gemm_kernel,120,128,256,64,,,8,4,147457,200,0\n");
  CHECK(got.mismatches == 1);
  CHECK_FALSE(got.agrees());
  REQUIRE(got.first_mismatches.size() == 1);
  const auto& mismatch = got.first_mismatches[0];
  CHECK(mismatch.line == 3);
  CHECK(mismatch.kernel == "dense_gemm_kernel");
  CHECK(mismatch.architecture == "sm_120");
  CHECK(mismatch.config == "BM128/BN256/BK64/w8/s4");
  REQUIRE(mismatch.quantities.size() == 1);
  CHECK(mismatch.quantities[0].name == "shared_bytes");
  CHECK(mismatch.quantities[0].expected == 147457);
  CHECK(mismatch.quantities[0].computed == 147456);
  CHECK(mismatch.shared_formula == "(128 + 256) x 64 x 2 B x 3 buffers = 147,456");
  CHECK(mismatch.cells.at("BLOCK_M") == "128");
  CHECK(mismatch.cells.at("regs") == "200");
}

TEST_CASE("only the first twenty mismatches are kept", "[unit]") {
  std::string text = kTriton;
  for (int i = 0; i < 50; ++i) text += "dense_gemm_kernel,120,128,256,64,,,8,4,1,200,0\n";
  const auto got = score(text);
  CHECK(got.mismatches == 50);
  CHECK(got.first_mismatches.size() == 20);
}

TEST_CASE("columns in any order and case; further ones set parameters", "[unit]") {
  const auto got = score(
      "shared,comment,dtype,triton_version,num_stages,num_warps,block_k,block_n,block_m,cc,kernel\n"
      "196608,\"old, 2023\",fp16,2.x,4,4,64,256,128,80,triton_gemm\n"
      "147456,\"today\",fp16,,4,4,64,256,128,80,triton_gemm\n");
  CHECK(got.rows == 2);
  CHECK(got.mismatches == 0);
}

TEST_CASE("CUTLASS rows compare every quantity they give", "[unit]") {
  const std::string header =
      "grouped,tile_m,tile_n,tile_k,kernel_shared_bytes,mainloop_shared_bytes,"
      "epilogue_shared_bytes,stages,threads\r\n";
  // 4 x 18,432 + 1,024 = 74,752; + 13,312 = 88,064; grouped 1,024 more
  const auto right = score(header +
                           "0,128,128,128,88064,74752,13312,4,384\r\n"
                           "1,128,128,128,89088,74752,13312,4,384\r\n");
  CHECK(right.rows == 2);
  CHECK(right.mismatches == 0);
  CHECK(right.compared_kernels.at("cutlass_nvfp4") == 2);
  const auto wrong = score(header + "0,128,128,128,88064,74752,13312,5,384\n");
  CHECK(wrong.mismatches == 1);
  REQUIRE(wrong.first_mismatches.size() == 1);
  CHECK(wrong.first_mismatches[0].config == "128x128x128");
  REQUIRE(wrong.first_mismatches[0].quantities.size() == 5);
  CHECK(wrong.first_mismatches[0].quantities[3].name == "stages");
  CHECK(wrong.first_mismatches[0].quantities[3].expected == 5);
  CHECK(wrong.first_mismatches[0].quantities[3].computed == 4);
  CHECK(score("tile_m,tile_n,tile_k,kernel_shared_bytes\n128,128,128,88064\n").agrees());
}

TEST_CASE("complaints name file, line, column and what is allowed", "[unit]") {
  CHECK(complaint("a,b\n1,2\n") ==
        "rows.csv: missing columns kernel, cc, shared; the file has a, b");
  CHECK(complaint("kernel,shared\ntriton_gemm,1\n") ==
        "rows.csv: missing column cc; the file has kernel, shared");
  CHECK(complaint("kernel,cc,shared,block_m\ntriton_gemm,120,1,16\n") ==
        "rows.csv: missing columns block_n, block_k, num_warps, num_stages; the file has kernel, "
        "cc, shared, block_m");
  CHECK(complaint("tile_m,kernel_shared_bytes\n128,1\n") ==
        "rows.csv: missing columns tile_n, tile_k; the file has tile_m, kernel_shared_bytes");
  CHECK(complaint(kTriton + "dense_gemm_kernel,120,128,,64,,,8,4,147456,,\n") ==
        "rows.csv:2: BLOCK_N: expected an integer from 1 to 1024, found an empty cell");
  CHECK(complaint(kTriton + "dense_gemm_kernel,120,128,x,64,,,8,4,147456,,\n") ==
        "rows.csv:2: BLOCK_N: expected an integer from 1 to 1024, found \"x\"");
  CHECK(complaint(kTriton + "dense_gemm_kernel,hopper,128,64,64,,,8,4,147456,,\n") ==
        "rows.csv:2: cc: expected a compute capability, found \"hopper\"; write 90, 9.0 or sm_90");
  CHECK(complaint(kTriton + "dense_gemm_kernel,50,128,64,64,,,8,4,147456,,\n") ==
        "rows.csv:2: unknown gpu \"sm_50\"");
  CHECK(complaint(kTriton + "dense_gemm_kernel,120,128,64,64,,,8,4,many,,\n") ==
        "rows.csv:2: shared: expected an integer, found \"many\"");
  CHECK(complaint("kernel,cc,shared,block_m,block_n,block_k,num_warps,num_stages,dtype\n"
                  "triton_gemm,120,1,16,16,16,4,2,fp7\n") ==
        "rows.csv:2: dtype: found \"fp7\"; allowed: bf16, fp16, fp8, int8, fp32");
}

TEST_CASE("a table with a header only is empty, not wrong", "[unit]") {
  const auto got = score(kTriton);
  CHECK(got.rows == 0);
  CHECK(got.agrees());
  CHECK_FALSE(got.register_error_median.has_value());
}
