// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "model/families/mla/mla_split_rules.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

namespace {

constexpr double kH200Sms = 132, kRtxSms = 188;

}  // namespace

TEST_CASE("FlashAttention 3 does not split four blocks", "[unit]") {
  // 256 tokens = 4 blocks of 64: bound 1, one round of one tile of 4 blocks.
  const MlaRounds r =
      flash_attention3_rounds({.batch = 1, .heads = 1, .kv_tokens = 256}, kH200Sms, false);
  CHECK(r.splits == 1);
  CHECK(r.pieces == 1);
  CHECK(r.blocks == 4);
  CHECK(r.partials == 0);
}

TEST_CASE("FlashAttention 3 takes the fewest splits near the best efficiency", "[unit]") {
  // 512 tokens = 8 blocks, one tile: s splits fill s/132 of the SMs, best at 8 (0.0606); 85 % of it
  // is 0.0515, reached by 7 (0.0530), not by 6 (0.0455). An SM may take ceil(1.1*8/132) = 1 block,
  // so 8 splits are wanted and 7 given: ceil(8/7) = 2 blocks each.
  const MlaRounds r =
      flash_attention3_rounds({.batch = 1, .heads = 64, .kv_tokens = 512}, kH200Sms, false);
  CHECK(r.splits == 7);
  CHECK(r.blocks == 2);
  CHECK(r.partials == 7);
}

TEST_CASE("FlashAttention 3 in vLLM splits at most 32 ways", "[unit]") {
  // 8192 tokens = 128 blocks, ceil(1.1*128/132) = 2 an SM: 64 splits wanted, 32 given, 4 blocks.
  const MlaRounds r =
      flash_attention3_rounds({.batch = 1, .heads = 16, .kv_tokens = 8192}, kH200Sms, true);
  CHECK(r.splits == 32);
  CHECK(r.blocks == 4);
}

TEST_CASE("FlashAttention 3 walks rounds of unsplit tiles", "[unit]") {
  // 1000 sequences exceed the scheduler's limit: no split. 2 tiles each (128 heads) on 132 SMs:
  // ceil(2000/132) = 16 rounds of 8 blocks.
  const MlaRounds r =
      flash_attention3_rounds({.batch = 1000, .heads = 128, .kv_tokens = 512}, kH200Sms, true);
  CHECK(r.splits == 1);
  CHECK(r.pieces == 16);
  CHECK(r.blocks == 128);
}

TEST_CASE("FlashMLA cuts one sequence into equal payloads", "[unit]") {
  // 128 heads: 132/2 = 66 parts. 100 blocks + 5 overhead = 105; payload ceil(105/66) + 5 = 7, of
  // which 5 are overhead: 2 blocks a part, 50 parts.
  const MlaRounds r = flashmla_rounds({.batch = 1, .heads = 128, .kv_tokens = 6400}, kH200Sms);
  CHECK(r.splits == 50);
  CHECK(r.blocks == 2);
  CHECK(r.pieces == 1);
  CHECK(r.partials == 50);
}

TEST_CASE("FlashMLA counts five blocks of overhead a sequence", "[unit]") {
  // 128 blocks + 5 = 133 on 66 parts: ceil is 3 blocks a part (4 of overhead would give 2):
  // ceil(128/3) = 43 parts.
  const MlaRounds r = flashmla_rounds({.batch = 1, .heads = 128, .kv_tokens = 8192}, kH200Sms);
  CHECK(r.splits == 43);
  CHECK(r.blocks == 3);
}

TEST_CASE("FlashMLA gives a sequence an SM when they are equally many", "[unit]") {
  // 132 sequences of 10 blocks on 132 parts: total 132 * 15, payload 15 + 5 = 20. A part takes one
  // sequence (15), the 5 left are all overhead: no second piece.
  const MlaRounds r = flashmla_rounds({.batch = 132, .heads = 64, .kv_tokens = 640}, kH200Sms);
  CHECK(r.splits == 1);
  CHECK(r.blocks == 10);
  CHECK(r.pieces == 1);
  CHECK(r.partials == 0);
}

