// SPDX-License-Identifier: Apache-2.0
#include "kernels/external/cutlass_nvfp4/field_notes_outcomes.hpp"

#include <algorithm>

#include "kernels/text.hpp"

namespace smtwin {
namespace {

constexpr const char* kEpilogueOpen = "the report does not say with which epilogue";

bool predicts(const TileOutcome& outcome, const StorageAssumption& assumption,
              std::int64_t limit_bytes) {
  return (assumed_bytes(outcome, assumption) <= limit_bytes) == outcome.works;
}

std::string tile_name(const CutlassTile& tile) {
  return std::to_string(tile.m) + "x" + std::to_string(tile.n) + "x" + std::to_string(tile.k);
}

bool same_but_alignment(const StorageAssumption& a, const StorageAssumption& b) {
  return a.min_stages == b.min_stages && a.epilogue == b.epilogue && a.scales == b.scales;
}

// Two assumptions that differ only in alignment take one entry.
std::string list_of(const std::vector<StorageAssumption>& assumptions) {
  std::string text;
  for (const auto& assumption : assumptions) {
    const auto twins = std::count_if(
        assumptions.begin(), assumptions.end(),
        [&](const StorageAssumption& other) { return same_but_alignment(assumption, other); });
    if (assumption.alignment && twins > 1) continue;
    text += (text.empty() ? "" : "; ") + describe(assumption);
    if (!assumption.alignment && twins == 1) text += ", alignment not counted";
  }
  return text;
}

TileOutcome outcome(CutlassTile tile, bool finalize, bool works, const char* observed,
                    const char* note) {
  TileOutcome result;
  result.tile = tile;
  result.finalize = finalize;
  result.works = works;
  result.observed = observed;
  result.note = note;
  return result;
}

}  // namespace

const std::vector<TileOutcome>& observed_tile_outcomes() {
  static const std::vector<TileOutcome> outcomes = {
      outcome({128, 128, 128}, false, true, "works", kEpilogueOpen),
      outcome({128, 128, 128}, true, true, "works", kEpilogueOpen),
      outcome({128, 128, 256}, false, true, "works with the default epilogue", ""),
      outcome({128, 128, 256}, true, false, "fails with the finalize epilogue", ""),
      outcome({128, 256, 128}, false, false, "fails at initialization", kEpilogueOpen),
      outcome({128, 256, 128}, true, false, "fails at initialization", kEpilogueOpen),
      outcome({256, 128, 128}, false, false, "fails at initialization", kEpilogueOpen),
      outcome({256, 128, 128}, true, false, "fails at initialization", kEpilogueOpen),
  };
  return outcomes;
}

std::vector<StorageAssumption> storage_assumptions() {
  std::vector<StorageAssumption> all;
  for (const std::int64_t stages : {1, 2}) {
    for (const auto epilogue : {CutlassEpilogue::whole_tile, CutlassEpilogue::slice}) {
      for (const bool scales : {true, false}) {
        for (const bool alignment : {false, true}) {
          all.push_back({stages, epilogue, scales, alignment});
        }
      }
    }
  }
  return all;
}

std::string describe(const StorageAssumption& assumption) {
  std::string text = "at least " + std::to_string(assumption.min_stages) +
                     (assumption.min_stages == 1 ? " stage" : " stages");
  text += assumption.epilogue == CutlassEpilogue::whole_tile ? ", whole output tile"
                                                             : ", slice of the output tile";
  text += assumption.scales ? ", scales counted" : ", scales not counted";
  if (assumption.alignment) text += ", alignment counted";
  return text;
}

std::int64_t assumed_bytes(const TileOutcome& outcome, const StorageAssumption& assumption) {
  std::int64_t stage = cutlass_operand_bytes(outcome.tile);
  if (assumption.scales) stage += cutlass_scale_bytes(outcome.tile, CutlassVersion::fieldnotes);
  std::int64_t bytes = assumption.min_stages * stage;
  bytes += assumption.epilogue == CutlassEpilogue::slice
               ? kCutlassSliceBytes
               : cutlass_whole_tile_bytes(outcome.tile) * (outcome.finalize ? 2 : 1);
  if (assumption.alignment) bytes += kCutlassAlignmentBytes + kCutlassGroupedBytes;
  return bytes;
}

std::vector<OutcomeExplanation> explain_outcomes(std::int64_t limit_bytes) {
  std::vector<OutcomeExplanation> explanations;
  for (const auto& seen : observed_tile_outcomes()) {
    OutcomeExplanation explanation;
    explanation.outcome = seen;
    for (const auto& assumption : storage_assumptions()) {
      auto& list = predicts(seen, assumption, limit_bytes) ? explanation.reproduced_by
                                                           : explanation.contradicted_by;
      list.push_back(assumption);
    }
    explanations.push_back(std::move(explanation));
  }
  return explanations;
}

std::vector<StorageAssumption> consistent_assumptions(std::int64_t limit_bytes, bool with_scales) {
  auto assumptions = storage_assumptions();
  std::erase_if(assumptions, [&](const StorageAssumption& assumption) {
    if (with_scales && !assumption.scales) return true;
    return !std::all_of(
        observed_tile_outcomes().begin(), observed_tile_outcomes().end(),
        [&](const TileOutcome& seen) { return predicts(seen, assumption, limit_bytes); });
  });
  return assumptions;
}

std::vector<std::string> outcome_sentences(const CutlassTile& tile, bool finalize,
                                           std::int64_t limit_bytes) {
  std::vector<std::string> sentences;
  for (const auto& explanation : explain_outcomes(limit_bytes)) {
    const auto& seen = explanation.outcome;
    if (seen.tile.m != tile.m || seen.tile.n != tile.n || seen.tile.k != tile.k ||
        seen.finalize != finalize) {
      continue;
    }
    sentences.push_back("Observed in production: " + tile_name(tile) + " " + seen.observed +
                        (seen.note.empty() ? "." : " (" + seen.note + ")."));
    const std::string at_limit = " at " + with_separators(limit_bytes) + " B";
    if (explanation.contradicted_by.empty()) {
      sentences.push_back("Every assumption tried reproduces this outcome" + at_limit + ".");
    } else if (explanation.reproduced_by.empty()) {
      sentences.push_back("No assumption tried reproduces this outcome" + at_limit + ".");
    } else {
      sentences.push_back("Assumptions that reproduce this outcome" + at_limit + ": " +
                          list_of(explanation.reproduced_by) + ".");
    }
  }
  if (sentences.empty()) return sentences;
  if (consistent_assumptions(limit_bytes, true).empty()) {
    const std::string rest = list_of(consistent_assumptions(limit_bytes, false));
    sentences.push_back(
        "No assumption that counts the scale factors reproduces all observed outcomes" +
        (rest.empty() ? "."
                      : "; \"" + rest +
                            "\" does, but leaves out bytes the kernel must hold, so "
                            "it may agree by accident."));
  }
  return sentences;
}

}  // namespace smtwin
