// SPDX-License-Identifier: Apache-2.0
#include "validate/runs/reading_io.hpp"

#include <limits>
#include <nlohmann/json.hpp>

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLargest = 1e30;  // of rates, bytes and errors in base units
constexpr double kLongest = 1e6;   // seconds
constexpr std::int32_t kMostCount = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostInteger = std::numeric_limits<std::int64_t>::max();

std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parameters_json(const Parameters& parameters) {
  Json json = Json::object();
  for (const auto& [name, value] : parameters) json[name] = value;
  return json;
}

Parameters read_parameters(const HfObject& o, const char* key) {
  const HfObject values = o.object(key);
  Parameters parameters;
  for (const std::string& name : values.keys()) {
    parameters[name] = values.integer(name, {-kMostInteger, kMostInteger});
  }
  return parameters;
}

std::int32_t count(const HfObject& o, const char* key, std::int32_t least = 0) {
  return static_cast<std::int32_t>(o.integer(key, {least, kMostCount}));
}

template <typename Enum>
Enum read_choice(const HfObject& o, const char* key, Enum first, const char* first_name,
                 Enum second, const char* second_name) {
  const std::string text = o.text(key);
  if (text == first_name) return first;
  if (text == second_name) return second;
  o.fail(key,
         "found " + o.found(key) + "; allowed: \"" + first_name + "\" or \"" + second_name + "\"");
}

bool read_boolean(const HfObject& o, const char* key) {
  if (!o.has(key)) o.fail(key, "missing; needed: true or false");
  return o.boolean_or(key, false);
}

}  // namespace

std::string write_reading(const RunGpu& g) {
  return line({{"name", g.name},
               {"reported", g.reported},
               {"compute_capability", g.compute_capability},
               {"driver", g.driver},
               {"cuda_runtime", g.cuda_runtime},
               {"sm_count", g.sm_count},
               {"memory_bytes", g.memory_bytes},
               {"l2_bytes", g.l2_bytes},
               {"sm_clock_max_hz", g.sm_clock_max_hz},
               {"memory_clock_hz", g.memory_clock_hz},
               {"power_limit_w", g.power_limit_w}});
}

RunGpu read_run_gpu(const HfObject& o) {
  o.expect_keys({"name", "reported", "compute_capability", "driver", "cuda_runtime", "sm_count",
                 "memory_bytes", "l2_bytes", "sm_clock_max_hz", "memory_clock_hz",
                 "power_limit_w"});
  return {.name = o.text("name"),
          .reported = o.text("reported"),
          .compute_capability = o.text("compute_capability"),
          .driver = o.text("driver"),
          .cuda_runtime = o.text("cuda_runtime"),
          .sm_count = count(o, "sm_count"),
          .memory_bytes = o.integer("memory_bytes", {0, kMostInteger}),
          .l2_bytes = o.integer("l2_bytes", {0, kMostInteger}),
          .sm_clock_max_hz = o.number("sm_clock_max_hz", 0, kLargest),
          .memory_clock_hz = o.number("memory_clock_hz", 0, kLargest),
          .power_limit_w = o.number("power_limit_w", 0, kLargest)};
}

std::string write_reading(const ProbeReading& r) {
  Json parameters = Json::object();
  for (const auto& [name, value] : r.parameters) parameters[name] = value;
  return line({{"probe", r.probe},
               {"parameters", parameters},
               {"value", r.value},
               {"unit", r.unit},
               {"spread", r.spread},
               {"samples", r.samples}});
}

ProbeReading read_probe_reading(const HfObject& o) {
  o.expect_keys({"probe", "parameters", "value", "unit", "spread", "samples"});
  ProbeReading r;
  r.probe = o.text("probe");
  const HfObject parameters = o.object("parameters");
  for (const std::string& name : parameters.keys()) {
    r.parameters[name] = parameters.number(name, -kLargest, kLargest);
  }
  r.value = o.number("value", -kLargest, kLargest);
  r.unit = o.text("unit");
  r.spread = o.number("spread", 0, kLargest);
  r.samples = count(o, "samples");
  return r;
}

