// SPDX-License-Identifier: Apache-2.0
// Time of a collective among n GPUs of one host: launch + hops x hop latency + bytes / rate, with
// the path that the library takes (nccl_rules.hpp, allreduce_rules.hpp).
//   LL ring       t = launch + N (hop + w warps) + (N+1)(b-1) batch
//   Simple ring   t = simple_launch + N simple_hop + (V + own x + fill min(x, chunk)) / B + int8
//   LL128 ring    t = simple_launch + N hop + (V + own x + fill min(x, chunk)) / B_LL128
//   NVLS          t = nvls_launch + (S + fill min(S, 16 MiB)) / multimem
//   all-to-all    t = launch + 2 hop + (n-1) peer + max(x / B_LL, V / B_LL,all)            LL
//                 t = launch + 2 simple_hop + (n-1) peer + (V + fill min(V, FIFOs)) / B    Simple
//   one-shot      t = launch + (n-1) peer + (n-1) S / B          two-shot  ... + V / B
//   symmetric     t = launch + 4 S / copy rate + V / B_LL128 or S / multimem
//   eager         t = ((t + copies)^8 + host^8)^(1/8)
// S message bytes, x = S/n, N ring steps, V = N x, w share of the 16 warps beyond 3, b batches.
// Hops to GPUs behind another host bridge cost far_hop_factor as much. For 3-4 and 5-8 GPUs over
// PCIe the constants of 4 and 8 are used, more GPUs take those of 8; over NVLink n enters through
// the formulas alone.
// Left out: overlap with other kernels, other hosts' slots (calibrate on the machine), networks.
#pragma once

#include <span>

#include "model/families/collectives/collective_constants.hpp"
#include "model/families/collectives/collective_plan.hpp"
#include "model/timing/time_problem.hpp"

namespace smtwin {

class CollectiveTimeModel {
 public:
  explicit CollectiveTimeModel(const TimingGpu& gpu) : gpu_(gpu), list_(gpu) {}

  const std::vector<ConstantSpec>& constants() const { return list_.specs(); }

  CollectivePlan plan(const CollectiveQuestion& question) const {
    return collective_plan(gpu_, question);
  }
  // `values` as constants() lists them. 0 for one GPU.
  double seconds(const CollectivePlan& plan, std::span<const double> values) const;
  TimeParts parts(const CollectivePlan& plan, std::span<const double> values) const;

 private:
  TimingGpu gpu_;
  CollectiveConstantList list_;
};

}  // namespace smtwin
