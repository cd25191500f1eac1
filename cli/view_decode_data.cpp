// SPDX-License-Identifier: Apache-2.0
// The decode answer for programs: JSON in base units and one CSV row a layout, batch and context
// (with --breakdown one row a kernel). Names are those of the C++ structs.
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/decode_answer.hpp"

namespace smtwin {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: no limit is null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// "small_kernels", "linear_attention", "hyper_connections".
std::string key_of(std::string_view name) {
  std::string key(name);
  for (char& c : key) {
    if (c == ' ' || c == '-') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return key;
}

Json interval_json(bool known, const TimeInterval& interval) {
  return known ? Json{interval.low_s, interval.high_s} : Json(nullptr);
}

Json op_json(const OpTime& op) {
  const StepOp& o = op.op;
  Json json = {{"name", o.name},
               {"group", key_of(to_string(o.group))},
               {"kind", key_of(to_string(o.kind))},
               {"stream", o.stream},
               {"critical", op.critical},
               {"seconds", op.time.seconds},
               {"start_s", op.start_s},
               {"end_s", op.end_s},
               {"runs", op.time.runs},
               {"provenance", to_string(op.time.provenance)},
               {"interval_s", interval_json(op.time.with_interval, op.time.interval)},
               {"family", op.time.family.empty() ? Json(nullptr) : Json(op.time.family)},
               {"timed_with", op.time.in_leader ? Json(o.part_of) : Json(nullptr)}};
  if (o.kind == OpKind::collective) {
    json["message_bytes"] = o.message_bytes;
    json["ranks"] = o.ranks;
    return json;
  }
  json["kernel"] = op.time.kernel;
  json["config"] = op.time.config;
  json["bound"] = to_string(op.time.binding);
  if (o.kind == OpKind::gemm || o.kind == OpKind::grouped_gemm) {
    json["rows"] = o.rows;
    json["n"] = o.n;
    json["k"] = o.k;
    json["copies"] = o.copies;
    json["weight_format"] = to_string(o.weight_format);
  }
  if (o.kind == OpKind::attention || o.kind == OpKind::sparse_attention) {
    json["sequences"] = o.sequences;
    json["tokens"] = o.tokens;
    json["heads"] = o.heads;
    json["kv_heads"] = o.kv_heads;
  }
  json["weight_bytes"] = o.weight_bytes;
  json["kv_bytes"] = o.kv_bytes;
  json["read_bytes"] = o.read_bytes;
  json["write_bytes"] = o.write_bytes;
  json["flops"] = o.flops;
  return json;
}

Json segments_json(const StepTime& step) {
  Json segments = Json::array();
  for (const SegmentTime& segment : step.segments) {
    Json ops = Json::array();
    for (const OpTime& op : segment.ops) ops.push_back(op_json(op));
    segments.push_back({{"name", segment.name},
                        {"count", segment.count},
                        {"seconds", segment.seconds},
                        {"sum_s", segment.sum_s},
                        {"ops", std::move(ops)}});
  }
  return segments;
}

void add_memory(Json& json, const MemoryFit& m) {
  json["weight_bytes_per_gpu"] = m.weight_bytes;
  json["workspace_bytes_per_gpu"] = m.workspace_bytes;
  json["memory_budget_bytes"] = m.budget_bytes;
  json["needed_bytes"] = m.needed_bytes;
  json["cache_bytes"] = m.cache_bytes;
  json["kv_bytes_per_token"] = m.cache_bytes_per_token;
  json["kv_bytes_per_sequence"] = m.cache_bytes_per_sequence;
  json["kv_tokens"] = m.fits ? number(m.kv_tokens) : Json(0);
  json["max_batch"] = m.cache_bytes_per_sequence > 0 ? Json(m.max_sequences) : Json(nullptr);
}

Json row_json(const DecodeRow& row, bool with_ops) {
  Json json = {{"layout", to_string(row.layout)},
               {"tp", row.layout.tp},
               {"ep", row.layout.ep},
               {"dp", row.layout.dp},
               {"gpus", row.layout.gpus()},
               {"batch", row.batch > 0 ? Json(row.batch) : Json(nullptr)},
               {"context", row.context},
               {"status", to_string(row.status)},
               {"fits", row.memory ? Json(row.memory->fits) : Json(nullptr)},
               {"reason", row.reason.empty() ? Json(nullptr) : Json(row.reason)}};
  if (row.memory) add_memory(json, *row.memory);
  if (row.status == DecodeStatus::does_not_fit) {
    json["gpus_that_fit"] = row.gpus_that_fit > 0 ? Json(row.gpus_that_fit) : Json(nullptr);
  }
  if (!row.step) {
    json["step_s"] = nullptr;
    return json;
  }
  const StepTime& step = *row.step;
  json["step_s"] = step.seconds;
  json["interval_s"] = interval_json(step.with_interval, step.interval);
  json["fitted_s"] = step.fitted_s;
  json["tokens_per_s_user"] = step.tokens_per_s_user();
  json["tokens_per_s_gpu"] = step.tokens_per_s_gpu(row.layout.tp);
  json["tokens_per_s"] = step.tokens_per_s_gpu(row.layout.tp) * row.layout.gpus();
  json["captured_batch"] = step.captured_batch;
  json["host_s"] = step.host_s;
  json["overlap_saved_s"] = step.overlap_saved_s;
  json["weight_bytes_read"] = step.weight_bytes;
  json["kv_bytes_read"] = step.kv_bytes;
  json["groups_s"] = Json::object();
  for (const GroupShare& share : group_shares(step)) {
    json["groups_s"][key_of(to_string(share.group))] = share.seconds;
  }
  json["provenance"] = to_string(step.provenance);
  if (with_ops) json["segments"] = segments_json(step);
  return json;
}

std::string text_of(double value) { return std::isfinite(value) ? csv_number(value) : "inf"; }

void write_ops_csv(std::ostream& out, const DecodeAnswer& a) {
  CsvTable table{
      .header = {"tp",         "ep",          "dp",     "batch",         "context",      "segment",
                 "count",      "op",          "group",  "stream",        "critical",     "seconds",
                 "rows",       "n",           "k",      "copies",        "weight_bytes", "kv_bytes",
                 "read_bytes", "write_bytes", "flops",  "message_bytes", "kernel",       "config",
                 "bound",      "low_s",       "high_s", "family",        "provenance"},
      .rows = {}};
  for (const DecodeRow& row : a.rows) {
    if (!row.step) continue;
    for (const SegmentTime& segment : row.step->segments) {
      for (const OpTime& op : segment.ops) {
        const StepOp& o = op.op;
        const bool interval = op.time.with_interval && !op.time.in_leader;
        const auto count = [](std::int64_t n) { return std::to_string(n); };
        table.rows.push_back({count(row.layout.tp),
                              count(row.layout.ep),
                              count(row.layout.dp),
                              count(row.batch),
                              count(row.context),
                              segment.name,
                              count(segment.count),
                              o.name,
                              key_of(to_string(o.group)),
                              count(o.stream),
                              op.critical ? "1" : "0",
                              csv_number(op.time.seconds),
                              count(o.rows),
                              count(o.n),
                              count(o.k),
                              count(o.copies),
                              csv_number(o.weight_bytes),
                              csv_number(o.kv_bytes),
                              csv_number(o.read_bytes),
                              csv_number(o.write_bytes),
                              csv_number(o.flops),
                              csv_number(o.message_bytes),
                              op.time.kernel,
                              op.time.config,
                              std::string(to_string(op.time.binding)),
                              interval ? csv_number(op.time.interval.low_s) : "",
                              interval ? csv_number(op.time.interval.high_s) : "",
                              op.time.in_leader ? "in " + o.part_of : op.time.family,
                              std::string(to_string(op.time.provenance))});
      }
    }
  }
  write_csv(out, table);
}

}  // namespace

std::string decode_json(const DecodeAnswer& a, bool with_ops) {
  Json result;
  result["model"] = {{"name", a.model.name},
                     {"architecture", a.model.architecture},
                     {"file", a.model.file},
                     {"layers", a.model.layers.size()},
                     {"total_parameters", total_parameters(a.model)},
                     {"active_parameters", active_parameters(a.model)},
                     {"weight_bytes", weight_bytes(a.model)},
                     {"formats", describe_formats(a.model)}};
  result["kv_format"] = to_string(a.request.kv_format);
  result["memory_utilization"] = a.request.memory.utilization;
  result["l2_state"] = "cold";
  result["context_cv"] = a.request.step.context_cv;
  result["routing"] = "balanced";
  Json rows = Json::array();
  for (const DecodeRow& row : a.rows) rows.push_back(row_json(row, with_ops));
  result["rows"] = std::move(rows);
  result["notes"] = a.notes;
  std::optional<Provenance> weakest;
  for (const DecodeRow& row : a.rows) {
    if (row.step) weakest = weaker(weakest.value_or(row.step->provenance), row.step->provenance);
  }
  result["provenance"] = weakest ? Json(to_string(*weakest)) : Json(nullptr);
  return result.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void write_decode_csv(std::ostream& out, const DecodeAnswer& a, bool with_ops) {
  if (with_ops) {
    write_ops_csv(out, a);
    return;
  }
  CsvTable table{
      .header = {"model", "gpu", "tp", "ep", "dp", "batch", "context", "status", "step_s",
                 "step_low_s", "step_high_s", "provenance", "tokens_per_s_user", "tokens_per_s_gpu",
                 "weight_bytes_per_gpu", "kv_tokens", "max_batch", "reason"},
      .rows = {}};
  for (const DecodeRow& row : a.rows) {
    const auto with_step = [&](auto value) {
      return row.step ? csv_number(value(*row.step)) : std::string();
    };
    table.rows.push_back(
        {a.model.name, a.gpu.name, std::to_string(row.layout.tp), std::to_string(row.layout.ep),
         std::to_string(row.layout.dp), row.batch > 0 ? std::to_string(row.batch) : "",
         std::to_string(row.context), std::string(to_string(row.status)),
         with_step([](const StepTime& s) { return s.seconds; }),
         row.step && row.step->with_interval ? csv_number(row.step->interval.low_s) : "",
         row.step && row.step->with_interval ? csv_number(row.step->interval.high_s) : "",
         row.step ? std::string(to_string(row.step->provenance)) : "",
         with_step([](const StepTime& s) { return s.tokens_per_s_user(); }),
         with_step([&](const StepTime& s) { return s.tokens_per_s_gpu(row.layout.tp); }),
         row.memory ? csv_number(row.memory->weight_bytes) : "",
         row.memory && row.memory->fits ? text_of(row.memory->kv_tokens) : "",
         row.memory ? std::to_string(row.memory->max_sequences) : "", row.reason});
  }
  write_csv(out, table);
}

}  // namespace smtwin
