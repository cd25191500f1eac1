// SPDX-License-Identifier: Apache-2.0
// --breakdown: every kernel of a step, kind of layer by kind of layer. --explain: the first step
// time followed down to the equation of its most expensive kernel.
#include <algorithm>
#include <ostream>

#include "cli/decode_answer.hpp"
#include "model/kernel_time.hpp"

namespace smtwin {
namespace {

// "16x6144x4096", with matrices of a batch or active experts as " x81".
std::string gemm_shape(const StepOp& op) {
  std::string text =
      std::to_string(op.rows) + 'x' + std::to_string(op.n) + 'x' + std::to_string(op.k);
  if (op.copies > 1) text += " x" + std::to_string(op.copies);
  return text;
}

std::string shape_text(const StepOp& op) {
  switch (op.kind) {
    case OpKind::gemm:
    case OpKind::grouped_gemm:
      return gemm_shape(op);
    case OpKind::attention:
    case OpKind::sparse_attention:
      return std::to_string(op.sequences) + 'x' + std::to_string(op.tokens) + " tokens";
    case OpKind::collective:
      return format_size(op.message_bytes) + " x" + std::to_string(op.ranks) + " GPUs";
    case OpKind::streaming:
      break;
  }
  return format_size(op.weight_bytes + op.kv_bytes + op.read_bytes + op.write_bytes);
}

std::string config_text(const OpTime& op) {
  if (!op.time.runs) return "none fits";
  if (op.time.in_leader) return "in " + op.op.part_of;
  if (!op.time.family.empty()) {
    return std::string(to_string(op.time.provenance)) +
           (op.time.config.empty() ? "" : " " + op.time.config);
  }
  if (op.op.kind == OpKind::collective) return std::string(to_string(op.time.provenance));
  // With blanks the last column can wrap.
  std::string text = op.time.config;
  std::replace(text.begin(), text.end(), '/', ' ');
  return text;
}

void print_segment(std::ostream& out, const SegmentTime& segment, double step_s) {
  out << '\n' << segment.name;
  if (segment.count > 1)
    out << "   " << format_count(segment.count) << " x " << format_time(segment.seconds);
  else
    out << "   " << format_time(segment.seconds);
  out << " = " << format_percent(segment.count * segment.seconds / step_s) << " of the step";
  if (segment.sum_s > segment.seconds * 1.0005) {
    out << " (" << format_time(segment.sum_s) << " without overlap)";
  }
  out << '\n';
  const bool intervals = std::any_of(segment.ops.begin(), segment.ops.end(),
                                     [](const OpTime& op) { return op.time.with_interval; });
  std::vector<Column> columns{{"op", Align::left}, {"shape", Align::left}, {"us"}};
  if (intervals) columns.push_back({"90 %"});
  columns.insert(columns.end(),
                 {Column{"% step"}, {"bound", Align::left}, {"config", Align::left}});
  TextTable table(std::move(columns));
  for (const OpTime& op : segment.ops) {
    const double spent = op.critical ? segment.count * op.elapsed_s() / step_s : 0;
    std::vector<std::string> cells{(op.op.stream > 0 ? "|| " : "") + op.op.name, shape_text(op.op),
                                   op.time.in_leader ? "" : format_number(1e6 * op.time.seconds)};
    if (intervals) {
      cells.push_back(op.time.in_leader ? ""
                                        : format_number(1e6 * op.time.interval.low_s, 2) + "-" +
                                              format_number(1e6 * op.time.interval.high_s, 2));
    }
    cells.insert(cells.end(), {op.critical ? format_number(100 * spent, 2) : "hidden",
                               op.op.kind == OpKind::collective || op.time.in_leader
                                   ? ""
                                   : std::string(to_string(op.time.binding)),
                               config_text(op)});
    table.add_row(std::move(cells));
  }
  table.print(out);
}

const DecodeRow* first_with_time(const DecodeAnswer& a) {
  const auto row = std::find_if(a.rows.begin(), a.rows.end(),
                                [](const DecodeRow& r) { return r.step.has_value(); });
  return row == a.rows.end() ? nullptr : &*row;
}

struct Costliest {
  const SegmentTime* segment = nullptr;
  const OpTime* op = nullptr;
  double seconds = 0;  // in the step
};

Costliest costliest(const StepTime& step) {
  Costliest most;
  for (const SegmentTime& segment : step.segments) {
    for (const OpTime& op : segment.ops) {
      if (!op.critical || !op.time.runs) continue;
      const double seconds = segment.count * op.elapsed_s();
      if (seconds > most.seconds) most = {&segment, &op, seconds};
    }
  }
  return most;
}

void print_memory(std::ostream& out, const DecodeAnswer& a, const DecodeRow& row) {
  const MemoryFit& m = *row.memory;
  print_wrapped(out, "cache",
                format_percent(a.request.memory.utilization) + " x " + format_size(m.dram_bytes) +
                    " - " + format_size(m.weight_bytes) + " of weights - " +
                    format_size(m.workspace_bytes) + " of workspace = " +
                    format_size(m.cache_bytes) + "; a sequence of " + format_count(row.context) +
                    " tokens holds " + format_size(m.cache_bytes_per_sequence) + ", so " +
                    (m.cache_bytes_per_sequence > 0 ? format_count(m.max_sequences)
                                                    : std::string("any number")) +
                    " fit");
}

void print_kernel(std::ostream& out, const DecodeAnswer& a, const OpTime& op) {
  if (!op.time.family.empty()) {
    const FittedTime fitted = a.fitted->time(op.op).value();
    const FamilyCalibration& family = *fitted.calibration;
    std::vector<std::string> words, alone;
    for (std::size_t j = 0; j < family.constants.size(); ++j) {
      const FittedConstant& c = family.constants[j];
      words.push_back(c.name + " " +
                      format_quantity(fitted.values[j], c.unit == "1" ? "" : c.unit));
    }
    for (std::size_t r = 0; r < kRegimeCount; ++r) {
      if (fitted.parts.regime_s[r] <= 0) continue;
      alone.push_back(std::string(to_string(static_cast<Regime>(r))) + " " +
                      format_time(fitted.parts.regime_s[r]));
    }
    print_wrapped(out, "family",
                  fitted.family + ", " + std::string(to_string(op.time.provenance)) + "; " +
                      format_percent(family.unseen.median_error) + " median error on " +
                      format_count(family.unseen.rows) + " rows of shapes left out of the fit");
    print_wrapped(
        out, "90 % interval",
        format_time(op.time.interval.low_s) + " to " + format_time(op.time.interval.high_s));
    print_wrapped(out, "alone",
                  join(alone, ", ") + "; how they add is in docs/families/ of this family");
    print_wrapped(out, "constants", join(words, ", "));
    return;
  }
  if (op.op.kind == OpKind::collective) {
    const CollectiveTime t =
        collective_time(a.gpu, op.op.collective, op.op.ranks, op.op.message_bytes);
    print_wrapped(out, "equation",
                  t.equation + " = " + format_time(t.seconds) + " (" +
                      std::string(to_string(t.provenance)) + ')');
    return;
  }
  const OpTimer timer(a.gpu, a.request.kernels);
  for (const KernelInstance& instance : timer.candidates(op.op)) {
    if (instance.kernel != op.time.kernel || instance.config != op.time.config) continue;
    const KernelTime t = kernel_time(a.gpu, instance, timer.options(op.op));
    print_wrapped(out, "grid",
                  instance.grid.formula + " = " + format_count(instance.grid.ctas()) + " CTAs, " +
                      format_count(t.residency.ctas_per_sm) + " an SM, " +
                      format_number(t.waves.waves) + " waves");
    for (const BoundTime& bound : t.bounds) {
      print_wrapped(out, std::string(to_string(bound.bound)),
                    bound.equation + " (" + std::string(to_string(bound.provenance)) + ')');
    }
    print_wrapped(out, "chosen",
                  "the fastest of the list that fits; its shared bytes " + instance.shared_formula +
                      " (" + std::string(to_string(instance.shared_provenance)) + ')');
    return;
  }
}

}  // namespace

void print_decode_breakdown(std::ostream& out, const DecodeAnswer& a) {
  for (const DecodeRow& row : a.rows) {
    if (!row.step) continue;
    out << '\n'
        << to_string(row.layout) << ", batch " << format_count(row.batch) << ", context "
        << format_count(row.context) << ": " << format_time(row.step->seconds)
        << " a step; a GPU reads " << format_size(row.step->weight_bytes) << " of weights, "
        << format_size(row.step->kv_bytes) << " of cache\n";
    for (const SegmentTime& segment : row.step->segments) {
      print_segment(out, segment, row.step->seconds);
    }
  }
  if (first_with_time(a) != nullptr) {
    out << '\n';
    print_wrapped(out, "reading",
                  "shapes are rows x n x k of one GPU, then matrices or active experts; || runs "
                  "beside the main stream, hidden = not on the critical path; us alone on the GPU");
    print_wrapped(out, "kernels",
                  std::string(a.fitted ? "those marked fitted or transferred are timed by measured "
                                         "families; of the others "
                                       : "") +
                      "GEMMs run on triton_gemm, experts on triton_moe_gemm, NVFP4 weights on "
                      "cutlass_nvfp4 (sm_12x), sparse attention on sparse_decode_fieldnotes, the "
                      "rest on assumed streaming kernels; `--set kernel.triton_gemm.num_warps=8` "
                      "pins a parameter");
  }
}

void print_decode_explanation(std::ostream& out, const DecodeAnswer& a) {
  const DecodeRow* row = first_with_time(a);
  if (row == nullptr) return;
  const StepTime& step = *row->step;
  out << "\nhow " << to_string(row->layout) << " at batch " << format_count(row->batch) << " gets "
      << format_number(step.tokens_per_s_user()) << " tokens/s a user\n";
  print_memory(out, a, *row);
  print_wrapped(out, "tokens/s",
                "1 / " + format_time(step.seconds) + " a user; " + format_count(row->batch) +
                    " / (" + format_time(step.seconds) + " x " + std::to_string(row->layout.tp) +
                    " GPUs) = " + format_number(step.tokens_per_s_gpu(row->layout.tp)) + " a GPU");
  std::string sum = step.host_s > 0 ? format_time(step.host_s) + " host + " : "";
  for (std::size_t i = 0; i < step.segments.size(); ++i) {
    const SegmentTime& s = step.segments[i];
    sum += (i > 0 ? " + " : "") + (s.count > 1 ? format_count(s.count) + " x " : "") +
           format_time(s.seconds) + ' ' + s.name;
  }
  print_wrapped(out, "step", sum + " = " + format_time(step.seconds));
  const Costliest most = costliest(step);
  if (most.op == nullptr) return;
  const StepOp& op = most.op->op;
  std::string text =
      op.name + " of " + most.segment->name + ": " + format_count(most.segment->count) + " x " +
      format_time(most.op->time.seconds) + ", " + format_percent(most.seconds / step.seconds) +
      " of the step; " + shape_text(op);
  if (op.weight_bytes > 0) {
    text += ", " + format_size(op.weight_bytes) + " of " +
            std::string(to_string(op.weight_format)) + " weights";
  }
  if (op.kv_bytes > 0) text += ", " + format_size(op.kv_bytes) + " of cache";
  print_wrapped(out, "costliest",
                text + "; on " + most.op->time.kernel + ' ' + most.op->time.config);
  print_kernel(out, a, *most.op);
}

}  // namespace smtwin
