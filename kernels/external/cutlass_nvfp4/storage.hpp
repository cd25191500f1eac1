// SPDX-License-Identifier: Apache-2.0
// Shared storage of CUTLASS block-scaled NVFP4 GEMMs on SM120, dense and grouped. Tiles count
// elements of K; users' kernel names give K in bytes of packed FP4 (128x128x256B = K 512).
//
//   total    = stages x stage + overhead + epilogue
//   stage    = (M + N) x K/2 + K/16 x scale rows     packed FP4 and one FP8 scale per 16 elements
//   current:    scale rows = floor128(M) + ceil128(N), overhead 1,024 (M >= 128) or 2,048, and
//               1,024 more when grouped; epilogue = a 13,312 B slice of the output tile
//               equal to every tile compiled from CUTLASS main of August 2026
//   fieldnotes: scale rows = M + N, no overhead; epilogue = t whole BF16 output tiles, t = 1, or
//               2 with the fused finalize: the estimate of the field notes
//   stages   = as given, else as many as fit the chip's opt-in limit (current), else the minimum
// Left out: pipelines with a separate load of C, other output types than BF16.
#pragma once

#include <cstdint>
#include <string>

namespace smtwin {

enum class CutlassVersion { current, fieldnotes };
enum class CutlassEpilogue { slice, whole_tile };

struct CutlassTile {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;  // elements
};

struct CutlassStorageOptions {
  CutlassVersion version = CutlassVersion::current;
  CutlassEpilogue epilogue = CutlassEpilogue::slice;
  bool grouped = false;
  bool finalize = false;
  std::int64_t stages = 0;       // 0 = automatic
  std::int64_t min_stages = 2;   // what the pipeline needs at least
  std::int64_t limit_bytes = 0;  // opt-in limit a CTA has, for the automatic count
};

struct CutlassStorage {
  std::int64_t stage_bytes = 0;
  std::int64_t stages = 0;
  std::int64_t overhead_bytes = 0;  // alignment and barriers, part of the mainloop's storage
  std::int64_t mainloop_bytes = 0;  // stages x stage_bytes + overhead_bytes
  std::int64_t epilogue_bytes = 0;
  std::int64_t grouped_bytes = 0;
  std::int64_t total_bytes = 0;
  std::string formula;  // worked: "4 x 18,432 + 1,024 + 13,312 = 88,064"
};
CutlassStorage cutlass_storage(const CutlassTile& tile, const CutlassStorageOptions& options);

// One pipeline stage: A and B packed, with or without their scales.
std::int64_t cutlass_operand_bytes(const CutlassTile& tile);
std::int64_t cutlass_scale_bytes(const CutlassTile& tile, CutlassVersion version);
std::int64_t cutlass_whole_tile_bytes(const CutlassTile& tile);  // of BF16 output

inline constexpr std::int64_t kCutlassSliceBytes = 13312;     // compiled, all tiles alike
inline constexpr std::int64_t kCutlassAlignmentBytes = 1024;  // compiled, M >= 128
inline constexpr std::int64_t kCutlassGroupedBytes = 1024;    // tensor maps, compiled

}  // namespace smtwin
