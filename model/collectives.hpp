// SPDX-License-Identifier: Apache-2.0
// How long a collective among the GPUs of one host takes, version 1 (alpha-beta):
//   all-reduce   alpha_n + 2 (n-1)/n S / B_n
//   all-gather   alpha_n +   (n-1)/n S / B_n     S = the gathered result, half the ring steps
// alpha_n and B_n are data of the GPU for n = 2, 4 and 8 (PCIe or NVLink is in those numbers).
// Left out: the protocol switch that makes middle sizes slower than larger ones over PCIe, overlap
// with kernels, and hosts whose slots differ from the measured one. Other n are not modelled.
#pragma once

#include <string>

#include "arch/gpu_spec.hpp"

namespace smtwin {

enum class Collective { none, all_reduce, all_gather };

// Why n GPUs of this kind cannot be modelled; empty when they can.
std::string collective_gap(const GpuSpec& gpu, int gpus);

struct CollectiveTime {
  double seconds = 0;
  double latency_s = 0;          // alpha
  double transferred_bytes = 0;  // that each GPU sends
  double bytes_per_s = 0;
  std::string equation;
  Provenance provenance = Provenance::assumed;
};

// `message_bytes` is S above. DataError when collective_gap() is not empty.
CollectiveTime collective_time(const GpuSpec& gpu, Collective kind, int gpus, double message_bytes);
// The seconds alone, for searches.
double collective_seconds(const GpuSpec& gpu, Collective kind, int gpus, double message_bytes);

// "NVLink", "PCIe" or "interconnect not known", by what the GPU's file lists.
std::string interconnect_name(const GpuSpec& gpu);

}  // namespace smtwin
