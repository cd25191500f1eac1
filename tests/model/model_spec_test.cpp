// SPDX-License-Identifier: Apache-2.0
#include "model/model_spec.hpp"

#include "tests/catch.hpp"

using namespace smtwin;

namespace {

LayerSpec with_attention(const AttentionSpec& attention) {
  LayerSpec layer;
  layer.attention = attention;
  return layer;
}

AttentionSpec gqa(std::int64_t kv_heads, std::int64_t head_dim, std::int64_t v_head_dim,
                  std::int64_t window = 0) {
  AttentionSpec a;
  a.kind = AttentionKind::gqa;
  a.heads = 4 * kv_heads;
  a.kv_heads = kv_heads;
  a.head_dim = head_dim;
  a.v_head_dim = v_head_dim;
  a.window = window;
  return a;
}

AttentionSpec mla(bool indexer) {
  AttentionSpec a;
  a.kind = AttentionKind::mla;
  a.heads = 128;
  a.kv_heads = 1;
  a.head_dim = 576;
  a.k_is_v = true;
  a.kv_lora_rank = 512;
  a.qk_rope_head_dim = 64;
  if (indexer) a.indexer = IndexerSpec{64, 128, 2048, 132};
  return a;
}

AttentionSpec dsv4(std::int64_t ratio) {
  AttentionSpec a;
  a.kind = AttentionKind::dsv4;
  a.heads = 64;
  a.kv_heads = 1;
  a.head_dim = 512;
  a.v_head_dim = 512;
  a.window = 128;
  a.qk_nope_head_dim = 448;
  a.qk_rope_head_dim = 64;
  a.compress_ratio = ratio;
  if (ratio == 4) a.indexer = IndexerSpec{64, 128, 512, 132};
  return a;
}

WeightMatrix matrix(const char* name, std::int64_t out, std::int64_t in, NumberFormat format,
                    Shard shard = Shard::replicated, std::int64_t copies = 1,
                    std::int64_t bias = 0) {
  WeightMatrix m;
  m.name = name;
  m.out = out;
  m.in = in;
  m.copies = copies;
  m.format = format;
  m.shard = shard;
  m.bias = bias;
  return m;
}

// 100 rows of vocabulary, 10 wide; one layer: 4 experts of 2 x 60 elements, 2 a token, a router,
// 7 vector elements; 3 elements of final norm.
ModelSpec tiny() {
  ModelSpec model;
  model.hidden = 10;
  model.vocabulary = 100;
  model.embedding = matrix("embedding", 100, 10, NumberFormat::bf16, Shard::vocabulary);
  model.lm_head = matrix("lm_head", 100, 10, NumberFormat::bf16, Shard::vocabulary);
  model.vector_parameters = 3;
  LayerSpec layer;
  layer.mlp.kind = MlpKind::moe;
  layer.mlp.experts = 4;
  layer.mlp.experts_per_token = 2;
  layer.weights = {matrix("router", 4, 10, NumberFormat::bf16),
                   matrix("experts_gate_up", 6, 10, NumberFormat::fp8, Shard::experts, 4, 24),
                   matrix("experts_down", 10, 6, NumberFormat::fp8, Shard::experts, 4)};
  layer.vector_parameters = 7;
  model.layers = {layer};
  return model;
}

}  // namespace

TEST_CASE("an element carries its share of the scales", "[unit]") {
  CHECK(bytes_per_element(NumberFormat::fp32) == 4);
  CHECK(bytes_per_element(NumberFormat::bf16) == 2);
  CHECK(bytes_per_element(NumberFormat::fp16) == 2);
  CHECK(bytes_per_element(NumberFormat::fp8) == 1);
  CHECK(bytes_per_element(NumberFormat::int8) == 1);
  // One fp32 for 128 x 128 elements: 4 / 16384.
  CHECK(bytes_per_element(NumberFormat::fp8_block) == Approx(1.000244140625).epsilon(1e-12));
  CHECK(bytes_per_element(NumberFormat::nvfp4) == 0.5625);   // a byte for 16
  CHECK(bytes_per_element(NumberFormat::mxfp4) == 0.53125);  // a byte for 32
  CHECK(bytes_per_element(NumberFormat::int4) == 0.515625);  // two bytes for 128
}

