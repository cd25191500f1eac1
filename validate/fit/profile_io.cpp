// SPDX-License-Identifier: Apache-2.0
#include "validate/fit/profile_io.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "validate/observations/hf_json.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

// Of constants in base units: a picosecond to an exaflop/s lies well inside.
constexpr double kSmallest = 1e-30;
constexpr double kLargest = 1e30;
constexpr double kLargestLog = 10;      // e^10: no prediction is 22,000 times off
constexpr double kLargestScore = 1000;  // in spreads
constexpr double kLargestError = 1e6;
constexpr std::int64_t kMostRows = std::int64_t{1} << 50;
constexpr std::size_t kLargestFile = 16U << 20;

double rounded(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

Json constant_json(const FittedConstant& c) {
  return {{"name", c.name},
          {"value", rounded(c.value, 6)},
          {"unit", c.unit},
          {"log_sd", rounded(c.log_sd, 3)},
          {"prior", rounded(c.prior, 6)},
          {"at_bound", c.at_bound},
          {"of_gpu", c.of_gpu},
          {"meaning", c.meaning}};
}

bool required_boolean(const HfObject& o, const char* key) {
  if (!o.has(key)) o.fail(key, "missing; needed: true or false");
  return o.boolean_or(key, false);
}

// [low, high] of logarithms around 0.
std::array<double, 2> read_interval(const HfObject& o, const char* key, double limit) {
  const std::vector<double> ends = o.numbers(key, -limit, limit);
  if (ends.size() != 2 || ends[0] > 0 || ends[1] < 0) {
    o.fail(key, "found " + o.found(key) + "; allowed: [low, high] with low <= 0 <= high");
  }
  return {ends[0], ends[1]};
}

FittedConstant read_constant(const HfObject& o) {
  o.expect_keys({"name", "value", "unit", "log_sd", "prior", "at_bound", "of_gpu", "meaning"});
  return {.name = o.text("name"),
          .unit = o.text("unit"),
          .meaning = o.text("meaning"),
          .value = o.number("value", kSmallest, kLargest),
          .log_sd = o.number("log_sd", 0, kLargestLog),
          .prior = o.number("prior", kSmallest, kLargest),
          .at_bound = required_boolean(o, "at_bound"),
          .of_gpu = required_boolean(o, "of_gpu")};
}

// The lower triangle, row by row: the matrix is symmetric.
Json covariance_json(const std::vector<double>& covariance, std::size_t n) {
  Json list = Json::array();
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b <= a; ++b) list.push_back(rounded(covariance[a * n + b], 4));
  }
  return list;
}

std::vector<double> read_covariance(const HfObject& o, std::size_t n) {
  const std::vector<double> triangle =
      o.numbers("covariance", -kLargestLog * kLargestLog, kLargestLog * kLargestLog);
  if (triangle.size() != n * (n + 1) / 2) {
    o.fail("covariance", "expected " + std::to_string(n * (n + 1) / 2) + " numbers for " +
                             std::to_string(n) + " constants, found " +
                             std::to_string(triangle.size()));
  }
  std::vector<double> full(n * n);
  std::size_t next = 0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b <= a; ++b) full[a * n + b] = full[b * n + a] = triangle[next++];
    if (full[a * n + a] < 0) o.fail("covariance", "a variance is negative");
  }
  return full;
}

Json unseen_json(const UnseenShapes& u) {
  return {{"rows", u.rows},
          {"shapes", u.shapes},
          {"folds", u.folds},
          {"median_error", rounded(u.median_error, 4)},
          {"mean_error", rounded(u.mean_error, 4)},
          {"p90_error", rounded(u.p90_error, 4)},
          {"bias", rounded(u.bias, 4)},
          {"spearman", std::isfinite(u.spearman) ? Json(rounded(u.spearman, 5)) : Json()},
          {"interval_coverage", rounded(u.interval_coverage, 4)}};
}

UnseenShapes read_unseen(const HfObject& o) {
  UnseenShapes u;
  u.rows = o.integer("rows", {0, kMostRows});
  u.shapes = o.integer("shapes", {0, kMostRows});
  u.folds = static_cast<int>(o.integer("folds", {0, 1000}));
  u.median_error = o.number("median_error", 0, kLargestError);
  u.mean_error = o.number("mean_error", 0, kLargestError);
  u.p90_error = o.number("p90_error", 0, kLargestError);
  u.bias = o.number("bias", -1, kLargestError);
  u.spearman = o.has("spearman") ? o.number("spearman", -1, 1) : std::nan("");
  u.interval_coverage = o.number("interval_coverage", 0, 1);
  return u;
}

Json family_json(const FamilyCalibration& f) {
  Json constants = Json::array(), ranges = Json::object(), spread = Json::object();
  for (const FittedConstant& c : f.constants) constants.push_back(constant_json(c));
  for (const FittedRange& r : f.ranges) {
    ranges[r.column] = {rounded(r.low, 6), rounded(r.high, 6)};
  }
  for (std::size_t r = 0; r < kRegimeCount; ++r) {
    spread[std::string(to_string(static_cast<Regime>(r)))] = rounded(f.spread[r], 4);
  }
  const FamilyIdentity& id = f.identity;
  return {{"table", id.table},
          {"framework", id.framework},
          {"kernel_source", id.kernel_source},
          {"dtype", id.dtype},
          {"kv_dtype", id.kv_dtype},
          {"gemm_type", id.gemm_type},
          {"rows_used", f.rows_used},
          {"converged", f.converged},
          {"constants", constants},
          {"covariance", covariance_json(f.covariance, f.constants.size())},
          {"spread", spread},
          {"interval_scores", {rounded(f.low_score, 4), rounded(f.high_score, 4)}},
          {"unseen_shapes", unseen_json(f.unseen)},
          {"ranges", ranges}};
}

