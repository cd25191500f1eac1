// SPDX-License-Identifier: Apache-2.0
// Scores tables of compiled kernels. A column whose name is a parameter of the kernel, in any case
// (BLOCK_M for block_m), is that parameter's value; the rest of the row is what to compare with.
#include "validate/compiled_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "kernels/text.hpp"
#include "validate/csv.hpp"
#include "validate/occupancy_table.hpp"

namespace smtwin {
namespace {

constexpr ComputeCapability kCutlassArchitecture{12, 0};
constexpr const char* kCutlassKernel = "cutlass_nvfp4";

// Names under which a table may list one of our kernels, and what that name implies.
struct KnownName {
  const char* table_name;
  const char* kernel;
  std::vector<std::pair<const char*, const char*>> implied;  // parameter, value as text
};
const std::vector<KnownName>& known_names() {
  static const std::vector<KnownName> names = {
      {"dense_gemm_kernel", "triton_gemm", {{"dtype", "bf16"}}},
      {"moe_grouped_gemm_kernel", "triton_moe_gemm", {{"dtype", "fp8"}, {"scales", "block"}}},
      {"triton_gemm", "triton_gemm", {}},
      {"triton_moe_gemm", "triton_moe_gemm", {}},
      {"sparse_decode_fieldnotes", "sparse_decode_fieldnotes", {{"nsplit", "1"}}},
  };
  return names;
}

std::optional<std::size_t> column_of(const CsvReader& table, const std::string& name) {
  for (std::size_t at = 0; at < table.header().size(); ++at) {
    if (lower_case(table.header()[at]) == lower_case(name)) return at;
  }
  return std::nullopt;
}

// How a table's columns set one kernel's parameters.
struct KernelColumns {
  const KernelDescriptor* kernel = nullptr;
  Parameters implied;
  struct Input {
    ParameterSpec spec;
    std::size_t column = 0;
    bool required =
        false;  // a tuner's parameter has no default that could stand for a compiled one
  };
  std::vector<Input> inputs;
};

KernelColumns bind_columns(const CsvReader& table, const KnownName& name,
                           const std::vector<std::string>& outputs) {
  KernelColumns columns;
  columns.kernel = &find_kernel(name.kernel);
  std::vector<std::string> missing;
  for (const auto& spec : columns.kernel->parameters()) {
    for (const auto& [parameter, value] : name.implied) {
      if (spec.name == parameter) columns.implied[spec.name] = parse_parameter(spec, value);
    }
    if (std::find(outputs.begin(), outputs.end(), spec.name) != outputs.end()) continue;
    const bool required = spec.role == ParameterRole::config && spec.candidates.size() > 1;
    if (const auto column = column_of(table, spec.name)) {
      columns.inputs.push_back({spec, *column, required});
    } else if (required) {
      missing.push_back(spec.name);
    }
  }
  if (!missing.empty()) table.require_columns(missing);  // throws and names them
  return columns;
}

Parameters row_parameters(const CsvReader& table, const std::vector<std::string>& row,
                          const KernelColumns& columns) {
  Parameters parameters = columns.implied;
  for (const auto& input : columns.inputs) {
    const std::string& cell = row[input.column];
    if (cell.empty() && !input.required) continue;
    if (input.spec.choices.empty()) {
      parameters[input.spec.name] = parse_int_cell(
          table, row, input.column, {.minimum = input.spec.minimum, .maximum = input.spec.maximum});
      continue;
    }
    try {
      parameters[input.spec.name] = parse_parameter(input.spec, cell);
    } catch (const UsageError& error) {
      throw DataError(table.where() + ": " + error.what());
    }
  }
  return parameters;
}

std::int64_t fact_value(const KernelInstance& instance, const std::string& name) {
  for (const auto& fact : instance.facts) {
    if (fact.name == name) return std::llround(fact.value);
  }
  return 0;
}

std::optional<double> quantile(std::vector<double>& sorted, double share) {
  if (sorted.empty()) return std::nullopt;
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::llround(share * last))];
}

class Scorer {
 public:
  Scorer(std::istream& in, const std::string& file_name, GpuOfArchitecture gpu_of)
      : table_(in, file_name), gpu_of_(std::move(gpu_of)) {
    if (!gpu_of_) {
      gpu_of_ = [](ComputeCapability cc) { return find_gpu(architecture_name(cc)); };
    }
  }

  CompiledScore score() {
    if (column_of(table_, "kernel")) {
      score_named_kernels();
    } else if (column_of(table_, "kernel_shared_bytes")) {
      score_cutlass();
    } else {
      table_.require_columns({"kernel", "cc", "shared"});
    }
    std::sort(register_errors_.begin(), register_errors_.end());
    score_.register_rows = static_cast<std::int64_t>(register_errors_.size());
    score_.register_error_median = quantile(register_errors_, 0.5);
    score_.register_error_p90 = quantile(register_errors_, 0.9);
    return std::move(score_);
  }

 private:
  void score_named_kernels() {
    table_.require_columns({"kernel", "cc", "shared"});
    const auto kernel = table_.require_column("kernel");
    const auto cc = table_.require_column("cc");
    const auto shared = table_.require_column("shared");
    const auto regs = table_.column("regs");
    const auto stack = table_.column("stack");
    while (table_.next(row_)) {
      ++score_.rows;
      const KernelColumns* columns = columns_for(row_[kernel]);
      if (columns == nullptr) {
        skip(row_[kernel]);
        continue;
      }
      // Corpora write -1 or nothing where the compiler refused a configuration.
      const auto bytes = parse_optional_int_cell(table_, row_, shared);
      if (!bytes || *bytes < 0) {
        skip(row_[kernel] + " (no shared bytes in the row)");
        continue;
      }
      const KernelInstance instance = instantiate(*columns, architecture(cc));
      compare(row_[kernel], instance,
              {{"shared_bytes", *bytes, instance.resources.dynamic_shared_bytes}});
      if (regs) compare_registers(instance, *regs, stack);
    }
  }

