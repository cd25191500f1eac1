// SPDX-License-Identifier: Apache-2.0
// Which kernel runs an all-reduce: the frameworks' own rules, by GPUs and message size.
//   vLLM 0.24          custom_all_reduce.cuh, all_reduce_utils.py: sizes by compute capability
//                      (those of Hopper are used for every NVLink GPU)
//   SGLang 0.5.14      its custom all-reduce: push below, pull above, two-shot
//   TensorRT-LLM 1.3   inferred from measured rows: its published table does not explain them
// Over PCIe vLLM and SGLang use their kernel for two GPUs only, TensorRT-LLM never does. Sizes are
// measured for 2, 4 and 8 GPUs; 6 take the rule of 8; other counts are NCCL's.
#pragma once

#include "model/families/collectives/collective_question.hpp"
#include "model/timing/timing_gpu.hpp"

namespace smtwin {

enum class AllReduceKernel {
  nccl,
  one_shot_push,       // every GPU writes its message into all peers, then adds what arrived
  one_shot_pull,       // every GPU reads all peers' messages and adds them
  two_shot,            // reduce-scatter and all-gather by reading peers
  symmetric_two_shot,  // copy in, two-shot on symmetric memory, copy out
  symmetric_multimem,  // the same, reduced and broadcast by the NVLink switch
};

AllReduceKernel all_reduce_kernel(const TimingGpu& gpu, CollectiveLibrary library, int gpus,
                                  double bytes);

// Kernels on the peers' memory mapped with CUDA IPC. Outside a graph their input is first copied
// into the mapped buffer.
inline bool on_mapped_memory(AllReduceKernel kernel) {
  return kernel == AllReduceKernel::one_shot_push || kernel == AllReduceKernel::one_shot_pull ||
         kernel == AllReduceKernel::two_shot;
}

}  // namespace smtwin
