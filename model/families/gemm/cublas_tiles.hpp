// SPDX-License-Identifier: Apache-2.0
// Tiles among which cuBLAS(Lt) is assumed to choose, and splits of K. cuBLAS does not say what it
// runs; the list is inferred, and the choice is the candidate with the least predicted time. So a
// shape where cuBLAS's own heuristic picks badly is predicted too fast.
#pragma once

#include <span>

#include "model/families/gemm/gemm_tile.hpp"

namespace smtwin {

// `wide_k`: formats of one byte, whose step holds 128 elements; else 64. Splits of a tile
// follow each other, the unsplit one first. `splits` = false: only unsplit tiles (batched
// products).
std::span<const GemmTile> cublas_tiles_sm120(bool wide_k, bool splits);
std::span<const GemmTile> cublas_tiles_sm90(bool wide_k, bool splits);

// Whether cuBLAS considers the tile. Inferred from rows: it splits K only where a row of K holds
// 4096 bytes and each split keeps four steps, and with up to 16 rows only where K >= N. Products of
// one row may run as dot products (gemv), listed as tiles of one row.
bool cublas_allows(const GemmShape& shape, const GemmTile& tile, double element_bytes);

}  // namespace smtwin
