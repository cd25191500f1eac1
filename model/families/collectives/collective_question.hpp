// SPDX-License-Identifier: Apache-2.0
// Which collective among the GPUs of one host is asked about: operation, size, and which library
// runs it. Bytes are counted as nccl-tests counts them: the whole buffer, that is the result of an
// all-gather, the input of a reduce-scatter, all blocks of an all-to-all.
#pragma once

#include <string_view>

namespace smtwin {

enum class CollectiveOp { all_reduce, all_gather, reduce_scatter, all_to_all };
std::string_view to_string(CollectiveOp op);  // "all_reduce"

// Who chooses the kernel. The frameworks have all-reduce kernels of their own and hand everything
// else, and what their size limits exclude, to NCCL.
enum class CollectiveLibrary { nccl, vllm, sglang, trtllm };
std::string_view to_string(CollectiveLibrary library);  // "NCCL", "vLLM"

enum class CollectiveLaunch { graph, eager };

struct CollectiveQuestion {
  CollectiveOp op = CollectiveOp::all_reduce;
  int gpus = 2;
  double bytes = 0;
  bool int8 = false;  // reduced as 8-bit integers; else 2-byte floats
  CollectiveLibrary provider = CollectiveLibrary::nccl;
  CollectiveLaunch launch = CollectiveLaunch::graph;
  // The benchmark of eager all-reduces copies its input before every call; deployments do not.
  bool clones_input = false;
};

}  // namespace smtwin
