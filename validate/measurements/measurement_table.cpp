// SPDX-License-Identifier: Apache-2.0
// The columns of the AIConfigurator performance database (commit 095f58a51c4c), as its collectors
// write them. Columns that no equation uses (isl, beam_width, architecture) are not named here.
#include "validate/measurements/measurement_table.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "arch/error.hpp"
#include "validate/csv_text.hpp"

namespace smtwin {
namespace {

using Row = MeasurementRow;

constexpr std::array<std::string_view, kMeasurementTableCount> kTableNames = {
    "gemm_perf",
    "moe_perf",
    "generation_attention_perf",
    "generation_mla_perf",
    "mla_generation_module_perf",
    "dsv4_csa_generation_module_perf",
    "dsv4_hca_generation_module_perf",
    "mla_bmm_perf",
    "custom_allreduce_perf",
    "nccl_perf",
    "computescale_perf"};

constexpr std::string_view kMlaKernel = "mla_generation";
constexpr std::string_view kMlaModule = "mla_generation_module";
constexpr std::string_view kDsv4Csa = "dsv4_csa_generation_module";
constexpr std::string_view kDsv4Hca = "dsv4_hca_generation_module";
constexpr double kCsaRatio = 4;
constexpr double kHcaRatio = 128;

TableColumn text(std::string_view name, std::string_view Row::*to) {
  return {.name = name, .text = to};
}
TableColumn optional_text(std::string_view name, std::string_view Row::*to) {
  return {.name = name, .text = to, .needed = false};
}
TableColumn count(std::string_view name, double Row::*to, double minimum = 1) {
  return {.name = name, .count = to, .minimum = minimum};
}
TableColumn optional_count(std::string_view name, double Row::*to, double minimum) {
  return {.name = name, .count = to, .needed = false, .minimum = minimum};
}

// What every table has. Only the operation is indispensable, and only where it changes the work.
std::vector<TableColumn> with_common(std::vector<TableColumn> columns) {
  columns.push_back(optional_text("framework", &Row::framework));
  columns.push_back(optional_text("version", &Row::version));
  columns.push_back(optional_text("device", &Row::device));
  columns.push_back(optional_text("kernel_source", &Row::kernel_source));
  const auto names_operation = [](const TableColumn& column) { return column.name == "op_name"; };
  if (std::none_of(columns.begin(), columns.end(), names_operation)) {
    columns.push_back(optional_text("op_name", &Row::op_name));
  }
  return columns;
}

std::vector<TableColumn> latent_attention_columns() {
  return {text("mla_dtype", &Row::dtype),      text("kv_cache_dtype", &Row::kv_dtype),
          count("num_heads", &Row::num_heads), count("batch_size", &Row::batch_size),
          count("step", &Row::step, 0),        optional_count("tp_size", &Row::tp_size, 1)};
}

std::vector<TableColumn> latent_module_columns() {
  std::vector<TableColumn> columns = latent_attention_columns();
  columns.push_back(text("model", &Row::model));
  columns.push_back(text("gemm_type", &Row::gemm_type));
  columns.push_back(optional_count("compress_ratio", &Row::compress_ratio, 0));
  return columns;
}

std::vector<TableColumns> all_tables() {
  std::vector<TableColumns> tables = {
      {MeasurementTable::gemm,
       {"gemm_dtype"},
       {"gemm"},
       {text("gemm_dtype", &Row::dtype), count("m", &Row::m), count("n", &Row::n),
        count("k", &Row::k)}},
      {MeasurementTable::moe,
       {"moe_dtype"},
       {"moe"},
       {text("moe_dtype", &Row::dtype), count("num_tokens", &Row::num_tokens),
        count("hidden_size", &Row::hidden_size), count("inter_size", &Row::inter_size),
        count("topk", &Row::topk), count("num_experts", &Row::num_experts),
        count("moe_tp_size", &Row::moe_tp_size), count("moe_ep_size", &Row::moe_ep_size),
        text("distribution", &Row::distribution)}},
      {MeasurementTable::generation_attention,
       {"num_key_value_heads", "attn_dtype"},
       {"generation_attention"},
       {text("attn_dtype", &Row::dtype), text("kv_cache_dtype", &Row::kv_dtype),
        count("batch_size", &Row::batch_size), count("num_heads", &Row::num_heads),
        count("num_key_value_heads", &Row::num_key_value_heads), count("head_dim", &Row::head_dim),
        optional_count("window_size", &Row::window_size, 0), count("step", &Row::step, 0)}},
      {MeasurementTable::generation_mla, {"mla_dtype"}, {kMlaKernel}, latent_attention_columns()},
      {MeasurementTable::mla_module,
       {"mla_dtype"},
       {kMlaKernel, kMlaModule, kDsv4Csa, kDsv4Hca},
       latent_module_columns()},
      {MeasurementTable::mla_bmm,
       {"bmm_dtype"},
       {"mla_gen_pre", "mla_gen_post"},
       {text("bmm_dtype", &Row::dtype), text("op_name", &Row::op_name),
        count("num_tokens", &Row::num_tokens), count("num_heads", &Row::num_heads)}},
      {MeasurementTable::custom_allreduce,
       {"allreduce_dtype"},
       {},
       {text("allreduce_dtype", &Row::dtype), count("num_gpus", &Row::num_gpus),
        count("message_size", &Row::message_size), optional_text("backend", &Row::backend),
        optional_text("implementation", &Row::backend)}},
      {MeasurementTable::nccl,
       {"nccl_dtype"},
       {},
       {text("nccl_dtype", &Row::dtype), text("op_name", &Row::op_name),
        count("num_gpus", &Row::num_gpus), count("message_size", &Row::message_size)}},
      {MeasurementTable::compute_scale,
       {"quant_dtype"},
       {"compute_scale"},
       {text("quant_dtype", &Row::dtype), count("m", &Row::m), count("k", &Row::k)}}};
  for (TableColumns& table : tables) table.columns = with_common(std::move(table.columns));
  return tables;
}

bool has_key(const CsvReader& file, const TableColumns& table) {
  return std::any_of(table.keys.begin(), table.keys.end(),
                     [&](std::string_view key) { return file.column(key).has_value(); });
}

// Kernels alone and modules share mla_dtype; a module row names its model.
bool is_other_latent_table(const CsvReader& file, const TableColumns& table) {
  const bool module = file.column("model") || file.column("compress_ratio");
  return table.table == (module ? MeasurementTable::generation_mla : MeasurementTable::mla_module);
}

std::string known_tables(const std::vector<TableColumns>& tables) {
  std::string list;
  for (const TableColumns& table : tables) {
    if (table.table == MeasurementTable::mla_module) continue;  // the key of generation_mla
    list += (list.empty() ? "" : ", ") + std::string(table.keys.front()) + " (" +
            std::string(to_string(table.table)) +
            (table.table == MeasurementTable::generation_mla ? " and its modules)" : ")");
  }
  return list;
}

MeasurementTable latent_attention_table(const MeasurementRow& row, bool module) {
  if (row.op_name == kMlaKernel) return MeasurementTable::generation_mla;
  if (row.op_name == kMlaModule) return MeasurementTable::mla_module;
  if (row.op_name == kDsv4Csa) return MeasurementTable::dsv4_csa;
  if (row.op_name == kDsv4Hca) return MeasurementTable::dsv4_hca;
  if (row.compress_ratio == kCsaRatio) return MeasurementTable::dsv4_csa;
  if (row.compress_ratio == kHcaRatio) return MeasurementTable::dsv4_hca;
  return module ? MeasurementTable::mla_module : MeasurementTable::generation_mla;
}

}  // namespace

std::string_view to_string(MeasurementTable table) {
  return kTableNames[static_cast<std::size_t>(table)];
}

const TableColumns& recognize_table(const CsvReader& file) {
  static const std::vector<TableColumns> tables = all_tables();
  const TableColumns* found = nullptr;
  for (const TableColumns& table : tables) {
    if (!has_key(file, table) || is_other_latent_table(file, table)) continue;
    if (found != nullptr) {
      throw DataError(file.file_name() + ": has columns of " +
                      std::string(to_string(found->table)) + " and of " +
                      std::string(to_string(table.table)) + "; expected one table a file");
    }
    found = &table;
  }
  if (found == nullptr) {
    throw DataError(file.file_name() + ": no table of kernel times that is known, found columns " +
                    shown_list(file.header()) + "; expected one of " + known_tables(tables));
  }
  std::vector<std::string> needed;
  for (const TableColumn& column : found->columns) {
    if (column.needed) needed.emplace_back(column.name);
  }
  needed.emplace_back(kLatencyColumn);
  file.require_columns(needed);
  return *found;
}

void set_row_table(MeasurementRow& row, const TableColumns& columns, const CsvReader& file) {
  const auto& allowed = columns.op_names;
  if (!row.op_name.empty() && !allowed.empty() &&
      std::find(allowed.begin(), allowed.end(), row.op_name) == allowed.end()) {
    const std::vector<std::string> names(allowed.begin(), allowed.end());
    refuse_cell(file, *file.column("op_name"), row.op_name,
                (names.size() > 1 ? "one of " : "") + shown_list(names));
  }
  row.table = columns.table;
  const bool module = columns.table == MeasurementTable::mla_module;
  if (!module && columns.table != MeasurementTable::generation_mla) return;

  row.table = latent_attention_table(row, module);
  const double ratio = row.table == MeasurementTable::dsv4_csa   ? kCsaRatio
                       : row.table == MeasurementTable::dsv4_hca ? kHcaRatio
                                                                 : 0;
  if (row.compress_ratio == 0) row.compress_ratio = ratio;  // blank, the operation says it
  if (row.compress_ratio != ratio) {
    throw DataError(file.where() + ": compress_ratio: expected " +
                    (ratio > 0 ? std::to_string(static_cast<int>(ratio)) : "a blank cell") +
                    " for " + std::string(to_string(row.table)) + ", found " +
                    std::to_string(static_cast<long long>(row.compress_ratio)));
  }
}

}  // namespace smtwin
