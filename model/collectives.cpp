// SPDX-License-Identifier: Apache-2.0
#include "model/collectives.hpp"

#include <array>

#include "arch/error.hpp"
#include "model/quantity_text.hpp"

namespace smtwin {
namespace {

constexpr std::array<int, 3> kMeasuredGpus = {2, 4, 8};  // as the fields of GpuSpec are numbered

struct AlphaBeta {
  double alpha_s = 0;
  double bytes_per_s = 0;
};

std::string path_of(const char* field, int gpus) { return field + std::to_string(gpus); }
std::string alpha_path(int gpus) { return path_of("allreduce_alpha_s_", gpus); }
std::string rate_path(int gpus) { return path_of("allreduce_bytes_per_s_", gpus); }

int index_of(int gpus) {
  for (std::size_t i = 0; i < kMeasuredGpus.size(); ++i) {
    if (kMeasuredGpus[i] == gpus) return static_cast<int>(i);
  }
  return -1;
}

AlphaBeta alpha_beta(const GpuSpec& gpu, int gpus) {
  const std::string gap = collective_gap(gpu, gpus);
  if (!gap.empty()) throw DataError(gpu.name + ": " + gap);
  const auto i = static_cast<std::size_t>(index_of(gpus));
  return {*gpu.allreduce_alpha_s[i], *gpu.allreduce_bytes_per_s[i]};
}

// Bytes that each GPU of a ring sends.
double transferred(Collective kind, int gpus, double message_bytes) {
  const double hops = gpus - 1;
  return (kind == Collective::all_reduce ? 2 : 1) * hops / gpus * message_bytes;
}

}  // namespace

std::string collective_gap(const GpuSpec& gpu, int gpus) {
  if (gpus == 1) return "";
  const int i = index_of(gpus);
  if (i < 0) {
    return "a collective of " + std::to_string(gpus) +
           " GPUs is not modelled; 2, 4 and 8 GPUs of one host are";
  }
  const auto slot = static_cast<std::size_t>(i);
  if (gpu.allreduce_alpha_s[slot] && gpu.allreduce_bytes_per_s[slot]) return "";
  return "the all-reduce of " + std::to_string(gpus) + ' ' + gpu.display_name +
         " is not known; give it with --set " + alpha_path(gpus) + "=SECONDS --set " +
         rate_path(gpus) + "=BYTES_PER_S";
}

CollectiveTime collective_time(const GpuSpec& gpu, Collective kind, int gpus,
                               double message_bytes) {
  CollectiveTime t;
  if (kind == Collective::none || gpus == 1) return t;
  const AlphaBeta link = alpha_beta(gpu, gpus);
  t.latency_s = link.alpha_s;
  t.bytes_per_s = link.bytes_per_s;
  t.transferred_bytes = transferred(kind, gpus, message_bytes);
  t.seconds = t.latency_s + t.transferred_bytes / t.bytes_per_s;
  t.provenance = weaker(provenance_of(gpu, alpha_path(gpus)), provenance_of(gpu, rate_path(gpus)));
  const std::string n = std::to_string(gpus);
  t.equation = quantity_text(t.latency_s, "s") + " + " +
               (kind == Collective::all_reduce ? "2 " : "") + "(" + n + " - 1)/" + n + " x " +
               quantity_text(message_bytes, "B") + " / " + quantity_text(t.bytes_per_s, "B/s");
  return t;
}

double collective_seconds(const GpuSpec& gpu, Collective kind, int gpus, double message_bytes) {
  if (kind == Collective::none || gpus == 1) return 0;
  const AlphaBeta link = alpha_beta(gpu, gpus);
  return link.alpha_s + transferred(kind, gpus, message_bytes) / link.bytes_per_s;
}

std::string interconnect_name(const GpuSpec& gpu) {
  if (gpu.nvlink_bytes_per_s.value_or(0) > 0) return "NVLink";
  return gpu.pcie_bytes_per_s ? "PCIe" : "interconnect not known";
}

}  // namespace smtwin
