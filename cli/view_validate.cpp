// SPDX-License-Identifier: Apache-2.0
// Validation scores for people: how many rows, how many differ, the first of them in full.
#include <ostream>

#include "cli/kernel_choice.hpp"
#include "cli/report.hpp"
#include "cli/validate_views.hpp"

namespace smtwin {
namespace {

std::string verdict(bool agrees, std::int64_t compared) {
  if (compared == 0) return "nothing was compared";
  return agrees ? "every compared row agrees" : "predictions differ";
}

std::string rows_text(std::int64_t rows, std::int64_t skipped) {
  return format_count(rows) + ", of them " + format_count(rows - skipped) + " compared, " +
         format_count(skipped) + " skipped";
}

}  // namespace

void print_occupancy_score(std::ostream& out, const OccupancyScore& s,
                           const std::string& gpu_name) {
  print_wrapped(out, "residency", gpu_name + ": " + verdict(s.agrees(), s.compared()));
  print_wrapped(out, "rows", rows_text(s.rows, s.skipped));
  if (!s.skipped_reason.empty()) print_wrapped(out, "skipped", s.skipped_reason);
  print_wrapped(out, "mismatches",
                format_count(s.mismatches) + " against api_blocks, " +
                    format_count(s.measured_mismatches) + " against " +
                    format_count(s.measured_rows) + " measured_blocks");
  if (s.first_differences.empty()) return;
  TextTable table({{"line"},
                   {"threads"},
                   {"regs"},
                   {"static B"},
                   {"dynamic B"},
                   {"carveout"},
                   {"api"},
                   {"measured"},
                   {"predicted"},
                   {"limited by", Align::left}});
  for (const OccupancyDifference& d : s.first_differences) {
    const KernelResources& k = d.row.kernel;
    table.add_row({format_count(d.row.line), format_count(k.threads_per_cta),
                   format_count(k.registers_per_thread), format_count(k.static_shared_bytes),
                   format_count(k.dynamic_shared_bytes), format_count(k.carveout_percent),
                   format_count(d.row.api_ctas),
                   d.row.measured_ctas ? format_count(*d.row.measured_ctas) : "-",
                   format_count(d.predicted.ctas_per_sm), label(d.predicted.limiters)});
  }
  table.print(out);
}

void print_compiled_score(std::ostream& out, const CompiledScore& s) {
  print_wrapped(out, "compiled", verdict(s.agrees(), s.compared()));
  print_wrapped(out, "rows", rows_text(s.rows, s.skipped));
  for (const auto& [kernel, rows] : s.compared_kernels) {
    print_wrapped(out, "compared", kernel + ": " + format_count(rows));
  }
  for (const auto& [kernel, rows] : s.skipped_kernels) {
    print_wrapped(out, "skipped", kernel + ": " + format_count(rows));
  }
  print_wrapped(out, "mismatches", format_count(s.mismatches) + " rows");
  if (s.register_error_median && s.register_error_p90) {
    print_wrapped(out, "registers",
                  "estimated, not counted as mismatches: error median " +
                      format_percent(*s.register_error_median) + ", 90th percentile " +
                      format_percent(*s.register_error_p90) + " over " +
                      format_count(s.register_rows) + " rows that do not spill");
  }
  for (const CompiledMismatch& m : s.first_mismatches) {
    std::vector<std::string> quantities;
    for (const CompiledQuantity& q : m.quantities) {
      quantities.push_back(q.name + ' ' + format_count(q.expected) +
                           (q.agrees() ? " agrees" : ", computed " + format_count(q.computed)));
    }
    std::vector<std::string> cells;
    for (const auto& [column, value] : m.cells) cells.push_back(column + '=' + value);
    print_wrapped(out, "line " + std::to_string(m.line),
                  m.kernel + ' ' + m.config + " on " + m.architecture + ": " +
                      join(quantities, "; ") + " (" + m.shared_formula +
                      "); row: " + join(cells, " "));
  }
}

}  // namespace smtwin
