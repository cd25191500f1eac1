// SPDX-License-Identifier: Apache-2.0
// Which kernel runs an op of a decode step, and how long it takes. With a calibration the families
// of fitted_ops.hpp time what they cover. Everything else, and everything without a calibration, is
// timed by the uncalibrated kernel model, with the choice of configuration that layer 3 of the twin
// makes, so that a changed tile list shows up in tokens/s:
//   GEMM                               triton_gemm; for NVFP4 cutlass_nvfp4
//   experts                            triton_moe_gemm; for NVFP4 cutlass_nvfp4, grouped
//   sparse attention over packed rows  sparse_decode_fieldnotes
//   dense attention, everything else   a streaming kernel (op_kernel_streaming.cpp), assumed
//
// GEMMs take the fastest predicted entry of a short list of decode tiles: what an autotuner over
// that list would find, not what a particular library picks. All choices are `assumed`.
// Left out of those: fused epilogues, persistent grids, library heuristics.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "kernels/descriptor.hpp"
#include "model/fitted_ops.hpp"
#include "model/kernel_time.hpp"
#include "model/step_ops.hpp"

namespace smtwin {

// Parameters that the user pins for all ops on a kernel: {"triton_gemm": {"num_warps": 8}}.
using KernelSettings = std::map<std::string, Parameters>;

// The kernels that ops of a step may run on, by name: those that KernelSettings can pin.
std::vector<std::string> step_kernel_names();

struct OpSeconds {
  bool runs = true;       // false: no configuration of the list fits this GPU
  double seconds = 0;     // alone on the GPU, launch gap included
  double dram_share = 0;  // of it that the DRAM is busy
  Bound binding = Bound::launch;
  std::string kernel;  // "triton_gemm", "collective", "streaming (assumed)"
  std::string config;  // "BM16/BN64/BK64/w4/s4"; empty where there is none
  Provenance provenance = Provenance::assumed;
  bool with_interval = false;  // a calibration was there
  TimeInterval interval;       // 90 %
  // Family whose constants timed it; errors of one family are the same for all its ops. Empty: the
  // uncalibrated kernel model.
  std::string family;
  bool spread_modelled = false;  // unequal contexts were taken into account
  bool in_leader = false;        // timed with the op that part_of names; no seconds of its own
};

// Times ops on one GPU. Remembers what it has timed: layouts, batches and layers share most shapes.
class OpTimer {
 public:
  // UsageError for settings of a kernel or parameter that is not there. A fitted family does not
  // know what a parameter does: where one is pinned, its time is scaled by what the kernel model
  // says that the pin changes (`extrapolated`).
  OpTimer(const GpuSpec& gpu, KernelSettings settings,
          std::shared_ptr<const FittedOps> fitted = nullptr);

  const OpSeconds& time(const StepOp& op);

  // The configurations considered, as instances; the one that runs is the fastest. Empty for
  // collectives.
  std::vector<KernelInstance> candidates(const StepOp& op) const {
    return candidates(op, settings_);
  }
  // How the memory holds what the op reads: weights and cache cold, activations warm.
  KernelTimeOptions options(const StepOp& op) const;
  const GpuSpec& gpu() const { return gpu_; }
  const FittedOps* fitted() const { return fitted_.get(); }

 private:
  static constexpr std::size_t kKeyNumbers = 38;
  using Key = std::array<double, kKeyNumbers>;
  static Key key_of(const StepOp& op);
  std::vector<KernelInstance> candidates(const StepOp& op, const KernelSettings& settings) const;
  bool pinned(const StepOp& op) const;
  void scale_to_pin(const StepOp& op, OpSeconds& time) const;
  OpSeconds timed(const StepOp& op) const;
  OpSeconds fastest(const StepOp& op, const KernelSettings& settings) const;
  double dram_share(const KernelSeconds& time) const;

  const GpuSpec& gpu_;
  KernelSettings settings_;
  std::shared_ptr<const FittedOps> fitted_;
  std::map<Key, OpSeconds> known_;
};

// Building blocks of candidates(), one file each.
// Every tile of the short list for this GEMM on this GPU; `pinned` replaces parameters in all.
std::vector<KernelInstance> gemm_instances(const StepOp& op, const GpuSpec& gpu,
                                           const KernelSettings& settings);
// The gather over packed rows by sparse_decode_fieldnotes; empty when the op has another shape.
std::vector<KernelInstance> sparse_attention_instances(const StepOp& op, const GpuSpec& gpu,
                                                       const KernelSettings& settings);
KernelInstance attention_instance(const StepOp& op, const GpuSpec& gpu);
KernelInstance streaming_instance(const StepOp& op, const GpuSpec& gpu);

}  // namespace smtwin
