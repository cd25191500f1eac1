// SPDX-License-Identifier: Apache-2.0
// The interface of the families of kernels that this project runs itself (and of the Triton kernel
// it measures beside them): one family a kernel and data type, its time in closed form from the
// counts of the kernel's descriptor, the CTAs that are resident, the GPU and a few constants. No
// configuration has a constant of its own.
//
// A point is one configuration on one shape, GPU and state of the L2, prepared once. Its time is
// what an event pair around the replayed operation reads, so the fixed cost of that reading is part
// of the constants (launch_time).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arch/gpu_spec.hpp"
#include "kernels/descriptor.hpp"
#include "model/kernel_time.hpp"
#include "model/timing/loop_time.hpp"
#include "model/timing/probed_gpu.hpp"
#include "model/timing/time_problem.hpp"

namespace smtwin {

class OwnKernelPoint {
 public:
  virtual ~OwnKernelPoint() = default;
  // `values` in the order of the model's constants. Positive and finite within their bounds.
  virtual double seconds(std::span<const double> values) const = 0;
  virtual TimeParts parts(std::span<const double> values) const = 0;
  virtual LoopTime loop(std::span<const double> values) const = 0;
};

class OwnKernelModel {
 public:
  virtual ~OwnKernelModel() = default;
  const std::vector<ConstantSpec>& constants() const { return constants_; }
  // `kernel` of the descriptor, instantiated with `parameters` (complete) on this GPU, and it fits.
  virtual std::unique_ptr<const OwnKernelPoint> point(const KernelInstance& kernel,
                                                      const Parameters& parameters,
                                                      L2State l2) const = 0;

 protected:
  explicit OwnKernelModel(std::vector<ConstantSpec> constants) : constants_(std::move(constants)) {}

 private:
  std::vector<ConstantSpec> constants_;
};

// Which family times a kernel.
struct OwnKernelFamily {
  std::string kernel;      // as run files and profiles name it: "triton_sparse_mla_split"
  std::string descriptor;  // of the kernel registry: "sparse_decode_fieldnotes"
  std::string dtype = {};  // where data types have constants of their own
  FamilyIdentity identity() const;
};

// Of a descriptor with these parameters; empty kernel = no family covers it.
OwnKernelFamily own_kernel_family(const KernelDescriptor& descriptor, const Parameters& parameters);

// The descriptor behind the kernel name of a run file; null for a peer that has none.
const KernelDescriptor* descriptor_of_run_kernel(std::string_view kernel);

// `probed`: what the priors of the constants start from; without, from the specification alone.
// DataError when the GPU lacks a number that the family needs.
std::unique_ptr<OwnKernelModel> own_kernel_model(const OwnKernelFamily& family, const GpuSpec& gpu,
                                                 const ProbedGpu* probed = nullptr);

}  // namespace smtwin
