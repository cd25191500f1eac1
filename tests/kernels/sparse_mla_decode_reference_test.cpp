// SPDX-License-Identifier: Apache-2.0
// The float64 reference of sparse_mla_decode and what checks outputs with it, against arithmetic
// done by hand.
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "kernels/sparse_mla_decode/check.hpp"
#include "kernels/sparse_mla_decode/config.hpp"
#include "kernels/sparse_mla_decode/problem_inputs.hpp"
#include "kernels/sparse_mla_decode/reference.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/instance_of.hpp"

using namespace smtwin;

namespace {

constexpr double kNoSink = -std::numeric_limits<double>::infinity();

std::vector<double> constant(double value) { return std::vector<double>(kMlaHeadDim, value); }

Parameters shape(std::int64_t heads, std::int64_t topk, std::int64_t batch) {
  return {{"heads", heads}, {"topk", topk}, {"batch", batch}, {"page_size", 4},
          {"context", 64},  {"holes", 0},   {"ragged", 0},    {"wide_scales", 0}};
}

}  // namespace

TEST_CASE("rows and scales of a page lie apart", "[unit]") {
  // Pages of 4 tokens: 4 x 584 = 2336 bytes, the scales after 4 x 576 = 2304. Slot 6 is the third
  // token of page 1: row 2336 + 2 x 576 = 3488, scales 2336 + 2304 + 2 x 8 = 4656.
  const auto at = mla_token_offsets(6, 4);
  CHECK(at.row == 3488);
  CHECK(at.scales == 4656);
}

TEST_CASE("a token's values: groups of 64 with a scale each, then BF16", "[unit]") {
  std::vector<std::uint8_t> row(kMlaRowBytes, 0x38), scales(kMlaScaleBytes, 127);
  scales[6] = 129;  // the last group times 4
  row[kMlaQuantizedDims] = 0x00;
  row[kMlaQuantizedDims + 1] = 0xc0;  // -2 as BF16: 0xc000
  const auto values = mla_token_values(row, scales);
  REQUIRE(values.size() == 512);
  CHECK(values[0] == 1.0);
  CHECK(values[383] == 1.0);
  CHECK(values[384] == 4.0);
  CHECK(values[447] == 4.0);
  CHECK(values[448] == -2.0);
}

TEST_CASE("attention of one head", "[unit]") {
  const auto q = constant(1.0);
  SECTION("no token, with or without a sink, is zero") {
    CHECK(sparse_mla_reference(q, {}, 1.0) == constant(0.0));
    CHECK(sparse_mla_reference(q, {}, 1.0, 3.0) == constant(0.0));
  }
  SECTION("one token without a sink is that token") {
    const std::vector<std::vector<double>> tokens{constant(0.25)};
    CHECK(sparse_mla_reference(q, tokens, 1.0, kNoSink)[17] == Approx(0.25));
  }
  SECTION("a sink as large as the score takes half") {
    // score = 0.5 x 512 x 0.25 = 64
    const std::vector<std::vector<double>> tokens{constant(0.25)};
    CHECK(sparse_mla_reference(q, tokens, 0.5, 64.0)[0] == Approx(0.125));
  }
  SECTION("a score larger by ln 3 weighs three times as much") {
    // Tokens of 1 and 1 + d differ by scale x 512 x d = ln 3 for d = 0.01, scale = ln 3 / 5.12.
    const std::vector<std::vector<double>> tokens{constant(1.0), constant(1.01)};
    const auto out = sparse_mla_reference(q, tokens, std::log(3.0) / 5.12);
    CHECK(out[0] == Approx((1.0 + 3 * 1.01) / 4));
  }
}

TEST_CASE("sampled rows", "[property]") {
  for (const std::int64_t heads : {1, 7, 16, 64, 128}) {
    for (const std::int64_t batch : {1, 3, 64, 256}) {
      const auto sample = sample_sparse_mla_rows(batch, heads, 5);
      const auto rows = static_cast<std::int64_t>(sample.requests.size() * sample.heads.size());
      CHECK(rows >= std::min<std::int64_t>(64, batch * std::min<std::int64_t>(heads, 16)));
      CHECK(std::set(sample.requests.begin(), sample.requests.end()).size() ==
            sample.requests.size());
      CHECK(sample.requests.front() == 0);
      CHECK(sample.requests.back() < batch);
      CHECK(sample.heads.back() < heads);
    }
  }
}

