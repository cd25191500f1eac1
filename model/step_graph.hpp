// SPDX-License-Identifier: Apache-2.0
// How long kernels with dependences take on one GPU: the critical path, and what happens where
// streams overlap. Ops of one stream follow each other; an op starts when all that it waits for
// has ended. Two ops at once share the DRAM: when together they want more than all of it, the
// memory-bound part of both stretches,
//   rate of op i = 1 / (1 - u_i + u_i f),  f = max(1, sum of u),  u = share of its time on DRAM.
// So a second stream hides launch gaps and latencies, not bytes.
// Left out: contention for SMs, L2 and tensor cores, and the cost of events between streams.
#pragma once

#include <vector>

namespace smtwin {

struct GraphNode {
  double seconds = 0;      // alone on the GPU
  double dram_share = 0;   // of its time that the DRAM is busy at its peak, 0..1
  std::vector<int> after;  // indices of nodes that end before it starts
};

struct GraphTime {
  double seconds = 0;         // end of the last node
  double longest_path_s = 0;  // if nothing were shared
  double sum_s = 0;           // if nothing overlapped
  std::vector<double> start_s;
  std::vector<double> end_s;
  std::vector<int> critical_path;  // nodes that led to the end, first to last; no idle between
};

// std::logic_error when the nodes wait for each other in a circle or for a node that is not there.
GraphTime schedule(const std::vector<GraphNode>& nodes);

}  // namespace smtwin