  void score_cutlass() {
    const std::vector<std::string> outputs = {"stages"};
    const auto columns = bind_columns(table_, {kCutlassKernel, kCutlassKernel, {}}, outputs);
    const auto shared = table_.require_column("kernel_shared_bytes");
    const auto cc = table_.column("cc");
    const auto threads = table_.column("threads");
    while (table_.next(row_)) {
      ++score_.rows;
      const auto bytes = parse_optional_int_cell(table_, row_, shared);
      if (!bytes || *bytes < 0) {
        skip(std::string(kCutlassKernel) + " (no shared bytes in the row)");
        continue;
      }
      const KernelInstance instance =
          instantiate(columns, cc ? architecture(*cc) : kCutlassArchitecture);
      std::vector<CompiledQuantity> quantities = {
          {"shared_bytes", *bytes, instance.resources.dynamic_shared_bytes}};
      for (const char* name : {"mainloop_shared_bytes", "epilogue_shared_bytes", "stages"}) {
        add_quantity(quantities, name, table_.column(name), fact_value(instance, name));
      }
      add_quantity(quantities, "threads", threads, instance.resources.threads_per_cta);
      compare(kCutlassKernel, instance, std::move(quantities));
    }
  }

  const KernelColumns* columns_for(const std::string& table_name) {
    for (const auto& name : known_names()) {
      if (lower_case(table_name) != name.table_name) continue;
      const auto found = bound_.find(name.table_name);
      if (found != bound_.end()) return &found->second;
      return &bound_.emplace(name.table_name, bind_columns(table_, name, {})).first->second;
    }
    return nullptr;
  }

  ComputeCapability architecture(std::size_t column) const {
    const auto cc = parse_compute_capability(row_[column]);
    if (!cc) {
      throw DataError(table_.where() + ": cc: expected a compute capability, found \"" +
                      row_[column] + "\"; write 90, 9.0 or sm_90");
    }
    return *cc;
  }

  KernelInstance instantiate(const KernelColumns& columns, ComputeCapability cc) {
    const Parameters parameters = row_parameters(table_, row_, columns);
    try {
      auto gpu = gpus_.find(cc);
      if (gpu == gpus_.end()) gpu = gpus_.emplace(cc, gpu_of_(cc)).first;
      return columns.kernel->instantiate(complete_parameters(*columns.kernel, parameters),
                                         gpu->second);
    } catch (const Error& error) {
      throw DataError(table_.where() + ": " + error.what());
    }
  }

  void add_quantity(std::vector<CompiledQuantity>& quantities, const std::string& name,
                    std::optional<std::size_t> column, std::int64_t computed) {
    if (!column) return;
    const auto expected = parse_optional_int_cell(table_, row_, *column);
    if (expected) quantities.push_back({name, *expected, computed});
  }

  void skip(const std::string& reason) {
    ++score_.skipped;
    ++score_.skipped_kernels[reason];
  }

  void compare(const std::string& kernel, const KernelInstance& instance,
               std::vector<CompiledQuantity> quantities) {
    ++score_.compared_kernels[instance.kernel];
    if (std::all_of(quantities.begin(), quantities.end(),
                    [](const CompiledQuantity& quantity) { return quantity.agrees(); })) {
      return;
    }
    ++score_.mismatches;
    if (score_.first_mismatches.size() >= CompiledScore::kMismatchesKept) return;
    CompiledMismatch mismatch;
    mismatch.line = table_.line();
    mismatch.kernel = kernel;
    const auto cc = table_.column("cc");
    mismatch.architecture = architecture_name(cc ? architecture(*cc) : kCutlassArchitecture);
    mismatch.config = instance.config;
    mismatch.quantities = std::move(quantities);
    mismatch.shared_formula = instance.shared_formula;
    for (std::size_t at = 0; at < row_.size(); ++at) {
      mismatch.cells[table_.header()[at]] = row_[at];
    }
    score_.first_mismatches.push_back(std::move(mismatch));
  }

  void compare_registers(const KernelInstance& instance, std::size_t regs,
                         std::optional<std::size_t> stack) {
    const auto compiled = parse_optional_int_cell(table_, row_, regs);
    const auto spilled = stack ? parse_optional_int_cell(table_, row_, *stack) : std::nullopt;
    if (!compiled || *compiled <= 0 || spilled.value_or(0) > 0) return;
    register_errors_.push_back(
        std::abs(instance.resources.registers_per_thread / static_cast<double>(*compiled) - 1.0));
  }

  CsvReader table_;
  GpuOfArchitecture gpu_of_;
  std::vector<std::string> row_;
  std::map<std::string, KernelColumns> bound_;
  std::map<ComputeCapability, GpuSpec> gpus_;
  std::vector<double> register_errors_;
  CompiledScore score_;
};

}  // namespace

CompiledScore score_compiled_table(std::istream& in, const std::string& file_name,
                                   const GpuOfArchitecture& gpu_of_architecture) {
  return Scorer(in, file_name, gpu_of_architecture).score();
}

}  // namespace smtwin
