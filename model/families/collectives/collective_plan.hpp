// SPDX-License-Identifier: Apache-2.0
// A collective with everything decided that needs no fitted constant: which kernel runs, how many
// hops and bytes it takes. Made once a shape; turning it into seconds is then a handful of
// additions.
#pragma once

#include <string>

#include "model/families/collectives/allreduce_rules.hpp"
#include "model/families/collectives/collective_question.hpp"
#include "model/families/collectives/nccl_rules.hpp"

namespace smtwin {

enum class CollectivePath {
  none,  // one GPU
  ll_ring,
  ll128_ring,
  simple_ring,
  nvls,
  ll_alltoall,
  simple_alltoall,
  one_shot_push,
  one_shot_pull,
  two_shot,
  symmetric_two_shot,
  symmetric_multimem
};

// Where the slowest pair of GPUs sits. NVLink makes all pairs near.
enum class LinkClass { near, socket, two_sockets };

struct CollectivePlan {
  CollectivePath path = CollectivePath::none;
  CollectiveLibrary provider = CollectiveLibrary::nccl;
  LinkClass link = LinkClass::near;
  bool nvlink = false;
  double peers = 0;          // n-1
  double steps = 0;          // N of a ring
  double message_bytes = 0;  // S
  double chunk_bytes = 0;    // S/n
  double sent_bytes = 0;     // V: that each GPU sends over its link
  LlShape ll{};
  double channels = 0;
  double int8_added_bytes = 0;  // that each GPU reduces as int8
  double fill_bytes = 0;        // in flight while nothing else is
  double spilled_bytes = 0;     // DRAM traffic of buffers that outgrow the L2
  bool unregistered = false;    // the ring that measured slower over PCIe
  bool eager = false;
  bool mapped_memory = false;
  double copies = 0;  // of the message before the kernel, outside a graph
};

// DataError for fewer than one GPU or a message below one byte.
CollectivePlan collective_plan(const TimingGpu& gpu, const CollectiveQuestion& question);

// "NCCL LL ring, 4 channels", "vLLM one-shot".
std::string path_text(const CollectivePlan& plan);

}  // namespace smtwin