TEST_CASE("scale blocks", "[unit]") {
  CHECK(scale_block(NumberFormat::fp8_block).out == 128);
  CHECK(scale_block(NumberFormat::fp8_block).in == 128);
  CHECK(scale_block(NumberFormat::nvfp4).out == 1);
  CHECK(scale_block(NumberFormat::nvfp4).in == 16);
  CHECK(scale_block(NumberFormat::mxfp4).in == 32);
  CHECK(scale_block(NumberFormat::int4).in == 128);
  CHECK(scale_block(NumberFormat::bf16).in == 1);
}

TEST_CASE("every format and kind of attention has a name of its own", "[unit]") {
  CHECK(to_string(NumberFormat::fp8_block) == "fp8_block");
  CHECK(to_string(NumberFormat::nvfp4) == "nvfp4");
  CHECK(to_string(AttentionKind::gated_delta) == "gated_delta");
  CHECK(to_string(AttentionKind::none) == "none");
}

TEST_CASE("a matrix counts its copies, and its bias in bf16", "[unit]") {
  // 3 copies of 8 x 16 in nvfp4 and 24 bias elements: 384 + 24 parameters;
  // 384 x 0.5625 + 24 x 2 = 216 + 48 bytes.
  const WeightMatrix m = matrix("x", 8, 16, NumberFormat::nvfp4, Shard::experts, 3, 24);
  CHECK(m.parameters() == 408);
  CHECK(m.bytes() == 264);
  CHECK(matrix("x", 8, 16, NumberFormat::bf16, Shard::replicated, 0).parameters() == 0);
}

TEST_CASE("totals and active parameters", "[unit]") {
  const ModelSpec model = tiny();
  // 2 x 1000 embedding and head, 3 norm, 7 vectors, 40 router, 4 x 120 experts + 24 bias.
  CHECK(total_parameters(model) == 2000 + 3 + 7 + 40 + 504);
  CHECK(active_parameters(model) == 2000 + 3 + 7 + 40 + 252);  // half the experts
  // bf16: 2 x (2000 + 3 + 7 + 40); experts fp8 480 + bias 24 x 2.
  CHECK(weight_bytes(model) == 4100 + 480 + 48);
}

TEST_CASE("the input embedding is active or not, as the maker counts; a tied one always is",
          "[unit]") {
  ModelSpec model = tiny();
  model.active_includes_embedding = false;
  CHECK(active_parameters(model) == 1000 + 3 + 7 + 40 + 252);
  CHECK(total_parameters(model) == 2000 + 3 + 7 + 40 + 504);
  model.tied_embeddings = true;
  model.lm_head.copies = 0;
  CHECK(active_parameters(model) == 1000 + 3 + 7 + 40 + 252);
  CHECK(total_parameters(model) == 1000 + 3 + 7 + 40 + 504);
}

TEST_CASE("GQA caches K and V of every KV head", "[unit]") {
  // Llama-3.1-8B: 8 heads x (128 + 128) x 2 B = 4096 B a token and layer, half of it in fp8.
  CHECK(kv_entry_bytes(gqa(8, 128, 128), NumberFormat::bf16) == 4096);
  CHECK(kv_entry_bytes(gqa(8, 128, 128), NumberFormat::fp8) == 2048);
  // MiMo-V2: K 192 and V 128 wide: 4 x 320 x 2.
  CHECK(kv_entry_bytes(gqa(4, 192, 128), NumberFormat::bf16) == 2560);
  AttentionSpec shared = gqa(8, 128, 128);
  shared.k_is_v = true;
  CHECK(kv_entry_bytes(shared, NumberFormat::bf16) == 2048);
  CHECK(kv_bytes_per_token(with_attention(gqa(8, 128, 128)), NumberFormat::bf16) == 4096);
  CHECK(state_bytes_per_sequence(with_attention(gqa(8, 128, 128)), NumberFormat::bf16) == 0);
}

