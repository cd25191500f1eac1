// SPDX-License-Identifier: Apache-2.0
// The host half of a problem's inputs: which cached tokens each request attends to.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "arch/error.hpp"
#include "arch/units.hpp"
#include "kernels/sparse_mla_decode/config.hpp"
#include "kernels/sparse_mla_decode/problem_inputs.hpp"

namespace smtwin {
namespace {

std::int64_t value_or(const Parameters& parameters, const char* name, std::int64_t otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

}  // namespace

SparseMlaProblemShape::SparseMlaProblemShape(const Parameters& shape)
    : heads(shape.at("heads")),
      topk(shape.at("topk")),
      batch(shape.at("batch")),
      page_size(value_or(shape, "page_size", 64)),
      context(value_or(shape, "context", 8192)),
      holes(value_or(shape, "holes", 0)),
      ragged(value_or(shape, "ragged", 0) != 0),
      wide_scales(value_or(shape, "wide_scales", 0) != 0) {
  if (page_size % 2 != 0) {
    throw UsageError("page_size " + std::to_string(page_size) +
                     " is odd: rows would not start at multiples of 16 bytes; use an even one");
  }
}

std::int64_t SparseMlaProblemShape::pages_of_request() const {
  return ceil_div(context, page_size);
}
std::int64_t SparseMlaProblemShape::slots() const {
  return saturating_mul(saturating_mul(batch, pages_of_request()), page_size);
}
double SparseMlaProblemShape::scale() const {
  // Large tokens would make every softmax a choice of one.
  constexpr double kWideDamping = 1.0 / 256;
  return (wide_scales ? kWideDamping : 1.0) / std::sqrt(static_cast<double>(kMlaHeadDim));
}

SparseMlaSelection draw_sparse_mla_selection(const SparseMlaProblemShape& shape,
                                             std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t end) {
    return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
  };
  const std::int64_t pages = shape.pages_of_request();
  std::vector<std::int32_t> page_of(static_cast<std::size_t>(shape.batch * pages));
  std::iota(page_of.begin(), page_of.end(), 0);
  std::shuffle(page_of.begin(), page_of.end(), random);
  std::vector<std::int32_t> position(static_cast<std::size_t>(shape.context));
  std::iota(position.begin(), position.end(), 0);

  SparseMlaSelection selection;
  selection.indices.reserve(static_cast<std::size_t>(shape.batch * shape.topk));
  for (std::int64_t request = 0; request < shape.batch; ++request) {
    for (std::int64_t i = 0; i < shape.topk; ++i) {
      const bool only_holes = shape.ragged && request == 2;
      if (i >= shape.context || only_holes || (shape.holes > 0 && below(100) < shape.holes)) {
        selection.indices.push_back(-1);
        continue;
      }
      const auto at = static_cast<std::size_t>(i);
      std::swap(position[at], position[static_cast<std::size_t>(i + below(shape.context - i))]);
      const std::int64_t page =
          page_of[static_cast<std::size_t>(request * pages + position[at] / shape.page_size)];
      selection.indices.push_back(
          static_cast<std::int32_t>(page * shape.page_size + position[at] % shape.page_size));
    }
    std::int64_t length = shape.topk;
    if (shape.ragged && request > 0) length = request == 1 ? 0 : below(shape.topk + 1);
    selection.lengths.push_back(static_cast<std::int32_t>(length));
  }
  std::normal_distribution<float> logit(0.0F, 2.0F);
  for (std::int64_t head = 0; head < shape.heads; ++head) selection.sinks.push_back(logit(random));
  return selection;
}

}  // namespace smtwin
