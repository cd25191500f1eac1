// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements/measured_families.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <unordered_map>

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "validate/fit/fitted_ranges.hpp"
#include "validate/measurements/row_problems.hpp"

namespace smtwin {
namespace {

using Table = MeasurementTable;

// Replays on the RTX PRO 6000 host last multiples of 2.048 us (circular concentration 0.7-0.9 of
// rows below 60 us); the H200 host shows no grid.
constexpr double kRtxHostTick_s = 2.048e-6;

bool is_collective(Table t) { return t == Table::nccl || t == Table::custom_allreduce; }
bool is_module(Table t) {
  return t == Table::mla_module || t == Table::dsv4_csa || t == Table::dsv4_hca;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::unique_ptr<TimeProblem> make_problem(Table table, RowSpan rows, const TimingGpu& gpu) {
  switch (table) {
    case Table::gemm:
      return gemm_row_problem(rows, gpu);
    case Table::moe:
      return moe_row_problem(rows, gpu);
    case Table::generation_attention:
      return attention_row_problem(rows, gpu);
    case Table::generation_mla:
      return mla_row_problem(rows, gpu);
    case Table::mla_module:
      return mla_module_row_problem(rows, gpu);
    case Table::dsv4_csa:
    case Table::dsv4_hca:
      return dsv4_row_problem(rows, gpu);
    case Table::mla_bmm:
      return mla_bmm_row_problem(rows, gpu);
    case Table::compute_scale:
      return compute_scale_row_problem(rows, gpu);
    case Table::custom_allreduce:
    case Table::nccl:
      return collective_row_problem(rows, gpu);
  }
  return nullptr;
}

// The columns that make two rows the same shape.
using ShapeColumns = std::array<double, 4>;
using ShapeKey = std::pair<ShapeColumns, std::string_view>;  // with the model, for modules
ShapeColumns shape_columns(const MeasurementRow& r) {
  switch (r.table) {
    case Table::gemm:
      return {r.n, r.k};
    case Table::moe:
      return {r.hidden_size, r.inter_size, r.topk, r.num_experts};
    case Table::generation_attention:
      return {r.num_heads, r.num_key_value_heads, r.head_dim, r.window_size};
    case Table::generation_mla:
    case Table::mla_module:
    case Table::dsv4_csa:
    case Table::dsv4_hca:
      return {r.num_heads, r.batch_size};
    case Table::mla_bmm:
      return {r.num_tokens};
    case Table::compute_scale:
      return {r.m, r.k};
    case Table::custom_allreduce:
    case Table::nccl:
      return {r.num_gpus, r.message_size * (r.dtype == "int8" ? 1.0 : 2.0)};
  }
  return {};
}

void index_shapes(FamilyRows& family) {
  std::map<ShapeKey, std::uint32_t> known;
  for (const MeasurementRow* row : family.rows) {
    const auto next = static_cast<std::uint32_t>(known.size());
    family.measured.shape.push_back(
        known.emplace(ShapeKey{shape_columns(*row), row->model}, next).first->second);
    family.measured.measured_s.push_back(row->latency_s);
  }
  family.shapes = known.size();
  family.measured.shape_count = static_cast<std::uint32_t>(known.size());
  if (known.size() >= 2) return;
  // One shape only: nothing says how another one would do. Rows are left out one by one instead,
  // and family.shapes keeps saying 1.
  for (std::uint32_t i = 0; i < family.rows.size(); ++i) family.measured.shape[i] = i;
  family.measured.shape_count = static_cast<std::uint32_t>(family.rows.size());
}

// A device's name is looked up once; nothing when no GPU answers to it.
class Devices {
 public:
  const TimingGpu* find(std::string_view device) {
    const auto known = gpus_.find(device);
    if (known != gpus_.end()) return known->second ? &*known->second : nullptr;
    std::optional<TimingGpu>& gpu = gpus_[device];
    try {
      gpu = timing_gpu_of_rows(find_gpu(std::string(device)));
    } catch (const Error&) {  // rows of an unknown GPU are reported as not modelled
    }
    return gpu ? &*gpu : nullptr;
  }

 private:
  std::unordered_map<std::string_view, std::optional<TimingGpu>> gpus_;
};

}  // namespace

TimingGpu timing_gpu_of_rows(const GpuSpec& gpu) {
  TimingGpu t = timing_gpu(gpu);
  if (t.name == "rtx-pro-6000-server") t.replay_tick_s = kRtxHostTick_s;
  return t;
}

std::unique_ptr<TimeProblem> problem_on(const FamilyRows& family, const TimingGpu& gpu) {
  return make_problem(family.rows.front()->table, RowSpan(family.rows).first(1), gpu);
}

FamilyIdentity fitted_family(const MeasurementRow& row) {
  if (is_collective(row.table)) return {.table = "collectives"};
  FamilyIdentity id{.table = std::string(to_string(row.table)),
                    .framework = lower(row.framework),
                    .kernel_source = std::string(row.kernel_source),
                    .dtype = std::string(row.dtype)};
  if (row.table != Table::gemm && row.table != Table::moe) id.kv_dtype = std::string(row.kv_dtype);
  if (is_module(row.table)) id.gemm_type = std::string(row.gemm_type);
  return id;
}

std::string scored_family(const std::string& gpu, const MeasurementRow& row) {
  std::string name = gpu;
  std::replace(name.begin(), name.end(), '-', '_');
  name += "/" + std::string(to_string(row.table)) + "/" + std::string(row.kernel_source) + "/";
  name += is_module(row.table) ? row.gemm_type : row.dtype;
  if (!row.kv_dtype.empty()) name += "/" + std::string(row.kv_dtype);
  if (row.table == Table::mla_bmm || row.table == Table::nccl) {
    name += "/" + std::string(row.op_name);
  }
  return name;
}

std::vector<FamilyRows> group_families(const std::vector<MeasurementRow>& rows,
                                       const std::string& only_gpu) {
  Devices devices;
  std::map<std::pair<std::string, std::string>, FamilyRows> families;
  for (const MeasurementRow& row : rows) {
    const TimingGpu* gpu = devices.find(row.device);
    const std::string name = gpu ? gpu->name : std::string(row.device);
    if (!only_gpu.empty() && name != only_gpu) continue;
    FamilyIdentity id = fitted_family(row);
    FamilyRows& family = families[{name, id.framework + "/" + id.key()}];
    if (family.rows.empty()) {
      family.gpu = name;
      family.identity = std::move(id);
      if (gpu) family.timing_gpu = *gpu;
      if (!gpu) family.why = "no GPU file answers to \"" + name + "\"";
    }
    family.rows.push_back(&row);
  }
  std::vector<FamilyRows> out;
  for (auto& [key, family] : families) {
    index_shapes(family);
    family.ranges = fitted_ranges(family.rows);
    if (family.why.empty()) {
      try {
        family.problem = make_problem(family.rows.front()->table, family.rows, family.timing_gpu);
      } catch (const DataError& error) {  // the other families are still worth an answer
        family.why = error.what();
      }
    }
    family.measured.problem = family.problem.get();
    out.push_back(std::move(family));
  }
  return out;
}

}  // namespace smtwin
