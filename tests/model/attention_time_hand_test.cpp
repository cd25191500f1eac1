// SPDX-License-Identifier: Apache-2.0
// Decode attention on an invented chip, by hand.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "model/families/attention/attention_time.hpp"
#include "model/families/attention/replay_tick.hpp"
#include "tests/catch.hpp"
#include "tests/model/attention_time_chip.hpp"

using namespace smtwin;
using test::attention_hopper_chip;
using test::attention_sm120_chip;

namespace {

// Values of a model by name; every constant has to be named.
std::vector<double> values_of(const AttentionTimeModel& model,
                              const std::map<std::string, double>& named) {
  std::vector<double> values;
  for (const ConstantSpec& c : model.constants()) values.push_back(named.at(c.name));
  CHECK(values.size() == named.size());
  return values;
}

}  // namespace

TEST_CASE("FlashAttention 2: one round of CTAs over a warm cache", "[unit]") {
  const AttentionTimeModel model(attention_sm120_chip(),
                                 {.provider = AttentionLibrary::flash_attention2});
  const std::vector<double> v = values_of(model, {{"dram_rate", 1e12},
                                                  {"fixed_time", 4e-6},
                                                  {"activation_rate", 1e12},
                                                  {"cta_start", 2e-6},
                                                  {"block_time", 1e-6},
                                                  {"cta_rate", 131072e6},
                                                  {"combine_start", 3e-6},
                                                  {"combine_split", 0.1e-6},
                                                  {"copy_start", 5e-6}});
  // 20 sequences x 4 heads = 80 CTAs of two 128-token blocks: 2 + 2 * 1 us, and 256 tokens of
  // 512 B at 131072 B/us = 1 us: 5 us, of which 2 are exposed.
  // KV 80 * 131072 B at 2.4 TB/s = 4.369 us; (4.369^3 + 3^3)^(1/3) = 4.7972 us.
  // Queries, outputs, new K and V: 20 * 2 * (4 + 4) * 128 * 2 B = 81920 B = 0.082 us.
  const AttentionShape mha{.batch = 20, .q_heads = 4, .kv_heads = 4, .kv_tokens = 256};
  CHECK(model.seconds(mha, v, CacheState::benchmark) == Approx(10.8791e-6).epsilon(1e-5));
  // Cold: 10.486 us from DRAM, norm 10.567, ramp 1.0486.
  CHECK(model.seconds(mha, v, CacheState::cold) == Approx(17.6975e-6).epsilon(1e-4));
  CHECK(model.parts(mha, v, CacheState::cold).regime() == Regime::dram);

  // Grouped heads are packed: 2 rows of CTAs, 40 < 0.8 * 200 slots, so KV splits. 2 blocks, 2
  // splits: 80 CTAs of one block, 2 + 1 + 0.5 us. The copies cost 5 us and 4 * 20 * 8 * 128 * 2 B,
  // partial results 20 * 8 * 128 * 2 * 8 B, activations 20 * 2 * 10 * 128 * 2 B: together
  // 593920 B.
  const AttentionShape gqa{.batch = 20, .q_heads = 8, .kv_heads = 2, .kv_tokens = 256};
  const double moved = 20 * 2 * 10 * 128 * 2 + 4 * 20 * 8 * 128 * 2 + 20 * 8 * 128 * 2 * 8;
  const double memory = 20 * 2 * 256 * 512 / 2.4e12;
  CHECK(model.seconds(gqa, v, CacheState::benchmark) ==
        Approx(4e-6 + 5e-6 + 3.2e-6 + moved / 1e12 + 2e-6 +
               std::cbrt(std::pow(memory, 3) + std::pow(1.5e-6, 3))));
  CHECK(model.parts(gqa, v, CacheState::benchmark).choice == "2 KV splits");
}

