// SPDX-License-Identifier: Apache-2.0
// Run files: a head of facts, then one reading a line, so that two runs compare as text. Layout:
// data/SCHEMA.md.
#include <limits>
#include <sstream>

#include "arch/json_text.hpp"
#include "validate/runs/reading_io.hpp"
#include "validate/runs/run_file.hpp"

namespace smtwin {
namespace {

constexpr int kSchemaVersion = 1;

template <typename Reading>
void write_list(std::ostream& out, const char* key, const std::vector<Reading>& readings) {
  out << ",\n  \"" << key << "\": [";
  const char* separator = "\n    ";
  for (const Reading& reading : readings) {
    out << separator << write_reading(reading);
    separator = ",\n    ";
  }
  out << (readings.empty() ? "]" : "\n  ]");
}

}  // namespace

std::string write_run(const RunFile& run) {
  std::ostringstream out;
  out << "{\n  \"schema_version\": " << kSchemaVersion << ",\n  \"gpu\": " << write_reading(run.gpu)
      << ",\n  \"tool_version\": " << json_quoted(run.tool_version)
      << ",\n  \"compiler\": " << json_quoted(run.compiler)
      << ",\n  \"date\": " << json_quoted(run.date)
      << ",\n  \"method\": " << json_quoted(run.method)
      << ",\n  \"note\": " << json_quoted(run.note) << ",\n  \"seed\": " << run.seed;
  write_list(out, "probes", run.probes);
  write_list(out, "functions", run.functions);
  write_list(out, "times", run.times);
  out << "\n}\n";
  return out.str();
}

RunFile read_run(const std::string& text, const std::string& where) {
  const HfObject o = HfObject::parse(text, where);
  const std::int64_t version = o.integer("schema_version", {0, 1000000});
  if (version != kSchemaVersion) {
    o.fail("schema_version", "expected 1, found " + std::to_string(version));
  }
  o.expect_keys({"schema_version", "gpu", "tool_version", "compiler", "date", "method", "note",
                 "seed", "probes", "functions", "times"});
  RunFile run;
  run.gpu = read_run_gpu(o.object("gpu"));
  run.tool_version = o.text("tool_version");
  run.compiler = o.text("compiler");
  run.date = o.text("date");
  run.method = o.text("method");
  run.note = o.text("note");
  run.seed =
      static_cast<std::uint64_t>(o.integer("seed", {0, std::numeric_limits<std::int64_t>::max()}));
  for (const HfObject& r : o.objects("probes")) run.probes.push_back(read_probe_reading(r));
  for (const HfObject& r : o.objects("functions")) {
    run.functions.push_back(read_function_reading(r));
  }
  for (const HfObject& r : o.objects("times")) run.times.push_back(read_time_reading(r));
  return run;
}

}  // namespace smtwin