std::string write_reading(const FunctionReading& r) {
  return line({{"kernel", r.kernel},
               {"config", parameters_json(r.config)},
               {"symbol", r.symbol},
               {"registers_per_thread", r.registers_per_thread},
               {"static_shared_bytes", r.static_shared_bytes},
               {"dynamic_shared_bytes", r.dynamic_shared_bytes},
               {"local_bytes", r.local_bytes},
               {"threads_per_cta", r.threads_per_cta},
               {"driver_ctas_per_sm", r.driver_ctas_per_sm},
               {"seen_ctas_per_sm", r.seen_ctas_per_sm}});
}

FunctionReading read_function_reading(const HfObject& o) {
  o.expect_keys({"kernel", "config", "symbol", "registers_per_thread", "static_shared_bytes",
                 "dynamic_shared_bytes", "local_bytes", "threads_per_cta", "driver_ctas_per_sm",
                 "seen_ctas_per_sm"});
  return {.kernel = o.text("kernel"),
          .config = read_parameters(o, "config"),
          .symbol = o.text("symbol"),
          .registers_per_thread = count(o, "registers_per_thread"),
          .static_shared_bytes = o.integer("static_shared_bytes", {0, kMostCount}),
          .dynamic_shared_bytes = o.integer("dynamic_shared_bytes", {0, kMostCount}),
          .local_bytes = o.integer("local_bytes", {0, kMostCount}),
          .threads_per_cta = count(o, "threads_per_cta"),
          .driver_ctas_per_sm = count(o, "driver_ctas_per_sm"),
          .seen_ctas_per_sm = count(o, "seen_ctas_per_sm", -1)};
}

std::string write_reading(const TimeReading& r) {
  return line({{"kernel", r.kernel},
               {"peer", r.peer},
               {"config", parameters_json(r.config)},
               {"shape", parameters_json(r.shape)},
               {"cache", r.cache == SampleCache::cold ? "cold" : "warm"},
               {"launch", r.launch == SampleLaunch::graph ? "graph" : "stream"},
               {"seconds", r.seconds},
               {"p10_s", r.p10_s},
               {"p90_s", r.p90_s},
               {"samples", r.samples},
               {"medians", r.medians},
               {"rejected", r.rejected},
               {"sm_clock_hz", r.sm_clock_hz},
               {"power_w", r.power_w},
               {"relative_error", r.relative_error}});
}

TimeReading read_time_reading(const HfObject& o) {
  o.expect_keys({"kernel", "peer", "config", "shape", "cache", "launch", "seconds", "p10_s",
                 "p90_s", "samples", "medians", "rejected", "sm_clock_hz", "power_w",
                 "relative_error"});
  TimeReading r;
  r.kernel = o.text("kernel");
  r.peer = read_boolean(o, "peer");
  r.config = read_parameters(o, "config");
  r.shape = read_parameters(o, "shape");
  r.cache = read_choice(o, "cache", SampleCache::cold, "cold", SampleCache::warm, "warm");
  r.launch = read_choice(o, "launch", SampleLaunch::graph, "graph", SampleLaunch::stream, "stream");
  r.seconds = o.number("seconds", 0, kLongest);
  if (r.seconds == 0) o.fail("seconds", "found 0; allowed: more than 0");
  r.p10_s = o.number("p10_s", 0, kLongest);
  r.p90_s = o.number("p90_s", 0, kLongest);
  if (r.p10_s > r.seconds || r.p90_s < r.seconds) {
    o.fail("seconds", "found " + o.found("seconds") + "; allowed: p10_s <= seconds <= p90_s");
  }
  r.samples = count(o, "samples", 1);
  r.medians = count(o, "medians", 1);
  r.rejected = count(o, "rejected");
  r.sm_clock_hz = o.number("sm_clock_hz", 0, kLargest);
  r.power_w = o.number("power_w", 0, kLargest);
  r.relative_error = o.number("relative_error", -1, kLargest);
  return r;
}

}  // namespace smtwin
