// SPDX-License-Identifier: Apache-2.0
// Which kernel a framework uses for an all-reduce, at both sides of every limit.
#include "model/families/collectives/allreduce_rules.hpp"
#include "tests/catch.hpp"

namespace smtwin {
namespace {

using Kernel = AllReduceKernel;
using Library = CollectiveLibrary;
constexpr double kKiB = 1024, kMiB = 1024 * 1024;

Kernel nvlink(Library library, int gpus, double bytes) {
  TimingGpu gpu;
  gpu.nvlink = true;
  return all_reduce_kernel(gpu, library, gpus, bytes);
}

Kernel pcie(Library library, int gpus, double bytes) {
  return all_reduce_kernel(TimingGpu{}, library, gpus, bytes);
}

TEST_CASE("vLLM over NVLink") {
  CHECK(nvlink(Library::vllm, 2, 8 * kMiB - 2) == Kernel::one_shot_pull);
  CHECK(nvlink(Library::vllm, 2, 8 * kMiB) == Kernel::symmetric_two_shot);
  CHECK(nvlink(Library::vllm, 2, 64 * kMiB) == Kernel::symmetric_two_shot);
  CHECK(nvlink(Library::vllm, 2, 64 * kMiB + 2) == Kernel::nccl);
  CHECK(nvlink(Library::vllm, 4, 512 * kKiB - 2) == Kernel::one_shot_pull);
  CHECK(nvlink(Library::vllm, 4, 512 * kKiB) == Kernel::two_shot);
  CHECK(nvlink(Library::vllm, 4, 8 * kMiB) == Kernel::symmetric_multimem);
  CHECK(nvlink(Library::vllm, 4, 32 * kMiB + 2) == Kernel::nccl);
  CHECK(nvlink(Library::vllm, 8, 256 * kKiB - 2) == Kernel::one_shot_pull);
  CHECK(nvlink(Library::vllm, 8, 256 * kKiB) == Kernel::symmetric_multimem);
  CHECK(nvlink(Library::vllm, 8, 64 * kMiB + 2) == Kernel::nccl);
}

TEST_CASE("SGLang over NVLink") {
  CHECK(nvlink(Library::sglang, 2, 2 * kMiB) == Kernel::one_shot_push);
  CHECK(nvlink(Library::sglang, 2, 2 * kMiB + 2) == Kernel::one_shot_pull);
  CHECK(nvlink(Library::sglang, 4, 384 * kKiB) == Kernel::one_shot_push);
  CHECK(nvlink(Library::sglang, 4, 384 * kKiB + 2) == Kernel::two_shot);
  CHECK(nvlink(Library::sglang, 8, 160 * kKiB) == Kernel::one_shot_push);
  CHECK(nvlink(Library::sglang, 8, 16 * kMiB) == Kernel::two_shot);
  CHECK(nvlink(Library::sglang, 8, 16 * kMiB + 2) == Kernel::nccl);
}

TEST_CASE("TensorRT-LLM over NVLink") {
  CHECK(nvlink(Library::trtllm, 2, 16 * kMiB) == Kernel::one_shot_push);
  CHECK(nvlink(Library::trtllm, 4, 2 * kMiB) == Kernel::one_shot_push);
  CHECK(nvlink(Library::trtllm, 4, 2 * kMiB + 2) == Kernel::nccl);
  CHECK(nvlink(Library::trtllm, 8, 6 * kMiB / 7 + 2) == Kernel::nccl);
}

TEST_CASE("over PCIe only two GPUs leave NCCL") {
  CHECK(pcie(Library::vllm, 2, 8 * kMiB - 2) == Kernel::one_shot_pull);
  CHECK(pcie(Library::vllm, 2, 8 * kMiB) == Kernel::nccl);
  CHECK(pcie(Library::sglang, 2, 8 * kMiB) == Kernel::one_shot_pull);
  CHECK(pcie(Library::trtllm, 2, 1024) == Kernel::nccl);
  CHECK(pcie(Library::vllm, 4, 1024) == Kernel::nccl);
}

TEST_CASE("counts that no custom kernel supports are NCCL's") {
  for (const int gpus : {3, 5, 7, 16}) {
    CHECK(nvlink(Library::vllm, gpus, 1024) == Kernel::nccl);
    CHECK(nvlink(Library::sglang, gpus, 1024) == Kernel::nccl);
  }
  CHECK(nvlink(Library::sglang, 6, 161 * kKiB) == Kernel::two_shot);
  CHECK(nvlink(Library::nccl, 2, 1024) == Kernel::nccl);
}

}  // namespace
}  // namespace smtwin
