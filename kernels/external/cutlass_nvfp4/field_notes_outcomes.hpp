// SPDX-License-Identifier: Apache-2.0
// Which assumption about shared storage explains what a grouped NVFP4 GEMM did on SM120? The
// outcomes are observations of production runs; nobody published the storage of that library
// version. So every combination of four yes/no assumptions is asked to predict each outcome:
//   bytes = min_stages x (operands [+ scales]) + (t whole BF16 output tiles | 13,312 B slice)
//           [+ 1,024 alignment + 1,024 for a grouped kernel]
//   predicted to work if bytes <= the chip's opt-in limit
// An assumption that leaves out the scales leaves out bytes the kernel must hold: it can agree
// with the outcomes without being their reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/provenance.hpp"
#include "kernels/external/cutlass_nvfp4/storage.hpp"

namespace smtwin {

struct TileOutcome {
  CutlassTile tile;
  bool finalize = false;  // fused finalize epilogue instead of the default one
  bool works = false;
  std::string observed;  // in the words of the report
  std::string note;      // what the report leaves open; may be empty
  Provenance provenance = Provenance::measured;
};
const std::vector<TileOutcome>& observed_tile_outcomes();

struct StorageAssumption {
  std::int64_t min_stages = 1;
  CutlassEpilogue epilogue = CutlassEpilogue::whole_tile;
  bool scales = true;
  bool alignment = false;
};
std::vector<StorageAssumption> storage_assumptions();  // all combinations
std::string describe(const StorageAssumption& assumption);
std::int64_t assumed_bytes(const TileOutcome& outcome, const StorageAssumption& assumption);

struct OutcomeExplanation {
  TileOutcome outcome;
  std::vector<StorageAssumption> reproduced_by;
  std::vector<StorageAssumption> contradicted_by;
};
std::vector<OutcomeExplanation> explain_outcomes(std::int64_t limit_bytes);

// The assumptions that agree with every outcome; with_scales keeps to those that count all bytes
// the kernel holds.
std::vector<StorageAssumption> consistent_assumptions(std::int64_t limit_bytes, bool with_scales);

// Sentences for a report about one tile: what was seen, what explains it, what does not. Empty
// when nothing was observed for this tile and epilogue.
std::vector<std::string> outcome_sentences(const CutlassTile& tile, bool finalize,
                                           std::int64_t limit_bytes);

}  // namespace smtwin
