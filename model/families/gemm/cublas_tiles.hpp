// SPDX-License-Identifier: Apache-2.0
// Tiles among which cuBLAS(Lt) is assumed to choose, and splits of K. cuBLAS does not say what it
// runs; the list is inferred, and the choice is the candidate with the least predicted time. So a
// shape where cuBLAS's own heuristic picks badly is predicted too fast.
#pragma once

#include <span>

#include "model/families/gemm/gemm_tile.hpp"

namespace smtwin {

// `wide_k`: formats of one byte, whose step holds 128 elements; else 64. Largest tile first, so
// that a search has a good bound early. `splits` = false: only unsplit tiles (batched products).
std::span<const GemmTile> cublas_tiles_sm120(bool wide_k, bool splits);
std::span<const GemmTile> cublas_tiles_sm90(bool wide_k, bool splits);

// A split has to leave each CTA at least this many steps of K.
inline constexpr double kLeastStepsPerSplit = 4;

}  // namespace smtwin
