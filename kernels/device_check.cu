// SPDX-License-Identifier: Apache-2.0
// Where a cudaError_t becomes a DeviceError.
#include "kernels/device_check.hpp"

#include <cuda_runtime_api.h>

#include "arch/error.hpp"

namespace smtwin {

void check_cuda(int status, const std::string& what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  const auto error = static_cast<cudaError_t>(status);
  throw DeviceError(what + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")");
}

void check_launch(const std::string& kernel) {
  check_cuda(cudaGetLastError(), "launch of " + kernel);
}

}  // namespace smtwin
