// SPDX-License-Identifier: Apache-2.0
#include "validate/measurements/audit.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>
#include <unordered_map>

#include "model/quantity_text.hpp"
#include "validate/measurements/audit_work.hpp"

namespace smtwin {
namespace {

constexpr double kDuplicateSpread = 1.10;

// A level is what most rows with little work share.
constexpr std::size_t kFlatRows = 8;     // fewer say nothing
constexpr double kFlatWorkRatio = 16;    // between rows at the level
constexpr double kFlatIdleShare = 0.25;  // of the time that the work needs at most
constexpr double kFlatBand = 1.35;       // around the level
constexpr double kFlatMajority = 0.8;    // of the rows with little work
constexpr double kFlatOverBest = 4;      // times the lowest start of that table and type
// Start of a kernel of that type when a set of rows holds no other: launch, quantization, GEMM.
constexpr double kUsualStart_s = 5e-6;
constexpr double kStartQuantile = 0.02;

std::string time_text(double seconds) { return quantity_text(seconds, "s"); }

double quantile(std::vector<double> values, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

// Rows with their GPU and work, prepared once.
struct Judged {
  const MeasurementRow* row = nullptr;
  const TimingGpu* gpu = nullptr;
  RowWork work;
};

std::vector<Judged> prepare(std::span<const MeasurementRow> rows,
                            const std::function<const TimingGpu*(std::string_view)>& gpu_of) {
  std::unordered_map<std::string_view, const TimingGpu*> known;
  std::vector<Judged> out;
  out.reserve(rows.size());
  for (const MeasurementRow& row : rows) {
    const auto [device, is_new] = known.try_emplace(row.device, nullptr);
    if (is_new) device->second = gpu_of(row.device);
    out.push_back({&row, device->second, row_work(row)});
  }
  return out;
}

void check_bounds(const Judged& j, std::vector<AuditFinding>& findings) {
  const double measured_s = j.row->latency_s;
  const double dram_s = dram_bound_s(j.work, *j.gpu);
  if (measured_s < dram_s) {
    const std::string held =
        j.work.copies > 1 ? " in each of " + count_text(j.work.copies) + " rotated copies" : "";
    findings.push_back({j.row, AuditKind::faster_than_dram,
                        time_text(measured_s) + ", but " + quantity_text(j.work.bytes, "B") + held +
                            " less what the L2 holds take " + time_text(dram_s) + " at " +
                            quantity_text(j.gpu->dram_bytes_per_s, "B/s")});
  }
  const double peak = peak_flops_per_s(*j.row, *j.gpu);
  if (peak > 0 && measured_s * peak < j.work.flops) {
    findings.push_back({j.row, AuditKind::faster_than_tensor,
                        time_text(measured_s) + ", but " + quantity_text(j.work.flops, "flop") +
                            " take " + time_text(j.work.flops / peak) + " at " +
                            quantity_text(peak, "flop/s")});
  }
}

// GPU, table, type, GPUs of a collective.
using StartKey = std::tuple<const TimingGpu*, MeasurementTable, std::string_view, double>;
// With file, kernel source and type of the KV cache.
using GroupKey = std::tuple<StartKey, std::uint32_t, std::string_view, std::string_view>;

// One file, kernel source and types.
struct Group {
  std::vector<const Judged*> rows;
  double start_s = 0;  // of its fastest rows
};

GroupKey group_of(const Judged& j) {
  return {{j.gpu, j.row->table, j.row->dtype, j.row->num_gpus},
          j.row->file,
          j.row->kernel_source,
          j.row->kv_dtype};
}

void check_level(const Group& group, double best_start_s, std::vector<AuditFinding>& findings) {
  std::vector<double> times;
  std::vector<double> works;
  for (const Judged* j : group.rows) {
    if (roofline_s(*j->row, j->work, *j->gpu) < kFlatIdleShare * group.start_s) {
      times.push_back(j->row->latency_s);
    }
  }
  if (times.size() < kFlatRows) return;
  const double level_s = quantile(times, 0.5);
  if (level_s < kFlatOverBest * best_start_s) return;
  const auto at_level = [&](double s) {
    return s * kFlatBand > level_s && s < level_s * kFlatBand;
  };
  const auto inside = static_cast<double>(std::count_if(times.begin(), times.end(), at_level));
  if (inside < kFlatMajority * static_cast<double>(times.size())) return;
  std::vector<const Judged*> flat;
  for (const Judged* j : group.rows) {
    const double work_s = roofline_s(*j->row, j->work, *j->gpu);
    if (work_s >= kFlatIdleShare * level_s || !at_level(j->row->latency_s)) continue;
    flat.push_back(j);
    works.push_back(work_s);
  }
  const auto [least, most] = std::minmax_element(works.begin(), works.end());
  if (works.empty() || *most < kFlatWorkRatio * *least) return;
  for (const Judged* j : flat) {
    const double work_s = roofline_s(*j->row, j->work, *j->gpu);
    findings.push_back({j->row, AuditKind::flat,
                        time_text(j->row->latency_s) + " for " + time_text(work_s) +
                            " of work, at the level of " + time_text(level_s) + " of " +
                            std::to_string(flat.size()) + " rows; such kernels start at " +
                            time_text(best_start_s)});
  }
}

void check_levels(const std::vector<Judged>& judged, std::vector<AuditFinding>& findings) {
  std::map<GroupKey, Group> groups;
  for (const Judged& j : judged) {
    if (j.gpu != nullptr && roofline_s(*j.row, j.work, *j.gpu) > 0) {
      groups[group_of(j)].rows.push_back(&j);
    }
  }
  std::map<StartKey, double> best_start_s;
  for (auto& [key, group] : groups) {
    std::vector<double> times;
    for (const Judged* j : group.rows) times.push_back(j->row->latency_s);
    group.start_s = quantile(std::move(times), kStartQuantile);
    const auto found = best_start_s.try_emplace(std::get<StartKey>(key), kUsualStart_s).first;
    found->second = std::min(found->second, group.start_s);
  }
  for (const auto& [key, group] : groups) {
    check_level(group, best_start_s.at(std::get<StartKey>(key)), findings);
  }
}

// Every column but the time; texts of one set share their storage, so equal texts compare fast.
auto columns(const MeasurementRow& r) {
  return std::tie(r.file, r.table, r.m, r.n, r.k, r.num_tokens, r.hidden_size, r.inter_size, r.topk,
                  r.num_experts, r.moe_tp_size, r.moe_ep_size, r.batch_size, r.num_heads,
                  r.num_key_value_heads, r.head_dim, r.window_size, r.step, r.tp_size,
                  r.compress_ratio, r.num_gpus, r.message_size, r.framework, r.version, r.device,
                  r.op_name, r.kernel_source, r.dtype, r.kv_dtype, r.gemm_type, r.model,
                  r.distribution, r.backend);
}

struct ColumnsHash {
  std::size_t operator()(const MeasurementRow* row) const {
    std::size_t seed = 0;
    const auto add = [&](const auto& value) {
      using Value = std::decay_t<decltype(value)>;
      seed = seed * 1099511628211u + (seed >> 29);
      if constexpr (std::is_same_v<Value, MeasurementTable>) {
        seed ^= static_cast<std::size_t>(value);
      } else {
        seed ^= std::hash<Value>{}(value);
      }
    };
    std::apply([&](const auto&... value) { (add(value), ...); }, columns(*row));
    return seed;
  }
};
struct SameColumns {
  bool operator()(const MeasurementRow* a, const MeasurementRow* b) const {
    return columns(*a) == columns(*b);
  }
};

void check_duplicates(std::span<const MeasurementRow> rows, std::vector<AuditFinding>& findings) {
  std::unordered_map<const MeasurementRow*, const MeasurementRow*, ColumnsHash, SameColumns>
      fastest;
  fastest.reserve(rows.size());
  for (const MeasurementRow& row : rows) {
    const auto [found, is_new] = fastest.try_emplace(&row, &row);
    if (!is_new && row.latency_s < found->second->latency_s) found->second = &row;
  }
  if (fastest.size() == rows.size()) return;
  for (const MeasurementRow& row : rows) {
    const MeasurementRow& best = *fastest.at(&row);
    if (row.latency_s <= kDuplicateSpread * best.latency_s) continue;
    findings.push_back({&row, AuditKind::duplicates,
                        time_text(row.latency_s) + ", but " + time_text(best.latency_s) +
                            " in line " + std::to_string(best.line) + " with equal columns"});
  }
}

}  // namespace

std::string_view to_string(AuditKind kind) {
  switch (kind) {
    case AuditKind::faster_than_dram:
      return "faster than DRAM";
    case AuditKind::faster_than_tensor:
      return "faster than the tensor cores";
    case AuditKind::flat:
      return "flat";
    case AuditKind::duplicates:
      return "duplicates disagree";
  }
  return "?";
}

std::vector<AuditFinding> audit(
    std::span<const MeasurementRow> rows,
    const std::function<const TimingGpu*(std::string_view device)>& gpu_of) {
  std::vector<AuditFinding> findings;
  const std::vector<Judged> judged = prepare(rows, gpu_of);
  for (const Judged& j : judged) {
    if (j.gpu != nullptr) check_bounds(j, findings);
  }
  check_levels(judged, findings);
  check_duplicates(rows, findings);
  std::stable_sort(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
    return std::tie(a.row, a.kind) < std::tie(b.row, b.kind);
  });
  return findings;
}

}  // namespace smtwin
