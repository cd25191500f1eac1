// SPDX-License-Identifier: Apache-2.0
// A kernel of this project that can run: which variants were compiled, and one problem of it on
// the GPU with random inputs, ready to be launched, checked and timed. The header is free of CUDA,
// so that whatever measures kernels (validate/device) needs to know none of them; the .cu files of
// each kernel implement it. Exists only in builds with SMTWIN_CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cta_trace.hpp"
#include "kernels/descriptor.hpp"

namespace smtwin {

using DeviceStream = void*;  // a cudaStream_t

// One __global__ function that a variant launches.
struct CompiledFunction {
  std::string symbol;              // its unmangled name in the cubin, unique in the program
  const void* function = nullptr;  // for cudaFuncGetAttributes and the driver's occupancy answer
  int threads_per_cta = 0;
  std::int64_t dynamic_shared_bytes = 0;
  bool auxiliary = false;  // a combine or reduction beside the main kernel
};

class LiveProblem {
 public:
  virtual ~LiveProblem() = default;

  // Overwrites every output and every workspace with NaN patterns, on `stream`.
  virtual void poison(DeviceStream stream) = 0;

  // Enqueues the whole operation, combine kernels included. Allocates nothing, waits for nothing
  // and leaves nothing behind that the next launch depends on: it can be captured into a graph
  // and replayed. `trace`: one entry a CTA of the main kernel in device memory, or null.
  // DeviceError when CUDA refuses the launch.
  virtual void launch(const Parameters& config, DeviceStream stream, CtaTrace* trace = nullptr) = 0;

  // CTAs of the main kernel for that config: the length of a trace.
  virtual std::int64_t ctas(const Parameters& config) const = 0;

  // ||out - reference|| / ||reference|| against a float64 reference on the same (quantized)
  // inputs; infinite when an output was not written or is not finite. Waits for the device.
  virtual double relative_error() = 0;
};

class LiveKernel {
 public:
  virtual ~LiveKernel() = default;
  virtual std::string name() const = 0;  // of its descriptor; "cublas_gemm" for a peer
  // A library measured beside our kernels: no descriptor, no prediction.
  virtual bool is_peer() const { return false; }
  // Empty: usable here. Otherwise why not ("libcublas.so.13 was not found").
  virtual std::string unavailable() const { return ""; }

  // Config parameters of every compiled variant, those that do not fit this GPU included.
  virtual std::vector<Parameters> variants() const = 0;
  virtual std::vector<CompiledFunction> functions(const Parameters& config) const = 0;

  // `shape`: the shape parameters of the descriptor, complete. Inputs are drawn anew for every
  // seed. DeviceError when memory does not suffice.
  virtual std::unique_ptr<LiveProblem> make_problem(const Parameters& shape,
                                                    std::uint64_t seed) const = 0;
};

// All of them, in the order of the kernel registry, then the peers.
const std::vector<std::unique_ptr<LiveKernel>>& live_kernels();

}  // namespace smtwin