FamilyCalibration read_family(const HfObject& o) {
  o.expect_keys({"table", "framework", "kernel_source", "dtype", "kv_dtype", "gemm_type",
                 "rows_used", "converged", "constants", "covariance", "spread", "interval_scores",
                 "unseen_shapes", "ranges"});
  FamilyCalibration f;
  f.identity = {.table = o.text("table"),
                .framework = o.text("framework"),
                .kernel_source = o.text("kernel_source"),
                .dtype = o.text("dtype"),
                .kv_dtype = o.text("kv_dtype"),
                .gemm_type = o.text("gemm_type")};
  f.rows_used = o.integer("rows_used", {0, kMostRows});
  f.converged = required_boolean(o, "converged");
  for (const HfObject& c : o.objects("constants")) f.constants.push_back(read_constant(c));
  f.covariance = read_covariance(o, f.constants.size());
  const HfObject spread = o.object("spread");
  for (std::size_t r = 0; r < kRegimeCount; ++r) {
    f.spread[r] = spread.number(to_string(static_cast<Regime>(r)), 0, kLargestLog);
  }
  const std::array<double, 2> scores = read_interval(o, "interval_scores", kLargestScore);
  f.low_score = scores[0];
  f.high_score = scores[1];
  f.unseen = read_unseen(o.object("unseen_shapes"));
  const HfObject ranges = o.object("ranges");
  for (const std::string& column : ranges.keys()) {
    const std::vector<double> range = ranges.numbers(column, -kLargest, kLargest);
    if (range.size() != 2) ranges.fail(column, "expected [low, high]");
    f.ranges.push_back({column, range[0], range[1]});
  }
  return f;
}

}  // namespace

std::string write_profile(const CalibrationProfile& p) {
  Json gpu_constants = Json::array(), families = Json::array();
  for (const FittedConstant& c : p.gpu_constants) gpu_constants.push_back(constant_json(c));
  for (const FamilyCalibration& f : p.families) families.push_back(family_json(f));
  const Json json = {
      {"schema_version", 1},
      {"gpu", p.gpu},
      {"source", p.source},
      {"fingerprint", p.fingerprint},
      {"rows", p.rows},
      {"seed", p.seed},
      {"max_points", p.max_points},
      {"unmeasured_interval", {rounded(p.unmeasured.low, 4), rounded(p.unmeasured.high, 4)}},
      {"gpu_constants", gpu_constants},
      {"families", families}};
  // One constant or statistic a line: a refit is read as a diff.
  std::ostringstream out;
  out << "{\n";
  const char* separator = "";
  for (const auto& [key, value] : json.items()) {
    out << separator << "  " << Json(key).dump() << ": ";
    separator = ",\n";
    if (key != "families" && key != "gpu_constants") {
      out << value.dump();
      continue;
    }
    out << "[";
    const char* between = "\n";
    for (const Json& item : value) {
      out << between << "    ";
      between = ",\n";
      if (key == "gpu_constants") {
        out << item.dump();
        continue;
      }
      out << "{";
      const char* comma = "\n";
      for (const auto& [name, part] : item.items()) {
        out << comma << "      " << Json(name).dump() << ": ";
        comma = ",\n";
        if (name != "constants") {
          out << part.dump();
          continue;
        }
        out << "[";
        const char* next = "\n";
        for (const Json& constant : part) {
          out << next << "        " << constant.dump();
          next = ",\n";
        }
        out << "\n      ]";
      }
      out << "\n    }";
    }
    out << "\n  ]";
  }
  out << "\n}\n";
  return out.str();
}

CalibrationProfile read_profile(const std::string& json_text, const std::string& file_name) {
  const HfObject o = HfObject::parse(json_text, file_name);
  const std::int64_t version = o.integer("schema_version", {0, 1000000});
  if (version != 1) o.fail("schema_version", "expected 1, found " + std::to_string(version));
  o.expect_keys({"schema_version", "gpu", "source", "fingerprint", "rows", "seed", "max_points",
                 "unmeasured_interval", "gpu_constants", "families"});
  CalibrationProfile p;
  p.gpu = o.text("gpu");
  p.source = o.text("source");
  p.fingerprint = o.text("fingerprint");
  p.rows = o.integer("rows", {0, kMostRows});
  p.seed =
      static_cast<std::uint64_t>(o.integer("seed", {0, std::numeric_limits<std::int64_t>::max()}));
  p.max_points = static_cast<int>(o.integer("max_points", {0, std::numeric_limits<int>::max()}));
  const std::array<double, 2> unmeasured = read_interval(o, "unmeasured_interval", kLargestLog);
  p.unmeasured = {unmeasured[0], unmeasured[1]};
  for (const HfObject& c : o.objects("gpu_constants")) p.gpu_constants.push_back(read_constant(c));
  for (const HfObject& entry : o.objects("families")) {
    FamilyCalibration family = read_family(entry);
    if (p.find(family.identity) != nullptr) {
      entry.fail("kernel_source", "family " + family.identity.key() + " is there twice");
    }
    p.families.push_back(std::move(family));
  }
  return p;
}

CalibrationProfile load_profile(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    throw DataError(path + ": a folder; give a profile written by calibrate");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError(path + ": cannot be read; give a profile written by calibrate");
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestFile) {
    throw DataError(path + ": larger than 16 MiB; a profile holds constants, not rows");
  }
  return read_profile(text, path);
}

std::vector<std::string> shipped_profiles() {
  std::vector<std::string> names;
  const std::filesystem::path folder = std::filesystem::path(data_directory()) / "calibrations";
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace smtwin
