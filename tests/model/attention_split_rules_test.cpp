// SPDX-License-Identifier: Apache-2.0
// How the libraries cut one decode step, by hand.
#include "model/families/attention/flashinfer_decode.hpp"
#include "model/families/attention/split_rules.hpp"
#include "tests/catch.hpp"

using namespace smtwin;

TEST_CASE("FlashAttention 2 skips splits that shorten no CTA", "[unit]") {
  // 8 units on 376 slots, 128 blocks. Candidates are the smallest s of each ceil(128/s):
  //   43 -> 3 blocks a CTA, 344/376 = 0.915, the best; 32 -> 256/376 = 0.68, below 0.85 * 0.915.
  // 40 would fill 0.85 as well but leaves 4 blocks a CTA, as 32 does.
  CHECK(fa2_splits(8, 376, 128) == 43);
  // 300.8 = 0.8 * 376 units need no split.
  CHECK(fa2_splits(301, 376, 128) == 1);
  CHECK(fa2_splits(300, 376, 1) == 1);
}

TEST_CASE("FlashAttention 3 bounds splits by one sequence's heads", "[unit]") {
  // 8 heads on 132 SMs: the best of 32 splits is 16, 128/132 = 0.970; 0.85 * 0.970 = 0.824;
  // 13 splits reach 104/132 = 0.788, 14 reach 112/132 = 0.848.
  CHECK(fa3_split_bound(8, 32, 132) == 14);
  CHECK(fa3_split_bound(8, 4, 132) == 1);     // four blocks are not worth it
  CHECK(fa3_split_bound(106, 32, 132) == 1);  // 0.8 * 132 = 105.6
}

TEST_CASE("FlashAttention 3 gives every SM 1.1 times its share of blocks", "[unit]") {
  // 4 sequences x 8 heads x 32 blocks = 1024; ceil(1.1 * 1024 / 132) = 9 blocks; 32 / 9 -> 4.
  CHECK(fa3_splits(32, 32, 1024, 132) == 4);
  CHECK(fa3_splits(3, 32, 1024, 132) == 3);
  CHECK(fa3_splits(1, 32, 1024, 132) == 1);
}

TEST_CASE("XQA damps its parts", "[unit]") {
  // 16384 / 128 = 128 parts, sqrt(8 * 128) = 32.
  CHECK(xqa_splits(8, 16384, 188) == 32);
  // 512 * 32 / 188 = 87 waves, 10.9 times the 8 allowed: 32 / 10.9 -> 2.
  CHECK(xqa_splits(512, 16384, 188) == 2);
  // Up to 8 parts, sqrt(8 m) >= m: no damping.
  CHECK(xqa_splits(8, 512, 188) == 4);
  CHECK(xqa_splits(8, 100, 188) == 1);
}

TEST_CASE("masked attention grows its CTAs while the grid leaves room", "[unit]") {
  // 132 SMs hold 528 CTAs of 256 threads. 64 of them leave room for 4 times the threads.
  const MmhaLaunch few = mmha_launch(64, 128, 4096, 132, 4);
  CHECK(few.threads == 1024);
  CHECK(few.ctas_per_sm == 1);
  CHECK(few.splits == 3);  // ceil(132 / 64); 64 keys a pass, 8 passes: up to 9 parts
  // 512 tokens are one loop of 8 * 64 keys and the new token: at most 2 parts.
  CHECK(mmha_launch(64, 128, 512, 132, 4).splits == 2);
  // 3 small CTAs an SM: 188 * 3 = 564 slots, room for 2 times; 512 threads then fit once.
  const MmhaLaunch more = mmha_launch(512, 128, 4096, 188, 3);
  CHECK(more.threads == 512);
  CHECK(more.ctas_per_sm == 1);
  CHECK(more.splits == 1);
  CHECK(mmha_launch(600, 128, 4096, 188, 3).threads == 256);
  CHECK(mmha_launch(600, 128, 4096, 188, 3).ctas_per_sm == 3);
}

TEST_CASE("FlashInfer takes the smallest chunk that fits, of at least 128 tokens", "[unit]") {
  // 47 slots / 8 = 5 chunks of ceil(4096 / 5) = 820 tokens.
  CHECK(flashinfer_splits(8, 4096, 47) == 5);
  CHECK(flashinfer_splits(8, 256, 47) == 2);  // not 5 of 52
  CHECK(flashinfer_splits(47, 4096, 47) == 1);
}

TEST_CASE("SGLang's Triton kernel wants more CTAs for longer contexts", "[unit]") {
  // 188 * log2(4096 / 64) = 1128 CTAs; 8 units could have 141 splits, 512 units 2.
  CHECK(sglang_triton_splits(8, 4096, 188, 8) == 8);
  CHECK(sglang_triton_splits(512, 4096, 188, 8) == 2);
  CHECK(sglang_triton_splits(512, 32, 188, 8) == 1);
}

TEST_CASE("FlashInfer's CUDA-core kernel lays out 128 threads", "[unit]") {
  // 16 lanes of 8 values, 1 head: 8 rows of threads, 4 tokens each.
  CHECK(cuda_core_tokens(1, 128) == 32);
  // 2 heads: 4 rows, one token each row and head.
  CHECK(cuda_core_tokens(2, 128) == 8);
  // 256 wide: 32 lanes, 3 heads take 96 threads, one row.
  CHECK(cuda_core_tokens(3, 256) == 3);
}
