// SPDX-License-Identifier: Apache-2.0
#include "model/families/collectives/allreduce_rules.hpp"

namespace smtwin {
namespace {

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

constexpr double kVllmCustomBytes = 8 * kMiB;  // its IPC buffer
constexpr double kVllmOneShotBytes4 = 512 * kKiB, kVllmOneShotBytes8 = 256 * kKiB;
constexpr double kVllmSymmetricBytes2 = 64 * kMiB;
constexpr double kVllmSymmetricBytes4 = 32 * kMiB;
constexpr double kVllmSymmetricBytes8 = 64 * kMiB;

constexpr double kSglangPcieBytes = 8 * kMiB;
constexpr double kSglangCustomBytes = 16 * kMiB;
constexpr double kSglangPushBytes2 = 2 * kMiB;
constexpr double kSglangOneShotBytes4 = 384 * kKiB, kSglangOneShotBytes8 = 160 * kKiB;

constexpr double kTrtllmBytes2 = 16 * kMiB;
constexpr double kTrtllmReceivedBytes = 6 * kMiB;  // from all peers together

AllReduceKernel vllm_nvlink(int gpus, double bytes) {
  if (gpus == 2) {
    if (bytes < kVllmCustomBytes) return AllReduceKernel::one_shot_pull;
    return bytes <= kVllmSymmetricBytes2 ? AllReduceKernel::symmetric_two_shot
                                         : AllReduceKernel::nccl;
  }
  if (gpus == 4) {
    if (bytes < kVllmOneShotBytes4) return AllReduceKernel::one_shot_pull;
    if (bytes < kVllmCustomBytes) return AllReduceKernel::two_shot;
    return bytes <= kVllmSymmetricBytes4 ? AllReduceKernel::symmetric_multimem
                                         : AllReduceKernel::nccl;
  }
  if (bytes < kVllmOneShotBytes8) return AllReduceKernel::one_shot_pull;
  return bytes <= kVllmSymmetricBytes8 ? AllReduceKernel::symmetric_multimem
                                       : AllReduceKernel::nccl;
}

AllReduceKernel sglang_nvlink(int gpus, double bytes) {
  if (bytes > kSglangCustomBytes) return AllReduceKernel::nccl;
  if (gpus == 2) {
    return bytes <= kSglangPushBytes2 ? AllReduceKernel::one_shot_push
                                      : AllReduceKernel::one_shot_pull;
  }
  const double one_shot = gpus == 4 ? kSglangOneShotBytes4 : kSglangOneShotBytes8;
  return bytes <= one_shot ? AllReduceKernel::one_shot_push : AllReduceKernel::two_shot;
}

AllReduceKernel trtllm_nvlink(int gpus, double bytes) {
  const bool fits = gpus == 2 ? bytes <= kTrtllmBytes2 : (gpus - 1) * bytes <= kTrtllmReceivedBytes;
  return fits ? AllReduceKernel::one_shot_push : AllReduceKernel::nccl;
}

AllReduceKernel pcie(CollectiveLibrary library, int gpus, double bytes) {
  if (gpus != 2) return AllReduceKernel::nccl;
  const bool custom = (library == CollectiveLibrary::vllm && bytes < kVllmCustomBytes) ||
                      (library == CollectiveLibrary::sglang && bytes <= kSglangPcieBytes);
  return custom ? AllReduceKernel::one_shot_pull : AllReduceKernel::nccl;
}

}  // namespace

AllReduceKernel all_reduce_kernel(const TimingGpu& gpu, CollectiveLibrary library, int gpus,
                                  double bytes) {
  const bool supported = gpus == 2 || gpus == 4 || gpus == 6 || gpus == 8;
  if (library == CollectiveLibrary::nccl || !supported) return AllReduceKernel::nccl;
  if (!gpu.nvlink) return pcie(library, gpus, bytes);
  if (library == CollectiveLibrary::vllm) return vllm_nvlink(gpus, bytes);
  return library == CollectiveLibrary::sglang ? sglang_nvlink(gpus, bytes)
                                              : trtllm_nvlink(gpus, bytes);
}

}  // namespace smtwin
