// SPDX-License-Identifier: Apache-2.0
#include "kernels/external/cutlass_nvfp4/storage.hpp"

#include <algorithm>

#include "arch/units.hpp"
#include "kernels/text.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kElementsPerByte = 2;
constexpr std::int64_t kScaleBlock = 16;  // elements that share one FP8 scale
constexpr std::int64_t kScaleRows = 128;  // rows a block of scales covers
constexpr std::int64_t kOutputBytes = 2;  // BF16
constexpr std::int64_t kSmallTileOverheadBytes = 2 * kCutlassAlignmentBytes;  // compiled, M = 64

std::int64_t overhead_bytes(const CutlassTile& tile, CutlassVersion version) {
  if (version == CutlassVersion::fieldnotes) return 0;
  return tile.m >= kScaleRows ? kCutlassAlignmentBytes : kSmallTileOverheadBytes;
}

std::int64_t epilogue_bytes(const CutlassTile& tile, const CutlassStorageOptions& options) {
  if (options.epilogue == CutlassEpilogue::slice) return kCutlassSliceBytes;
  return cutlass_whole_tile_bytes(tile) * (options.finalize ? 2 : 1);
}

std::int64_t stage_count(const CutlassStorageOptions& options, std::int64_t stage,
                         std::int64_t fixed) {
  if (options.stages > 0) return options.stages;
  const std::int64_t least = std::max<std::int64_t>(options.min_stages, 1);
  if (options.version == CutlassVersion::fieldnotes) return least;
  return std::max(least, (options.limit_bytes - fixed) / stage);
}

std::string worked(const CutlassStorage& storage) {
  std::string text = std::to_string(storage.stages) + " x " + with_separators(storage.stage_bytes);
  for (const auto part : {storage.overhead_bytes, storage.epilogue_bytes, storage.grouped_bytes}) {
    if (part > 0) text += " + " + with_separators(part);
  }
  return text + " = " + with_separators(storage.total_bytes);
}

}  // namespace

std::int64_t cutlass_operand_bytes(const CutlassTile& tile) {
  return (tile.m + tile.n) * tile.k / kElementsPerByte;
}

std::int64_t cutlass_scale_bytes(const CutlassTile& tile, CutlassVersion version) {
  const std::int64_t rows = version == CutlassVersion::current
                                ? tile.m / kScaleRows * kScaleRows + round_up(tile.n, kScaleRows)
                                : tile.m + tile.n;
  return tile.k / kScaleBlock * rows;
}

std::int64_t cutlass_whole_tile_bytes(const CutlassTile& tile) {
  return tile.m * tile.n * kOutputBytes;
}

CutlassStorage cutlass_storage(const CutlassTile& tile, const CutlassStorageOptions& options) {
  CutlassStorage storage;
  storage.stage_bytes = cutlass_operand_bytes(tile) + cutlass_scale_bytes(tile, options.version);
  storage.overhead_bytes = overhead_bytes(tile, options.version);
  storage.epilogue_bytes = epilogue_bytes(tile, options);
  if (options.grouped && options.version == CutlassVersion::current) {
    storage.grouped_bytes = kCutlassGroupedBytes;
  }
  const std::int64_t fixed =
      storage.overhead_bytes + storage.epilogue_bytes + storage.grouped_bytes;
  storage.stages = stage_count(options, std::max<std::int64_t>(storage.stage_bytes, 1), fixed);
  storage.mainloop_bytes = storage.stages * storage.stage_bytes + storage.overhead_bytes;
  storage.total_bytes = storage.stages * storage.stage_bytes + fixed;
  storage.formula = worked(storage);
  return storage;
}

}  // namespace smtwin
