// SPDX-License-Identifier: Apache-2.0
#include "model/families/collectives/collective_question.hpp"

namespace smtwin {

std::string_view to_string(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::all_reduce:
      return "all_reduce";
    case CollectiveOp::all_gather:
      return "all_gather";
    case CollectiveOp::reduce_scatter:
      return "reduce_scatter";
    case CollectiveOp::all_to_all:
      return "alltoall";
  }
  return "?";
}

std::string_view to_string(CollectiveLibrary library) {
  switch (library) {
    case CollectiveLibrary::nccl:
      return "NCCL";
    case CollectiveLibrary::vllm:
      return "vLLM";
    case CollectiveLibrary::sglang:
      return "SGLang";
    case CollectiveLibrary::trtllm:
      return "TensorRT-LLM";
  }
  return "?";
}

}  // namespace smtwin
