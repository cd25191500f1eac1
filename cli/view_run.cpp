// SPDX-License-Identifier: Apache-2.0
// A run for people: residency and registers first, as they are exact, then times by family, then
// shape by shape the fastest configuration against the prediction, the floor and the peers.
#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>

#include "cli/report.hpp"
#include "cli/run_answer.hpp"
#include "validate/runs/run_readings.hpp"

namespace smtwin {
namespace {

constexpr std::size_t kMostDiffering = 20;  // rows shown

std::string signed_percent(double fraction) {
  return (fraction > 0 ? "+" : "") + format_percent(fraction);
}

std::string count_text(std::size_t n) { return format_count(static_cast<std::int64_t>(n)); }

std::string tera_flops(double flops_per_s) {
  return format_number(flops_per_s / 1e12) + " TFLOP/s";
}

void print_head(std::ostream& out, const RunAnswer& a) {
  const RunGpu& gpu = a.run.gpu;
  print_wrapped(out, "run",
                (gpu.name.empty() ? gpu.reported : gpu.name + " (" + gpu.reported + ")") +
                    ", driver " + gpu.driver + ", CUDA " + gpu.cuda_runtime + ", " + a.run.date +
                    (a.files.size() > 1 ? ", " + count_text(a.files.size()) + " files" : ""));
  print_wrapped(out, "method", a.run.method);
  if (!a.stopped.empty()) print_wrapped(out, "ended early", a.stopped);
  if (!a.profile.empty()) print_wrapped(out, "profile", a.profile);
  if (a.report == nullptr) return;
  print_wrapped(out, "floor",
                "max(bytes / " + format_bandwidth(a.report->dram_bytes_per_s) + ", flops / " +
                    tera_flops(a.report->math_flops_per_s) + " bf16): " + a.report->rates_source);
}

void print_differing(std::ostream& out, const RunReport& report, const std::string& kernel) {
  out << '\n' << kernel << ", functions that differ\n";
  TextTable table({{"config", Align::left},
                   {"CTAs/SM"},
                   {"driver"},
                   {"seen"},
                   {"registers"},
                   {"driver"},
                   {"shared B"},
                   {"driver"}});
  std::size_t rows = 0;
  for (const FunctionScore& f : report.functions) {
    if (!f.differs() || f.reading->kernel != kernel || ++rows > kMostDiffering) continue;
    const FunctionReading& r = *f.reading;
    table.add_row({f.config,
                   f.predicted_ctas_per_sm ? std::to_string(*f.predicted_ctas_per_sm) : "-",
                   std::to_string(r.driver_ctas_per_sm),
                   r.seen_ctas_per_sm < 0 ? "-" : std::to_string(r.seen_ctas_per_sm),
                   f.compiled_registers ? std::to_string(*f.compiled_registers) : "-",
                   std::to_string(r.registers_per_thread),
                   f.predicted_shared_bytes ? format_count(*f.predicted_shared_bytes) : "-",
                   format_count(r.dynamic_shared_bytes + r.static_shared_bytes)});
  }
  table.print(out);
  if (rows > kMostDiffering) {
    out << count_text(rows - kMostDiffering) << " more (--format json has all)\n";
  }
}

// "54 variants: predicted, the driver's and seen are the same", and a table of those that differ.
void print_functions(std::ostream& out, const RunReport& report) {
  if (report.functions.empty()) return;
  std::size_t variants = 0, same = 0, seen = 0, registers = 0, same_registers = 0, fit = 0;
  std::set<std::string> kernels;
  for (const FunctionScore& f : report.functions) {
    if (f.differs()) kernels.insert(f.reading->kernel);
    if (f.main) {
      ++variants;
      same += !f.residency_differs();
      seen += f.reading->seen_ctas_per_sm >= 0;
      fit += f.reading->driver_ctas_per_sm > 0;
    }
    registers += f.compiled_registers.has_value();
    same_registers += f.compiled_registers && !f.registers_differ();
  }
  print_wrapped(out, "residency",
                count_text(same) + " of " + count_text(variants) +
                    " variants as predicted (driver; " + count_text(seen) +
                    " also seen on the SMs); " + count_text(variants - fit) +
                    " do not fit this GPU");
  print_wrapped(out, "registers",
                count_text(same_registers) + " of " + count_text(registers) +
                    " functions as in the compiled table" +
                    (registers < report.functions.size()
                         ? "; " + count_text(report.functions.size() - registers) +
                               " are not in it for this architecture"
                         : ""));
  for (const std::string& kernel : kernels) print_differing(out, report, kernel);
}

void print_families(std::ostream& out, const RunReport& report) {
  if (report.times.families.empty()) return;
  out << '\n';
  TextTable table({{"family", Align::left},
                   {"readings"},
                   {"shapes"},
                   {"median"},
                   {"p90"},
                   {"bias"},
                   {"Spearman"},
                   {"in 90 %"},
                   {"picks"},
                   {"constants", Align::left}});
  for (const RunFamilyScore& f : report.times.families) {
    const double spearman = f.errors.spearman;
    table.add_row(
        {f.name, count_text(f.errors.rows), count_text(f.scored_shapes),
         format_percent(f.errors.median_error), format_percent(f.errors.p90_error),
         signed_percent(f.errors.bias), spearman == spearman ? format_number(spearman, 3) : "-",
         f.fitted ? format_percent(f.interval_coverage) : "-",
         f.judged_picks > 0 ? count_text(f.good_picks) + "/" + count_text(f.judged_picks) : "-",
         f.fitted ? "fitted" : "assumed"});
  }
  table.print(out);
  print_wrapped(out, "picks",
                "shapes on which the configuration predicted fastest is within " +
                    format_percent(kGoodPick) + " of the fastest measured");
}

std::string peer_text(const ShapeReport& s) {
  if (s.peers.empty()) return "-";
  return format_number(s.peers.front().seconds / s.best->reading->seconds) + "x";
}

std::string pick_text(const ShapeReport& s) {
  if (s.picked == nullptr) return "-";
  return s.picked == s.best_by_rule ? "same" : signed_percent(s.picked_costs());
}

void print_bad_pick(std::ostream& out, const ShapeReport& s) {
  if (s.picked == nullptr || s.picked_costs() <= kGoodPick) return;
  print_wrapped(out, "pick",
                s.shape + ": " + s.picked->config + ", predicted " +
                    format_time(s.picked->point->predicted_s) + ", takes " +
                    format_time(s.picked->reading->seconds));
}

void print_shapes(std::ostream& out, const RunReport& report) {
  std::map<std::string, std::vector<const ShapeReport*>> by_kernel;
  for (const ShapeReport& s : report.shapes) by_kernel[s.kernel].push_back(&s);
  for (const auto& [kernel, shapes] : by_kernel) {
    out << '\n' << kernel << ", cold L2\n";
    TextTable table({{"shape", Align::left},
                     {"fastest", Align::left},
                     {"measured"},
                     {"predicted"},
                     {"of floor"},
                     {"peer"},
                     {"pick"}});
    for (const ShapeReport* s : shapes) {
      const double measured = s->best->reading->seconds;
      table.add_row({s->shape, s->best->config, format_time(measured),
                     s->best->point != nullptr ? format_time(s->best->point->predicted_s) : "-",
                     s->floor_s > 0 ? format_percent(s->floor_s / measured) : "-", peer_text(*s),
                     pick_text(*s)});
    }
    table.print(out);
    for (const ShapeReport* s : shapes) print_bad_pick(out, *s);
  }
  std::map<std::string, std::string> peers;
  for (const ShapeReport& s : report.shapes) {
    if (!s.peers.empty()) peers[s.peers.front().name] = s.kernel;
  }
  for (const auto& [peer, kernel] : peers) {
    print_wrapped(out, "peer",
                  peer + " beside " + kernel + ": how many times as long as ours it takes");
  }
}

void print_worst(std::ostream& out, const RunAnswer& a) {
  const std::vector<const PointReport*> worst = worst_points(*a.report, a.worst);
  if (worst.empty()) return;
  out << "\nworst predictions\n";
  for (const PointReport* p : worst) {
    out << p->reading->kernel << ' ' << p->config << ' ' << plain_text(p->reading->shape)
        << (p->reading->cache == SampleCache::cold ? " cold" : " warm") << '\n';
    print_wrapped(out, "",
                  "measured " + format_time(p->reading->seconds) + ", predicted " +
                      format_time(p->point->predicted_s) + " (" +
                      signed_percent(p->point->predicted_s / p->reading->seconds - 1) + "), " +
                      std::string(to_string(p->point->regime)));
  }
}

}  // namespace

void print_run(std::ostream& out, const RunAnswer& a) {
  print_head(out, a);
  if (a.report != nullptr) {
    print_functions(out, *a.report);
    print_families(out, *a.report);
    print_shapes(out, *a.report);
    print_worst(out, a);
    out << '\n';
    const RunReport& r = *a.report;
    const std::string checked =
        a.checked_results > 0
            ? count_text(a.checked_results) + " results compared with float64: "
            : count_text(r.checked) + " of them compared with float64 on their own shape: ";
    print_wrapped(out, "results",
                  count_text(r.points.size()) + " readings, " + checked +
                      count_text(r.wrong_results + a.wrong_results) + " wrong");
    for (const std::string& line : a.report->times.left_out) {
      print_wrapped(out, "not predicted", line);
    }
  }
  if (!a.run.note.empty()) print_wrapped(out, "note", a.run.note);
  for (const std::string& reason : a.outside()) print_wrapped(out, "outside", reason);
}

}  // namespace smtwin
