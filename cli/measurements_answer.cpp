// SPDX-License-Identifier: Apache-2.0
#include "cli/measurements_answer.hpp"

#include "arch/error.hpp"
#include "arch/gpu_catalog.hpp"
#include "arch/quantity.hpp"
#include "cli/report.hpp"

namespace smtwin {

std::unique_ptr<LoadedMeasurements> load_measurements(const std::vector<std::string>& paths,
                                                      const std::string& gpu, std::istream& in) {
  auto loaded = std::make_unique<LoadedMeasurements>();
  for (const std::string& path : paths) {
    if (path == "-") {
      read_measurements(in, "stdin", loaded->set);
    } else {
      read_measurement_path(path, loaded->set);
    }
  }
  if (loaded->set.rows.empty()) {
    throw DataError(loaded->set.files.front() + ": a table without rows; nothing to do");
  }
  const std::string only = gpu.empty() ? "" : find_gpu(gpu).name;
  loaded->families = group_families(loaded->set.rows, only);
  if (loaded->families.empty()) {
    throw UsageError("--gpu " + only + ": no row was measured on it; the first is of \"" +
                     std::string(loaded->set.rows.front().device) + "\"");
  }
  return loaded;
}

std::string shape_text(const MeasurementRow& r) {
  std::string text;
  const auto add = [&](const char* name, double value) {
    if (!text.empty()) text += " ";
    text += std::string(name) + "=" + number_text(value);
  };
  const auto add_text = [&](std::string_view value) {
    if (!value.empty()) text += " " + std::string(value);
  };
  using Table = MeasurementTable;
  switch (r.table) {
    case Table::gemm:
      add("m", r.m);
      add("n", r.n);
      add("k", r.k);
      break;
    case Table::compute_scale:
      add("m", r.m);
      add("k", r.k);
      break;
    case Table::moe:
      add("tokens", r.num_tokens);
      add("hidden", r.hidden_size);
      add("inter", r.inter_size);
      add("topk", r.topk);
      add("experts", r.num_experts);
      add("tp", r.moe_tp_size);
      add("ep", r.moe_ep_size);
      add_text(r.distribution);
      break;
    case Table::generation_attention:
      add("batch", r.batch_size);
      add("heads", r.num_heads);
      add("kv_heads", r.num_key_value_heads);
      add("dim", r.head_dim);
      add("window", r.window_size);
      add("cached", r.step);
      break;
    case Table::generation_mla:
    case Table::mla_module:
    case Table::dsv4_csa:
    case Table::dsv4_hca:
      add("batch", r.batch_size);
      add("heads", r.num_heads);
      add("cached", r.step);
      break;
    case Table::mla_bmm:
      add("tokens", r.num_tokens);
      add("heads", r.num_heads);
      add_text(r.op_name);
      break;
    case Table::custom_allreduce:
    case Table::nccl:
      add("gpus", r.num_gpus);
      add("size", r.message_size);
      add_text(r.op_name);
      break;
  }
  return text;
}

}  // namespace smtwin
