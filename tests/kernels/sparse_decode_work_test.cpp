// SPDX-License-Identifier: Apache-2.0
// Work of the sparse decode kernel: why eight warps are no faster than four.
#include "kernels/external/sparse_decode_fieldnotes/work.hpp"

#include "tests/catch.hpp"
#include "tests/kernels/chip.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;

namespace {
SparseDecodeWork work(std::int64_t num_warps, std::int64_t block_h = 16,
                      std::int64_t block_t = 16) {
  return sparse_decode_work({.heads_per_cta = static_cast<double>(block_h),
                             .block_h = block_h,
                             .block_t = block_t,
                             .num_warps = num_warps,
                             .num_stages = 2,
                             .tokens = 512});
}
}  // namespace

TEST_CASE("one CTA's work by hand", "[unit]") {
  // 512 tokens in tiles of 16: 32 steps
  const CtaWork cta = work(4).cta;
  CHECK(cta.steps == 32);
  CHECK(cta.step_read_bytes == 16 * 588);
  // 584 B and a 4 B index a token, and 16 heads x 512 x 2 B of queries
  CHECK(cta.global_read_bytes == 512 * 588 + 16384);
  CHECK(cta.global_write_bytes == 16384 + 16 * 4);
  CHECK(cta.loads_in_flight == 1);
  // Tensor products of m16n8k16 (4,096 flops) a step: scores 4 warps x 36, values 72
  CHECK(cta.math_flops == 32.0 * (144 + 72) * 4096);
  // Shared bytes a step: raw rows written and read 2 x 16 x 584, BF16 rows 16 x 1,152, scores
  // 4 x 27,648, values: 4 warps x (16 rows + 144 columns) x 32 B, probabilities 16 x 16 x 2
  CHECK(cta.shared_bytes == 32.0 * (18688 + 18432 + 110592 + 20480 + 512));
  // Exponentials a step: 256 scores and 16 maxima, twice, and 8 scales a token
  CHECK(cta.sfu_ops == 32.0 * (2 * 256 + 2 * 16 + 128));
}

TEST_CASE("eight warps repeat the scores instead of sharing them", "[unit]") {
  const SparseDecodeWork four = work(4), eight = work(8);
  CHECK(four.score_repeats == 2);
  CHECK(eight.score_repeats == 4);
  // 27 KB a warp and tile of 16 tokens: 6,912 B a token with 4 warps, twice that with 8
  CHECK(four.score_shared_bytes == 6912);
  CHECK(eight.score_shared_bytes == 13824);
  CHECK(eight.cta.math_flops / four.cta.math_flops == Approx((288 + 72) / (144.0 + 72)));
  CHECK(eight.cta.shared_bytes > 1.6 * four.cta.shared_bytes);
  CHECK(eight.warp_instructions_per_token > four.warp_instructions_per_token);
  // The gather is the same: nothing new is fetched.
  CHECK(eight.cta.global_read_bytes == four.cta.global_read_bytes);
}

TEST_CASE("only more tokens a tile give more warps columns of their own", "[unit]") {
  CHECK(work(4, 16, 32).score_repeats == 1);  // four 8-wide columns
  CHECK(work(8, 16, 32).score_repeats == 2);
  CHECK(work(8, 16, 64).score_repeats == 1);
  CHECK(work(4, 32, 16).score_repeats == 2);  // more heads do not
}

TEST_CASE("shared traffic per token follows what an H200 measured", "[unit]") {
  // BLOCK_H 32, 4 warps: each loads 32 rows of Q and 8 of K, 40 x 1,152 = 46,080 B a tile.
  CHECK(work(4, 32, 16).score_shared_bytes == 4 * 46080 / 16);
  // Measured at batch 128, topk 2048: 16 heads 364 us (w4) and 609 us (w8); 64 heads, BLOCK_H 32
  // 1,058 us for two head groups.
  const double base = work(4).cta.shared_bytes;
  CHECK(work(8).cta.shared_bytes / base == Approx(609 / 363.9).epsilon(0.03));
  CHECK(work(4, 32).cta.shared_bytes / base == Approx(1058.1 / 2 / 363.9).epsilon(0.03));
}

TEST_CASE("narrow head groups gather and dequantize the same tokens again", "[unit]") {
  const auto gpu = test::sm120();
  const std::string wide = "heads=64 block_h=32";
  const std::string narrow = "heads=64 block_h=16";
  const auto of = [&](const std::string& settings) {
    return test::instance_of("sparse_decode_fieldnotes", gpu, settings);
  };
  const auto total = [](const KernelInstance& k, double per_cta) {
    return per_cta * static_cast<double>(k.grid.ctas());
  };
  const auto w = of(wide), n = of(narrow);
  CHECK(w.unique_read_bytes == n.unique_read_bytes);
  // All tokens of the batch, once a head group, and the queries once a split of the tokens
  const double tokens = 64.0 * 512 * 588, queries = 64.0 * 64 * 1024;
  CHECK(total(n, n.work.global_read_bytes) == 4 * tokens + queries);
  CHECK(total(w, w.work.global_read_bytes) == 2 * tokens + 2 * queries);
  CHECK(total(n, n.work.fp32_flops) > 1.5 * total(w, w.work.fp32_flops));
  // Useful: two products over 512 values for each head and token
  CHECK(n.useful_flops == 4.0 * 64 * 64 * 512 * 512);
}