TEST_CASE("a sliding window is a state once full", "[unit]") {
  const LayerSpec layer = with_attention(gqa(8, 64, 64, 128));  // 2048 B an entry
  CHECK(kv_bytes_per_token(layer, NumberFormat::bf16) == 0);
  CHECK(state_bytes_per_sequence(layer, NumberFormat::bf16) == 128 * 2048);
  CHECK(cache_bytes_per_sequence(layer, NumberFormat::bf16, 100) == 100 * 2048);
  CHECK(cache_bytes_per_sequence(layer, NumberFormat::bf16, 128) == 128 * 2048);
  CHECK(cache_bytes_per_sequence(layer, NumberFormat::bf16, 100'000) == 128 * 2048);
}

TEST_CASE("MLA caches one latent; sparse MLA in fp8 keeps scales and a bf16 RoPE part", "[unit]") {
  CHECK(kv_entry_bytes(mla(false), NumberFormat::bf16) == 1152);  // (512 + 64) x 2
  CHECK(kv_entry_bytes(mla(false), NumberFormat::fp8) == 576);
  CHECK(kv_entry_bytes(mla(true), NumberFormat::bf16) == 1152);
  CHECK(kv_entry_bytes(mla(true), NumberFormat::fp8) == 656);  // 512 + 4 x 4 + 64 x 2
  // The indexer adds a key of 128 fp8 + 4 scale bytes to every token.
  CHECK(kv_bytes_per_token(with_attention(mla(true)), NumberFormat::fp8) == 788);
}

TEST_CASE("DeepSeek-V4 caches a window and one entry in 4 or 128 tokens", "[unit]") {
  // 448 fp8 + 64 bf16 + 7 scale bytes padded to 8.
  CHECK(kv_entry_bytes(dsv4(0), NumberFormat::fp8) == 584);
  CHECK(kv_entry_bytes(dsv4(0), NumberFormat::bf16) == 1024);
  CHECK(kv_bytes_per_token(with_attention(dsv4(0)), NumberFormat::fp8) == 0);
  CHECK(kv_bytes_per_token(with_attention(dsv4(4)), NumberFormat::fp8) == (584 + 132) / 4.0);
  CHECK(kv_bytes_per_token(with_attention(dsv4(128)), NumberFormat::fp8) == 584 / 128.0);
  // States: 128 x 584 of window; the ratio-4 compressor keeps 2 x 4 tokens x 2 x 512 columns of
  // values and of scores in fp32 (65,536 B), its indexer the same 128 wide (16,384 B); the
  // ratio-128 compressor 128 x 512 of each (524,288 B).
  CHECK(state_bytes_per_sequence(with_attention(dsv4(0)), NumberFormat::fp8) == 74'752);
  CHECK(state_bytes_per_sequence(with_attention(dsv4(4)), NumberFormat::fp8) ==
        74'752 + 65'536 + 16'384);
  CHECK(state_bytes_per_sequence(with_attention(dsv4(128)), NumberFormat::fp8) == 74'752 + 524'288);
  // A context of 64 leaves half the window empty.
  CHECK(cache_bytes_per_sequence(with_attention(dsv4(0)), NumberFormat::fp8, 64) == 64 * 584);
}

TEST_CASE("linear attention keeps a state of fixed size", "[unit]") {
  AttentionSpec a;
  a.kind = AttentionKind::gated_delta;
  a.key_heads = 16;
  a.value_heads = 32;
  a.key_dim = 128;
  a.value_dim = 128;
  a.conv_kernel = 4;
  a.conv_channels = 8192;
  // 32 x 128 x 128 x 4 B and three past inputs of 8192 channels in bf16.
  CHECK(state_bytes_per_sequence(with_attention(a), NumberFormat::bf16) == 2'097'152 + 49'152);
  CHECK(kv_bytes_per_token(with_attention(a), NumberFormat::bf16) == 0);
  CHECK(cache_bytes_per_sequence(with_attention(a), NumberFormat::bf16, 5000) ==
        2'097'152 + 49'152);
  CHECK(kv_bytes_per_token(LayerSpec{}, NumberFormat::bf16) == 0);
}

TEST_CASE("a longer context never needs fewer bytes", "[property]") {
  for (const AttentionSpec& a : {gqa(8, 128, 128), gqa(8, 64, 64, 128), mla(false), mla(true),
                                 dsv4(0), dsv4(4), dsv4(128)}) {
    double before = -1;
    for (std::int64_t context = 1; context < 100'000; context = context * 3 / 2 + 1) {
      const double bytes = cache_bytes_per_sequence(with_attention(a), NumberFormat::fp8, context);
      INFO(to_string(a.kind) << " ratio " << a.compress_ratio << " context " << context);
      CHECK(bytes >= before);
      before = bytes;
    }
  }
}
