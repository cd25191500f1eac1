// SPDX-License-Identifier: Apache-2.0
// The decode report for people: one line a layout and batch, with where the time goes; a layout or
// batch without a time says why in that place.
#include <cmath>
#include <ostream>

#include "cli/decode_answer.hpp"
#include "cli/profile_choice.hpp"
#include "model/collectives.hpp"
#include "model/serving_kernels.hpp"

namespace smtwin {
namespace {

constexpr std::size_t kGroupsShown = 4;  // one less beside each further column

// 2.03 M, 565 k: counts of tokens and parameters.
std::string compact(double count) {
  if (!std::isfinite(count)) return "no limit";
  if (count >= 999.5e6) return format_number(count / 1e9) + " B";
  if (count >= 999.5e3) return format_number(count / 1e6) + " M";
  if (count >= 9'999.5) return format_number(count / 1e3) + " k";
  return format_count(static_cast<std::int64_t>(count));
}

// Short names of the groups, for the last column of the table.
std::string_view short_name(OpGroup group) {
  switch (group) {
    case OpGroup::embedding:
      return "embed";
    case OpGroup::projections:
      return "proj";
    case OpGroup::attention:
      return "attn";
    case OpGroup::indexer:
      return "index";
    case OpGroup::compressor:
      return "pool";
    case OpGroup::linear_attention:
      return "linear";
    case OpGroup::hyper_connections:
      return "hyper";
    case OpGroup::dense_mlp:
      return "mlp";
    case OpGroup::shared_experts:
      return "shared";
    case OpGroup::small_kernels:
      return "small";
    case OpGroup::collectives:
      return "comm";
    case OpGroup::experts:
      return "moe";
    case OpGroup::router:
    case OpGroup::lm_head:
    case OpGroup::sampler:
    case OpGroup::host:
      break;
  }
  return to_string(group);
}

std::string where_it_goes(const StepTime& step, std::size_t groups) {
  std::string text;
  std::size_t shown = 0;
  for (const GroupShare& share : group_shares(step)) {
    const auto percent = std::lround(100 * share.share);
    if (shown == groups || percent == 0) break;
    text += (shown == 0 ? "" : " ") + std::string(short_name(share.group)) + ' ' +
            std::to_string(percent);
    ++shown;
  }
  return text;
}

void print_heading(std::ostream& out, const DecodeAnswer& a) {
  const double total = total_parameters(a.model);
  const double active = active_parameters(a.model);
  std::string text = compact(total) + " parameters";
  if (active < 0.999 * total) text += " (" + compact(active) + " active)";
  print_wrapped(out, a.model.name,
                text + ": " + describe_formats(a.model) + ", cache " +
                    std::string(to_string(a.request.kv_format)));
  out << a.gpu.display_name << "   " << architecture_name(a.gpu.compute_capability) << ", "
      << format_count(*a.gpu.sm_count) << " SMs, " << format_size(*a.gpu.dram_bytes) << ", "
      << format_bandwidth(*a.gpu.dram_bytes_per_s) << ", " << interconnect_name(a.gpu) << '\n';
  const bool one = a.request.contexts.size() == 1;
  out << "cold weights, balanced experts, one token a sequence and step"
      << (one ? ", context " + format_count(a.request.contexts.front()) : "")
      << (a.request.step.context_cv > 0
              ? " +- " + format_percent(a.request.step.context_cv) + " (standard deviation)"
              : "")
      << "\n\n";
}

void print_rows(std::ostream& out, const DecodeAnswer& a) {
  const bool contexts = a.request.contexts.size() > 1;
  const std::size_t groups = kGroupsShown - (contexts ? 1 : 0) - (a.fitted ? 1 : 0);
  std::vector<Column> columns{{"layout", Align::left}, {"weights"}, {"KV tok"}};
  if (contexts) columns.push_back({"context"});
  columns.push_back({"batch"});
  columns.push_back({"step ms"});
  if (a.fitted) columns.push_back({"90 %"});
  columns.push_back({"tok/s/user"});
  columns.push_back({"tok/s/GPU"});
  columns.push_back({"where the time goes, %", Align::left});
  TextTable table(columns);
  const DecodeRow* before = nullptr;
  for (const DecodeRow& row : a.rows) {
    const bool same =
        before != nullptr && before->layout == row.layout && before->context == row.context;
    const bool memory = row.memory && !same;
    std::vector<std::string> cells{
        to_string(row.layout), memory ? format_size(row.memory->weight_bytes) : "",
        memory && row.memory->fits ? compact(row.memory->kv_tokens) : ""};
    if (contexts) cells.push_back(format_count(row.context));
    cells.push_back(row.batch > 0 ? format_count(row.batch) : "");
    if (row.step) {
      cells.push_back(format_number(1e3 * row.step->seconds));
      if (a.fitted) {
        cells.push_back(format_number(1e3 * row.step->interval.low_s) + "-" +
                        format_number(1e3 * row.step->interval.high_s));
      }
      cells.push_back(format_number(row.step->tokens_per_s_user()));
      cells.push_back(format_number(row.step->tokens_per_s_gpu(row.layout.tp)));
      cells.push_back(where_it_goes(*row.step, groups));
    } else {
      cells.insert(cells.end(), a.fitted ? 4 : 3, "-");
      cells.push_back(row.reason);
    }
    table.add_row(std::move(cells));
    before = &row;
  }
  table.print(out);
}

// Whose constants, and how much of the steps they time.
std::string profile_line(const DecodeAnswer& a) {
  const std::string more =
      "`--breakdown` lists every kernel, `--explain` follows one number to its equations";
  if (!a.fitted) return "none: every time is assumed and has no interval. " + more;
  double fitted = 0, total = 0;
  for (const DecodeRow& row : a.rows) {
    if (!row.step) continue;
    fitted += row.step->fitted_s;
    total += row.step->seconds;
  }
  return profile_text(a.request.profile, a.gpu.name) + "; kernels of " +
         std::string(to_string(a.request.framework)) + ", 90 % intervals" +
         (total > 0 ? "; fitted families time " + format_percent(fitted / total) +
                          " of these steps, the uncalibrated kernel model the rest"
                    : "") +
         ". " + more;
}

}  // namespace

void print_decode(std::ostream& out, const DecodeAnswer& a) {
  print_heading(out, a);
  print_rows(out, a);
  out << '\n';
  print_wrapped(out, "columns",
                "weights and KV tok(ens) of one GPU; batch = sequences of a replica; moe = "
                "experts, proj = projections of attention, comm = collectives, small = norms, "
                "RoPE, cache writes, "
                "quantization, activations");
  const MemoryOptions& memory = a.request.memory;
  print_wrapped(out, "memory",
                format_percent(memory.utilization) + " of " + format_size(*a.gpu.dram_bytes) +
                    " for weights, cache and (assumed) activations of " +
                    format_count(memory.prefill_tokens) +
                    " prompt tokens, CUDA context, graphs, "
                    "communication buffers");
  for (const std::string& note : a.notes) print_wrapped(out, "note", note);
  print_wrapped(out, "profile", profile_line(a));
  print_overrides(out, a.overrides);
}

}  // namespace smtwin