TEST_CASE("errors of outputs", "[unit]") {
  // One token of ones, no sink: the output is 1 everywhere.
  std::vector<std::uint8_t> token(kMlaTokenBytes, 0x38);
  for (int i = 0; i < kMlaRopeDims; ++i) {
    token[static_cast<std::size_t>(kMlaQuantizedDims + 2 * i)] = 0x80;
    token[static_cast<std::size_t>(kMlaQuantizedDims + 2 * i + 1)] = 0x3f;
  }
  for (int i = 0; i < kMlaScaleBytes; ++i) {
    token[static_cast<std::size_t>(kMlaRowBytes + i)] = 127;
  }
  const std::vector<std::uint16_t> q(kMlaHeadDim, 0x3f80), exact(kMlaHeadDim, 0x3f80);
  SparseMlaRequest request;
  request.tokens = token;
  request.q = {q};
  request.sinks = {-std::numeric_limits<float>::infinity()};
  SECTION("exact") {
    request.out = {exact};
    CHECK(relative_error(compare_sparse_mla(request)) == 0.0);
  }
  SECTION("one of 512 values off by its own size: sqrt(1 / 512)") {
    auto wrong = exact;
    wrong[100] = 0x4000;  // 2
    request.out = {wrong};
    CHECK(relative_error(compare_sparse_mla(request)) == Approx(std::sqrt(1.0 / 512)));
  }
  SECTION("poison is infinitely wrong") {
    auto poisoned = exact;
    poisoned[3] = 0xffff;
    request.out = {poisoned};
    CHECK(std::isinf(relative_error(compare_sparse_mla(request))));
    CHECK_FALSE(all_finite_bf16(poisoned));
    CHECK(all_finite_bf16(exact));
  }
  SECTION("without tokens every output but zero is infinitely wrong") {
    request.tokens = {};
    request.out = {exact};
    CHECK(std::isinf(relative_error(compare_sparse_mla(request))));
    const std::vector<std::uint16_t> zeros(kMlaHeadDim, 0);
    request.out = {zeros};
    CHECK(relative_error(compare_sparse_mla(request)) == 0.0);
  }
}

TEST_CASE("selected tokens are distinct tokens of the request's own pages", "[property]") {
  Parameters parameters = shape(3, 40, 5);
  const SparseMlaProblemShape problem(parameters);
  const auto selection = draw_sparse_mla_selection(problem, 11);
  REQUIRE(selection.indices.size() == 200);
  CHECK(selection.sinks.size() == 3);
  std::set<std::int32_t> pages_taken;
  for (std::size_t request = 0; request < 5; ++request) {
    const auto* first = &selection.indices[request * 40];
    std::set<std::int32_t> slots(first, first + 40), pages;
    CHECK(slots.size() == 40);
    for (const auto slot : slots) pages.insert(slot / 4);
    CHECK(*slots.begin() >= 0);
    CHECK(*slots.rbegin() < problem.slots());
    for (const auto page : pages) CHECK(pages_taken.insert(page).second);
    CHECK(selection.lengths[request] == 40);
  }
  CHECK(draw_sparse_mla_selection(problem, 12).indices != selection.indices);
}

TEST_CASE("an odd page size is refused", "[unit]") {
  Parameters parameters = shape(1, 8, 1);
  parameters["page_size"] = 5;
  const auto message = test::usage_error([&] { SparseMlaProblemShape problem(parameters); });
  CHECK(message.find("page_size 5 is odd") != std::string::npos);
}

TEST_CASE("holes, short contexts and ragged requests", "[property]") {
  Parameters parameters = shape(1, 80, 6);
  parameters["holes"] = 50;
  parameters["ragged"] = 1;
  const auto selection = draw_sparse_mla_selection(SparseMlaProblemShape(parameters), 3);
  CHECK(selection.lengths[0] == 80);
  CHECK(selection.lengths[1] == 0);
  for (std::size_t i = 0; i < 80; ++i) CHECK(selection.indices[2 * 80 + i] == -1);
  int present = 0;
  for (std::size_t i = 0; i < 80; ++i) present += selection.indices[i] >= 0 ? 1 : 0;
  CHECK(present > 10);  // 64 of 80 exist, half of them are holes
  CHECK(present < 55);
  for (std::size_t i = 64; i < 80; ++i) CHECK(selection.indices[i] == -1);
}