TEST_CASE("FlashAttention 3: tiles in rounds, heads packed into 64 rows", "[unit]") {
  const AttentionTimeModel model(attention_hopper_chip(),
                                 {.provider = AttentionLibrary::flash_attention3});
  const std::vector<double> v = values_of(model, {{"dram_rate", 1e12},
                                                  {"fixed_time", 8e-6},
                                                  {"first_block", 3e-6},
                                                  {"dim_power", 0.5},
                                                  {"scan_sequence", 5e-9},
                                                  {"split_sequence", 15e-9},
                                                  {"combine", 2e-6},
                                                  {"narrow_window_edge", 2e-6},
                                                  {"block_time", 1e-6}});
  // 64 sequences x 4 KV heads = 256 tiles on 100 SMs = 3 rounds; 256 tokens are 2 blocks, of which
  // ceil(1.1 * 512 / 100) = 6 may fall to an SM: no split. Tile 3 + 1 us, 12 us, 3 exposed.
  // Bytes: KV 256 * 256 * 512 = 33.55 MB and 64 * 2 * 20 * 128 * 2 = 0.66 MB: 34.2 of 100 MB of L2
  // are warm, 14.254 us at 2.4 TB/s. (14.254^3 + 9^3)^(1/3) = 15.362. 64 sequences are scanned.
  const AttentionShape shape{.batch = 64, .q_heads = 16, .kv_heads = 4, .kv_tokens = 256};
  CHECK(model.seconds(shape, v, CacheState::benchmark) ==
        Approx(8e-6 + 64 * 20e-9 + 3e-6 + 15.3618e-6).epsilon(1e-4));
  // 600 sequences: not from a graph, and 0.8 * 100 SMs are not reached by 4 heads, 2 blocks are
  // not worth a split: the plain instance has no combine kernel, its CTAs still walk the list.
  const auto& kernel = std::get<FlashAttention3>(model.kernel());
  AttentionShape many = shape;
  many.batch = 600;
  CHECK_FALSE(kernel.work(many).exits);
  CHECK(kernel.overhead_s(kernel.work(many), v) == Approx(8e-6 + 600 * 5e-9));
  // A window of 128 over 256 tokens needs its left block as well.
  AttentionShape window = shape;
  window.window = 128;
  CHECK(kernel.work(window).blocks == 2);
  window.kv_tokens = 128;
  CHECK(kernel.work(window).blocks == 1);
}

TEST_CASE("FlashAttention 3 in FP8 pays whole blocks, wide heads more a byte", "[unit]") {
  const AttentionTimeModel model(attention_hopper_chip(),
                                 {.provider = AttentionLibrary::flash_attention3, .fp8_kv = true});
  const std::vector<double> v = values_of(model, {{"dram_rate", 1e12},
                                                  {"fixed_time", 7e-6},
                                                  {"first_block", 3e-6},
                                                  {"dim_power", 1},
                                                  {"scan_sequence", 5e-9},
                                                  {"split_sequence", 15e-9},
                                                  {"combine", 2e-6},
                                                  {"cta_rate", 24576e6},
                                                  {"rate_power", 1},
                                                  {"first_tile", 2e-6},
                                                  {"wide_accumulate", 2},
                                                  {"window_edge", 1.5e-6}});
  const auto& kernel = std::get<FlashAttention3>(model.kernel());
  // 100 tokens are two blocks of 96; the second is multiplied whole: 96 * 256 B = 24576 B, 1 us.
  AttentionShape s{.batch = 100, .q_heads = 4, .kv_heads = 1, .kv_tokens = 100};
  FlashAttention3::Work w = kernel.work(s);
  CHECK(w.blocks == 2);
  CHECK(kernel.tile_s(w, w.blocks, w.further_bytes, v) == Approx(4e-6));
  // 100 sequences, one tile per SM; V of the first tile is transposed in the open.
  CHECK(kernel.overhead_s(w, v) == Approx(7e-6 + 100 * 20e-9 + 2e-6));
  // D = 64: half the time for a first block, half the rate: 128 * 128 B at 12288 B/us.
  s.head_dim = 64;
  s.kv_tokens = 200;
  w = kernel.work(s);
  CHECK(kernel.tile_s(w, 2, w.further_bytes, v) == Approx(1.5e-6 + 16384 / 12288e6));
  // D = 256: the rate of D = 128, twice the time a byte: blocks of 128 * 512 B.
  s.head_dim = 256;
  w = kernel.work(s);
  CHECK(kernel.tile_s(w, 2, w.further_bytes, v) == Approx(6e-6 + 2 * 65536 / 24576e6));
  // D = 192: 2^log2(1.5) = 1.5 times the time a byte: blocks of 96 * 384 B.
  s.head_dim = 192;
  w = kernel.work(s);
  CHECK(kernel.tile_s(w, 2, 36864, v) == Approx(4.5e-6 + 1.5 * 36864 / 24576e6));
}

