// SPDX-License-Identifier: Apache-2.0
#include "cli/occupancy_rows.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <sstream>

#include "arch/error.hpp"
#include "model/residency.hpp"
#include "validate/csv.hpp"
#include "validate/occupancy_table.hpp"

namespace smtwin {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;  // beyond any chip, safe to add up

// The GPU of a row: its gpu column, else --gpu, else its cc column. Each is loaded once.
class RowGpus {
 public:
  RowGpus(const CsvReader& table, const std::optional<GpuChoice>& choice,
          const std::vector<std::string>& settings)
      : table_(table), choice_(choice), settings_(settings) {
    gpu_ = table.column("gpu");
    cc_ = table.column("cc");
    if (!choice && !gpu_ && !cc_) {
      throw UsageError("--gpu is missing, and " + table.file_name() +
                       " has neither a gpu nor a cc column; give --gpu NAME or add one of them");
    }
  }

  const GpuSpec& of(const std::vector<std::string>& row) {
    if (gpu_ && !row[*gpu_].empty()) return named(row[*gpu_]);
    if (!cc_) {
      if (choice_) return choice_->gpu;
      throw DataError(
          table_.where() +
          ": gpu: empty, and there is no --gpu; name a GPU in the row or give --gpu NAME");
    }
    const auto cc = parse_compute_capability(row[*cc_]);
    if (!cc) {
      throw DataError(table_.where() + ": cc: expected a compute capability, found \"" + row[*cc_] +
                      "\"; write 90, 9.0 or sm_90");
    }
    if (!choice_) return named(architecture_name(*cc));
    if (*cc != choice_->gpu.compute_capability) {
      throw DataError(table_.where() + ": cc: " + row[*cc_] + ", but --gpu " + choice_->gpu.name +
                      " is " + architecture_name(choice_->gpu.compute_capability) +
                      "; leave --gpu out to answer each row for its own chip");
    }
    return choice_->gpu;
  }

 private:
  const GpuSpec& named(const std::string& name) {
    const auto found = loaded_.find(name);
    if (found != loaded_.end()) return found->second;
    try {
      return loaded_.emplace(name, choose_gpu(name, settings_).gpu).first->second;
    } catch (const UsageError& e) {  // the row is at fault: say which
      throw DataError(table_.where() + ": " + e.what());
    }
  }

  const CsvReader& table_;
  const std::optional<GpuChoice>& choice_;
  const std::vector<std::string>& settings_;
  std::optional<std::size_t> gpu_, cc_;
  std::map<std::string, GpuSpec> loaded_;
};

struct RowAnswer {
  std::int32_t ctas_per_sm = 0;
  std::string limiters;
  double theoretical_occupancy = 0;
  std::string verdict;
};

RowAnswer answer(const GpuSpec& gpu, const KernelResources& kernel) {
  const Residency r = residency(gpu, kernel);
  RowAnswer result{.ctas_per_sm = r.ctas_per_sm,
                   .limiters = {},
                   .theoretical_occupancy = r.theoretical_occupancy,
                   .verdict = std::string(to_string(r.verdict))};
  for (const Limiter l : r.limiters.members()) {
    if (!result.limiters.empty()) result.limiters += '+';
    result.limiters += to_string(l);
  }
  return result;
}

using TakeHeader = std::function<void(const std::vector<std::string>&)>;
using TakeRow = std::function<void(const std::vector<std::string>&, const RowAnswer&)>;

void answer_rows(std::istream& rows, const std::string& file_name,
                 const std::optional<GpuChoice>& choice,
                 const std::vector<std::string>& gpu_settings, const TakeHeader& take_header,
                 const TakeRow& take_row) {
  CsvReader table(rows, file_name);
  table.require_columns({"threads", "regs", "dyn_smem"});
  const std::size_t threads = table.require_column("threads");
  const std::size_t regs = table.require_column("regs");
  const std::size_t dyn_smem = table.require_column("dyn_smem");
  RowGpus gpus(table, choice, gpu_settings);
  take_header(table.header());
  std::vector<std::string> row;
  const auto optional_count = [&](const char* name, std::int64_t minimum, std::int64_t maximum,
                                  std::int64_t otherwise) {
    const auto column = table.column(name);
    if (!column) return otherwise;
    return parse_optional_int_cell(table, row, *column, {minimum, maximum}).value_or(otherwise);
  };
  while (table.next(row)) {
    const GpuSpec& gpu = gpus.of(row);
    const KernelResources kernel{
        .threads_per_cta = static_cast<std::int32_t>(
            parse_int_cell(table, row, threads, {1, gpu.sm.max_threads_per_cta})),
        .registers_per_thread = static_cast<std::int32_t>(
            parse_int_cell(table, row, regs, {0, gpu.sm.registers_per_sm})),
        .static_shared_bytes = optional_count("static_smem", 0, kMostBytes, 0),
        .dynamic_shared_bytes = parse_int_cell(table, row, dyn_smem, {0, kMostBytes}),
        .barriers_per_cta = static_cast<std::int32_t>(optional_count("barriers", 0, 1024, 1)),
        .cluster_ctas = static_cast<std::int32_t>(optional_count("cluster", 1, 1024, 1)),
        .carveout_percent = static_cast<std::int32_t>(
            optional_count("carveout", kCarveoutDefault, 100, kCarveoutDefault))};
    take_row(row, answer(gpu, kernel));
  }
}

}  // namespace

std::string occupancy_rows_csv(std::istream& rows, const std::string& file_name,
                               const std::optional<GpuChoice>& choice,
                               const std::vector<std::string>& gpu_settings) {
  std::ostringstream out;
  answer_rows(
      rows, file_name, choice, gpu_settings,
      [&](std::vector<std::string> header) {
        for (const char* name : {"ctas_per_sm", "limiters", "theoretical_occupancy", "verdict"}) {
          header.emplace_back(name);
        }
        write_csv_row(out, header);
      },
      [&](std::vector<std::string> cells, const RowAnswer& a) {
        cells.push_back(std::to_string(a.ctas_per_sm));
        cells.push_back(a.limiters);
        cells.push_back(csv_number(a.theoretical_occupancy));
        cells.push_back(a.verdict);
        write_csv_row(out, cells);
      });
  return out.str();
}

std::string occupancy_rows_json(std::istream& rows, const std::string& file_name,
                                const std::optional<GpuChoice>& choice,
                                const std::vector<std::string>& gpu_settings) {
  using Json = nlohmann::ordered_json;
  Json result = Json::array();
  std::vector<std::string> names;
  answer_rows(
      rows, file_name, choice, gpu_settings,
      [&](const std::vector<std::string>& header) { names = header; },
      [&](const std::vector<std::string>& cells, const RowAnswer& a) {
        Json entry;
        for (std::size_t i = 0; i < names.size(); ++i) entry[names[i]] = cells[i];
        entry["ctas_per_sm"] = a.ctas_per_sm;
        entry["limiters"] = a.limiters;
        entry["theoretical_occupancy"] = a.theoretical_occupancy;
        entry["verdict"] = a.verdict;
        result.push_back(std::move(entry));
      });
  return result.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace smtwin
