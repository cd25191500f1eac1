// SPDX-License-Identifier: Apache-2.0
// The device half of a build without CUDA.
#include "arch/error.hpp"
#include "validate/device/device.hpp"

namespace smtwin {
namespace {

[[noreturn]] void refuse() {
  throw NotBuiltError(
      "--device: this smtwin was built without CUDA; build it where nvcc is found (cmake --preset "
      "gpu), or read a stored run with --run FILE");
}

}  // namespace

bool built_with_cuda() { return false; }

RunGpu query_gpu(int) { refuse(); }

std::unique_ptr<Measurer> open_gpu(int) { refuse(); }

}  // namespace smtwin