TEST_CASE("FlashAttention 3 in SGLang casts to FP8, leaves sequences of open windows", "[unit]") {
  const AttentionTimeModel model(attention_hopper_chip(),
                                 {.provider = AttentionLibrary::flash_attention3,
                                  .framework = AttentionFramework::sglang,
                                  .fp8_kv = true});
  const std::vector<double> v = values_of(model, {{"dram_rate", 1e12},
                                                  {"fixed_time", 9e-6},
                                                  {"first_block", 3e-6},
                                                  {"dim_power", 1},
                                                  {"scan_sequence", 10e-9},
                                                  {"split_sequence", 15e-9},
                                                  {"combine", 2e-6},
                                                  {"cta_rate", 24576e6},
                                                  {"rate_power", 1},
                                                  {"two_groups", 1.2},
                                                  {"mixed_dims", 7e-6}});
  const auto& kernel = std::get<FlashAttention3>(model.kernel());
  // 600 sequences of (8 + 2 * 2) heads * 128 * 3 B = 4608 B: 2.7648 MB, 2.7648 us.
  AttentionShape s{.batch = 600, .q_heads = 8, .kv_heads = 2, .kv_tokens = 128};
  const double open = 9e-6 + 600 * 10e-9 + 2.7648e-6;
  CHECK(kernel.overhead_s(kernel.work(s), v) == Approx(open));
  // A window that masks nothing: 512 of the 600 sequences pay 15 ns.
  s.window = 128;
  CHECK(kernel.overhead_s(kernel.work(s), v) == Approx(open + 512 * 15e-9));
  s.kv_tokens = 4096;
  CHECK(kernel.overhead_s(kernel.work(s), v) == Approx(open));
}

TEST_CASE("FlashInfer merges chunks, and in graphs of vLLM single ones too", "[unit]") {
  const FlashInferDecode vllm(attention_sm120_chip(),
                              {AttentionLibrary::flashinfer, AttentionFramework::vllm, true});
  // 2 CTAs for each of 100 SMs, 1 KV head: 50 sequences may have 4 chunks, of 128 tokens or more.
  AttentionShape s{.batch = 50, .q_heads = 8, .kv_heads = 1, .kv_tokens = 128};
  CHECK(vllm.work(s).splits == 1);
  CHECK(vllm.work(s).copied_rows == 50 * 8);
  CHECK(vllm.work(s).merged_rows == 0);
  // A window of 128 is planned with its 16 query rows: 144 tokens, two chunks. A CTA walks 128.
  s.window = 128;
  CHECK(vllm.work(s).splits == 1);
  s.kv_tokens = 4096;
  CHECK(vllm.work(s).splits == 2);
  CHECK(vllm.work(s).tokens == 128);
  CHECK(vllm.work(s).merged_rows == 50 * 8);
  // Beyond the largest captured batch nothing is merged that is not cut.
  s.batch = 600;
  CHECK(vllm.work(s).splits == 1);
  CHECK(vllm.work(s).copied_rows == 0);
  // 32 heads take 64 query rows, whose tiles hold 128 tokens instead of 64.
  AttentionShape one{.batch = 50, .q_heads = 8, .kv_heads = 1, .kv_tokens = 10};
  CHECK(vllm.work(one).tokens == 64);
  one.q_heads = 32;
  CHECK(vllm.work(one).tokens == 128);
}

TEST_CASE("TensorRT-LLM picks its kernel by heads, format and chip", "[unit]") {
  using Kernel = TrtllmDecode::Kernel;
  const AttentionFamily bf16{AttentionLibrary::trtllm, AttentionFramework::trtllm, false};
  const AttentionFamily fp8{AttentionLibrary::trtllm, AttentionFramework::trtllm, true};
  const TrtllmDecode sm120(attention_sm120_chip(), bf16), sm120_fp8(attention_sm120_chip(), fp8);
  const TrtllmDecode hopper_fp8(attention_hopper_chip(), fp8);
  AttentionShape s{.batch = 32, .q_heads = 8, .kv_heads = 1, .kv_tokens = 1024};
  CHECK(sm120.kernel(s) == Kernel::xqa);
  CHECK(hopper_fp8.kernel(s) == Kernel::gmma);
  s.head_dim = 64;
  CHECK(hopper_fp8.kernel(s) == Kernel::xqa);
  s.q_heads = 1;
  CHECK(sm120.kernel(s) == Kernel::mmha);
  s.q_heads = 33;
  CHECK(sm120.kernel(s) == Kernel::mmha);
  // 24 CTAs are fewer than a quarter of 100 SMs: BF16 takes the masked kernel, FP8 does not.
  s = {.batch = 24, .q_heads = 8, .kv_heads = 1, .kv_tokens = 100};
  CHECK(sm120.kernel(s) == Kernel::mmha);
  CHECK(sm120_fp8.kernel(s) == Kernel::xqa);
}

