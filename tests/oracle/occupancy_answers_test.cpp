// SPDX-License-Identifier: Apache-2.0
// The model against committed answers of the toolkit's occupancy calculator (CUDA 13.0), for
// machines without the toolkit. write_occupancy_answers.cpp made the table.
#include <fstream>
#include <map>
#include <set>

#include "arch/gpu_catalog.hpp"
#include "tests/catch.hpp"
#include "tests/oracle/calculator_answer.hpp"
#include "tests/oracle/sample_inputs.hpp"
#include "validate/csv.hpp"

namespace smtwin::oracle {
namespace {

class AnswerTable {
 public:
  explicit AnswerTable(const std::string& path) : file_(path), csv_(file_, path) {}

  bool next() { return csv_.next(row_); }
  const std::string& gpu() const { return row_[csv_.require_column("gpu")]; }
  long line() const { return csv_.line(); }

  KernelResources kernel() const {
    return {.threads_per_cta = count("threads"),
            .registers_per_thread = count("regs"),
            .static_shared_bytes = number("static_smem"),
            .dynamic_shared_bytes = number("dyn_smem"),
            .barriers_per_cta = count("barriers"),
            .virtual_resources_per_cta = count("virtual_resources"),
            .carveout_percent = count("carveout"),
            .shared_opt_in = number("opt_in") != 0};
  }

  CalculatorAnswer answer() const {
    return {.ctas_per_sm = count("ctas"),
            .limiting_factors = static_cast<std::uint8_t>(number("limiting_factors")),
            .limits = {.warps = limit("limit_warps"),
                       .registers = limit("limit_regs"),
                       .shared_memory = limit("limit_smem"),
                       .cta_slots = limit("limit_cta_slots"),
                       .barriers = limit("limit_barriers"),
                       .virtual_resources = limit("limit_virtual_resources")},
            .registers_per_cta = number("regs_per_cta"),
            .shared_bytes_per_cta = number("smem_per_cta")};
  }

 private:
  std::int64_t number(const char* column) const {
    return parse_int_cell(csv_, row_, csv_.require_column(column));
  }
  std::int32_t count(const char* column) const { return static_cast<std::int32_t>(number(column)); }
  std::int32_t limit(const char* column) const {
    const auto found = parse_optional_int_cell(csv_, row_, csv_.require_column(column));
    return found ? static_cast<std::int32_t>(*found) : kUnlimited;
  }

  std::ifstream file_;
  CsvReader csv_;
  std::vector<std::string> row_;
};

}  // namespace

TEST_CASE("residency equals the committed answers of the toolkit's calculator", "[oracle]") {
  AnswerTable table(SMTWIN_TEST_SOURCE_DIR "/tests/oracle/occupancy_answers.csv");
  std::map<std::string, GpuSpec> gpus;
  std::set<int> ctas_seen;
  std::uint8_t limiters_seen = 0;
  int rows = 0;
  for (; table.next(); ++rows) {
    const auto [gpu, first] = gpus.try_emplace(table.gpu());
    if (first) gpu->second = find_gpu(table.gpu());
    const KernelResources kernel = table.kernel();
    const CalculatorAnswer answer = table.answer();
    std::string found = difference(gpu->second.sm, kernel, answer);
    if (found.empty()) found = difference_in_full(gpu->second, kernel, answer);
    INFO("line " << table.line() << ", " << describe(gpu->second, kernel));
    CHECK(found == "");
    ctas_seen.insert(answer.ctas_per_sm);
    limiters_seen |= answer.limiting_factors;
  }
  CHECK(rows >= 2000);
  CHECK(gpus.size() == compute_capabilities().size());
  // The table is worth something only if its answers differ: many counts, every limiter.
  CHECK(ctas_seen.size() >= 15);
  CHECK(int{limiters_seen} == 0x3f);
}

}  // namespace smtwin::oracle
