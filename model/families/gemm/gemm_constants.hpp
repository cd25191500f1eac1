// SPDX-License-Identifier: Apache-2.0
// The constants of one GEMM implementation and what is known about them before any measurement.
// GemmConstants holds a number for every effect of the model; effects that an implementation does
// not have keep the value that switches them off. GemmConstantList says which are fitted, in which
// order, with which priors; effects whose constant buys less than 0.3 points of the median error
// are held at their prior.
#pragma once

#include <span>
#include <vector>

#include "model/families/gemm/gemm_implementation.hpp"
#include "model/timing/constant_specs.hpp"

namespace smtwin {

struct GemmConstants {
  double op_s = 0;                   // launch gap, prologue, drain of the whole operation
  double tensor_flops_per_s = 1e15;  // of the chip on padded tiles
  double step_s = 0;                 // shortest time of 128 elements of K in one CTA
  double cold_step_s = 0;            // the same when operands come from DRAM
  double loaded_step_s = 0;          // the same when many SMs are busy
  double tile_s = 0;                 // prologue and epilogue of a tile
  double dram_bytes_per_s = 1e12;
  double l2_bytes_per_s = 1e13;         // L2 -> all SMs
  double sm_l2_bytes_per_s = kNoRate;   // L2 -> one SM
  double output_bytes_per_s = kNoRate;  // exposed output writes
  double large_tile_factor = 1;         // on the tensor time of large tiles outside clusters
  double split_s = 0;                   // split-K: fixed cost of the reduction
  double power_loss = 0;                // of clock in a kernel long enough for the power limit
  double padded_rows_per_s = kNoRate;   // rows beyond M, each once per K step
  double quant_bytes_per_s = kNoRate;   // activation quantization, byte bound
  double quant_row_s = 0;               // activation quantization, row bound
  double host_unaligned_s = 0;          // instrument: host time more when M is no multiple of 4
  double host_s = 0;                    // instrument: host time of an operation without a graph
};

class GemmConstantList {
 public:
  GemmConstantList(const GemmImplementation& implementation, const TimingGpu& gpu);

  const std::vector<ConstantSpec>& specs() const { return specs_; }
  GemmConstants read(std::span<const double> values) const {
    GemmConstants c = held_;
    for (std::size_t i = 0; i < members_.size(); ++i) c.*members_[i] = values[i];
    return c;
  }

 private:
  void fit(double GemmConstants::*member, ConstantSpec spec);
  void fit_if(bool fitted, double GemmConstants::*member, ConstantSpec spec);  // else held

  GemmConstants held_;
  std::vector<ConstantSpec> specs_;
  std::vector<double GemmConstants::*> members_;
};

}  // namespace smtwin