TEST_CASE("the warp-group kernel loads whole blocks", "[unit]") {
  const TrtllmDecode kernel(attention_hopper_chip(),
                            {AttentionLibrary::trtllm, AttentionFramework::trtllm, true});
  AttentionShape s{.batch = 100, .q_heads = 8, .kv_heads = 1, .kv_tokens = 2};
  const double two = kernel.work(s).traffic.bytes;
  s.kv_tokens = 64;
  CHECK(kernel.work(s).traffic.bytes == two);
  CHECK(two == 100 * 64 * 256);
  s.kv_tokens = 65;
  CHECK(kernel.work(s).traffic.bytes == 2 * two);
}

TEST_CASE("vLLM's Triton segments divide the whole context, not the window", "[unit]") {
  const TritonDecode kernel(attention_sm120_chip(),
                            {AttentionLibrary::triton, AttentionFramework::vllm, true});
  // 2048 tokens are 64 tiles of 32, 4 a segment: all 16 segments work.
  AttentionShape s{.batch = 1, .q_heads = 8, .kv_heads = 1, .head_dim = 192, .kv_tokens = 2048};
  CHECK(kernel.work(s).splits == 16);
  CHECK(kernel.work(s).tokens == 128);
  // The last 128 tokens are the last segment: one CTA walks them all, 16 are launched.
  s.window = 128;
  CHECK(kernel.work(s).splits == 1);
  CHECK(kernel.work(s).tokens == 128);
  CHECK(kernel.work(s).launched == 16);
  // 129 sequences and heads fill the GPU: no segments.
  s = {.batch = 129, .q_heads = 8, .kv_heads = 1, .head_dim = 192, .kv_tokens = 2048};
  CHECK(kernel.work(s).splits == 1);
  CHECK(kernel.work(s).tokens == 2048);
  CHECK(kernel.work(s).launched == 129);
}

TEST_CASE("half lines of the second head are read again when its CTA comes late", "[unit]") {
  const FlashInferDecode kernel(attention_sm120_chip(),
                                {AttentionLibrary::flashinfer, AttentionFramework::vllm, true});
  AttentionShape s{.batch = 50, .q_heads = 8, .kv_heads = 2, .head_dim = 64, .kv_tokens = 512};
  CHECK(kernel.work(s).traffic.dram_reads == 1.25);  // 50 of the 200 CTAs that run at once
  s.batch = 1000;
  CHECK(kernel.work(s).traffic.dram_reads == 2);
  s.head_dim = 128;  // a token of a head is a line
  CHECK(kernel.work(s).traffic.dram_reads == 1);
  s.head_dim = 64;
  s.kv_heads = 1;  // the other half is the next token
  CHECK(kernel.work(s).traffic.dram_reads == 1);
}

TEST_CASE("a replay is warm until its footprint exceeds the L2", "[unit]") {
  CHECK(replayed_traffic(1, 100e6, attention_sm120_chip()).cold == 0);
  CHECK(replayed_traffic(1, 106e6, attention_sm120_chip()).cold == Approx(0.5));
  CHECK(replayed_traffic(1, 112e6, attention_sm120_chip()).cold == Approx(1));
  // Hopper's halves cache for themselves.
  CHECK(replayed_traffic(1, 53e6, attention_hopper_chip()).cold == 0);
  CHECK(replayed_traffic(1, 80e6, attention_hopper_chip()).cold == Approx(1));
}

TEST_CASE("readings lie on the replay grid", "[unit]") {
  // Phase 0.2, tick 2: 0.2, 2.2, 4.2, ...; 3 us is read as 4.2.
  CHECK(replay_reading_s(3e-6, 2e-6, 0.2e-6) == Approx(4.2e-6).epsilon(1e-3));
  CHECK(replay_reading_s(5.1e-6, 2e-6, 0.2e-6) == Approx(6.2e-6).epsilon(1e-3));
  CHECK(replay_reading_s(3e-6, 0, 0) == 3e-6);
  // On the edge half of the replays take the next tick.
  CHECK(replay_reading_s(4.2e-6, 2e-6, 0.2e-6) == Approx(5.2e-6));
  // The smooth reading rises all the way.
  double before = 0;
  for (double s = 3e-6; s < 7e-6; s += 0.05e-6) {
    const double now = smooth_replay_reading_s(s, 2e-6, 0.2e-6);
    CHECK(now > before);
    before = now;
  }
}
