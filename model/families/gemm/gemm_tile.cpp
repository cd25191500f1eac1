// SPDX-License-Identifier: Apache-2.0
#include "model/families/gemm/gemm_tile.hpp"

#include <sstream>

namespace smtwin {

std::string to_string(const GemmTile& tile) {
  std::ostringstream out;
  out << tile.block_m << 'x' << tile.block_n << 'x' << tile.block_k;
  if (tile.splits > 1) out << " split " << tile.splits;
  if (tile.cluster_m * tile.cluster_n > 1) {
    out << " cluster " << tile.cluster_m << 'x' << tile.cluster_n;
  }
  return out.str();
}

}  // namespace smtwin
