// SPDX-License-Identifier: Apache-2.0
// A model for people and programs: which layers are alike, what they multiply by, in which formats,
// and what a token adds to the cache.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "model/model_spec.hpp"

namespace smtwin {

std::string format_parameters(double count);           // "284 B", "8.03 B"
std::string formats_by_bytes(const ModelSpec& model);  // "mxfp4 92 %, fp8_block 6 %, bf16 2 %"

bool same_matrix(const WeightMatrix& a, const WeightMatrix& b);

// Layers that have the same attention, MLP and matrices.
struct LayerGroup {
  std::vector<std::size_t> layers;  // indices, ascending
  const LayerSpec* layer = nullptr;
};
std::vector<LayerGroup> group_layers(const ModelSpec& model);
std::string describe_indices(const std::vector<std::size_t>& indices);  // "0-2, 4-60 every other"
std::string describe_attention(const AttentionSpec& attention);
std::string describe_mlp(const MlpSpec& mlp);

void print_model(std::ostream& out, const ModelSpec& model);
std::string model_json(const ModelSpec& model);
void write_model_csv(std::ostream& out, const ModelSpec& model);  // one row a matrix

}  // namespace smtwin
