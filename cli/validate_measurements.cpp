// SPDX-License-Identifier: Apache-2.0
#include "cli/validate_measurements.hpp"

#include <CLI/CLI.hpp>

#include <map>
#include <memory>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "cli/measurements_answer.hpp"
#include "cli/profile_choice.hpp"
#include "validate/measurements/audit.hpp"

namespace smtwin {
namespace {

// Families with fewer rows are shown and not judged.
constexpr std::size_t kJudgedRows = 300;

using Profiles = std::map<std::string, ProfileChoice>;

Profiles profiles_of(const std::vector<FamilyRows>& families, const std::string& flag) {
  Profiles profiles;
  for (const FamilyRows& f : families) {
    if (f.problem && !profiles.contains(f.gpu)) {
      profiles[f.gpu] = choose_profile(flag, find_gpu(f.gpu));
    }
  }
  return profiles;
}

WorstRow worst_row(const ScoredRow& s, const LoadedMeasurements& rows, const Profiles& profiles) {
  const FamilyRows& family = rows.families[s.family];
  const FamilyConstants constants = constants_of(family, profiles.at(family.gpu).profile.get());
  return {.where = rows.set.where(*s.row),
          .family = scored_family(family.gpu, *s.row),
          .shape = shape_text(*s.row),
          .measured_s = s.row->latency_s,
          .parts = family.problem->parts(s.point, constants.values),
          .interval = s.interval};
}

std::vector<AuditLine> audit_lines(const LoadedMeasurements& rows) {
  std::map<std::string_view, const TimingGpu*> gpus;
  for (const FamilyRows& f : rows.families) {
    if (f.timing_gpu.sm_count > 0) gpus[f.rows.front()->device] = &f.timing_gpu;
  }
  const auto gpu_of = [&](std::string_view device) -> const TimingGpu* {
    const auto known = gpus.find(device);
    return known == gpus.end() ? nullptr : known->second;
  };
  std::vector<AuditLine> lines;
  for (const AuditFinding& f : audit(rows.set.rows, gpu_of)) {
    lines.push_back({.where = rows.set.where(*f.row),
                     .kind = std::string(to_string(f.kind)),
                     .reason = f.reason});
  }
  return lines;
}

bool outside(const GroupScore& g, const MeasurementFlags& flags) {
  return g.errors.rows >= kJudgedRows &&
         ((flags.max_median > 0 && g.errors.median_error > flags.max_median / 100) ||
          (flags.max_p90 > 0 && g.errors.p90_error > flags.max_p90 / 100));
}

}  // namespace

void add_measurement_flags(CLI::App& app, MeasurementFlags& flags) {
  app.add_option("--measurements", flags.paths,
                 "CSV tables of measured kernel times as AIConfigurator writes them, folders of "
                 "them; - for stdin")
      ->expected(1, -1);
  app.add_option("--profile", flags.profile,
                 "calibration to predict with; default the shipped one, none = priors only");
  app.add_option("--worst", flags.worst, "show the rows with the largest errors and their bounds")
      ->check(CLI::Range(0, 1000000));
  app.add_flag("--audit", flags.audit, "flag rows that no physics allows");
  app.add_option("--max-median", flags.max_median,
                 "exit 1 when a family of 300 rows or more has a larger median error, percent");
  app.add_option("--max-p90", flags.max_p90, "the same for the 90th percentile");
  app.add_option("--threads", flags.threads, "default: as many as the machine runs at once")
      ->check(CLI::Range(1, 1024));
}

Answer answer_measurements(const MeasurementFlags& flags, const VerbInput& input) {
  if (!input.settings.empty()) {
    throw UsageError("--set: rows were measured on GPUs as they are; leave it out");
  }
  if (input.format == Format::csv && (flags.worst > 0 || flags.audit)) {
    throw UsageError("--worst and --audit: use --format table or json");
  }
  for (const double percent : {flags.max_median, flags.max_p90}) {
    if (!(percent >= 0 && percent <= 1000)) {
      throw UsageError("--max-median, --max-p90: percent from 0 to 1000 (0: no limit)");
    }
  }
  const std::shared_ptr<LoadedMeasurements> rows =
      load_measurements(flags.paths, input.gpu, input.in);
  const Profiles profiles = profiles_of(rows->families, flags.profile);
  const auto result = std::make_shared<MeasurementsAnswer>();
  result->rows_read = rows->set.rows.size();
  for (const auto& [gpu, profile] : profiles) {
    result->profiles.push_back(profile_text(profile, gpu));
  }
  result->score = score_measurements(
      rows->families, [&](const std::string& gpu) { return profiles.at(gpu).profile.get(); },
      flags.threads);
  for (const std::size_t i : worst_rows(result->score, flags.worst)) {
    result->worst.push_back(worst_row(result->score.rows[i], *rows, profiles));
  }
  if (flags.audit) {
    result->audited = true;
    result->audit = audit_lines(*rows);
  }
  int exit_code = 0;
  bool judged = false;
  for (const GroupScore& g : result->score.families) {
    judged = judged || g.errors.rows >= kJudgedRows;
    if (outside(g, flags)) exit_code = 1;
  }
  // A gate that judged nothing has not been passed.
  if (!judged && (flags.max_median > 0 || flags.max_p90 > 0)) exit_code = 1;
  ReportContext context;
  if (profiles.size() == 1) {
    context.gpu = profiles.begin()->first;
    context.calibration = calibration_context(profiles.begin()->second);
  }
  return {.context = context,
          .exit_code = exit_code,
          .table = [result, rows](std::ostream& out) { print_measurements(out, *result); },
          .json = [result, rows] { return measurements_json(*result); },
          .csv = [result, rows](std::ostream& out) { write_measurements_csv(out, *result); }};
}

}  // namespace smtwin