TEST_CASE("FlashMLA lets a part finish one sequence, take whole ones and begin another", "[unit]") {
  // 2 SMs, 3 sequences of 10 blocks: total 3 * 15, payload ceil(45/2) + 5 = 28. Part 0: one whole
  // (15), of the 13 left 8 blocks of the second: 18 blocks in 2 pieces. Part 1: its other 2 blocks
  // (7 with overhead), 21 left: the third whole. Two results of the second are combined.
  const MlaRounds r = flashmla_rounds({.batch = 3, .heads = 64, .kv_tokens = 640}, 2);
  CHECK(r.blocks == 18);
  CHECK(r.pieces == 2);
  CHECK(r.splits == 2);
  CHECK(r.partials == 2);
}

TEST_CASE("FlashMLA plans batches of any size at once", "[unit]") {
  // 2^31 sequences of one block: 6 each with overhead, payload ceil(6 * 2^31 / 132) + 5 =
  // 97612899: 16268816 whole sequences in the first part, the 3 left are all overhead.
  const MlaRounds r =
      flashmla_rounds({.batch = 2147483648.0, .heads = 64, .kv_tokens = 64}, kH200Sms);
  CHECK(r.pieces == 16268816);
  CHECK(r.blocks == 16268816);
  CHECK(r.splits == 1);
  const MlaRounds huge = flashmla_rounds({.batch = 1e15, .heads = 1e15, .kv_tokens = 1e15}, 132);
  CHECK(std::isfinite(huge.blocks));
  CHECK(huge.blocks >= 1e15 * 1e13);
}

TEST_CASE("FlashMLA hands out every block once", "[property]") {
  const double batch = GENERATE(1, 3, 17, 131, 133, 512);
  const double tokens = GENERATE(1, 64, 65, 1000, 40000);
  const MlaRounds r = flashmla_rounds({.batch = batch, .heads = 64, .kv_tokens = tokens}, kH200Sms);
  const double blocks = std::ceil(tokens / 64);
  INFO(batch << " sequences of " << tokens);
  CHECK(r.blocks * kH200Sms >= batch * blocks);  // the busiest is not below the mean
  CHECK(r.blocks <= std::ceil(batch * (blocks + 5) / kH200Sms) + 5);  // nor above the payload
}

TEST_CASE("SGLang's planner splits for the heads it is told", "[unit]") {
  // 8192 tokens on 188 SMs: floor(188 * log2(8192/64)) = 1316 CTAs wanted.
  // Told 64 heads (4 tiles), 2 sequences: grid 8, ceil(1316/8) = 165 splits, chunks of 50 tokens,
  // 164 splits; rounded to 32: 64 tokens each, 128 splits hold some. 256 are launched.
  const TritonMlaPlan told = sglang_triton_plan(
      {.batch = 2, .heads = 16, .kv_tokens = 8192, .planner_heads = 64}, kRtxSms);
  CHECK(told.tokens_per_split == 64);
  CHECK(told.splits == 128);
  CHECK(told.launched_splits == 256);
  CHECK(told.head_tiles == 1);
  // A server counts the 16 heads of the rank: ceil(1316/2) = 658, capped at 256 splits of 32.
  const TritonMlaPlan served =
      sglang_triton_plan({.batch = 2, .heads = 16, .kv_tokens = 8192}, kRtxSms);
  CHECK(served.tokens_per_split == 32);
  CHECK(served.splits == 256);
}

TEST_CASE("vLLM's Triton kernel gives a split at least 512 tokens", "[unit]") {
  const auto plan = [](double tokens) {
    return vllm_triton_plan({.batch = 1, .heads = 128, .kv_tokens = tokens}, kRtxSms);
  };
  CHECK(plan(1).splits == 1);
  CHECK(plan(1023).splits == 1);  // floor(1023/512) = 1
  CHECK(plan(1024).splits == 2);
  CHECK(plan(1536).splits == 4);  // 3 rounded up to a power of two
  CHECK(plan(1536).tokens_per_split == 384);
  CHECK(plan(1048576).splits == 376);  // 2048 wanted, two an SM given
  CHECK(plan(1).head_tiles == 8);
}
