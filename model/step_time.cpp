// SPDX-License-Identifier: Apache-2.0
#include "model/step_time.hpp"

#include <algorithm>

namespace smtwin {
namespace {

SegmentTime segment_time(const std::string& name, int count, const OpList& ops, OpTimer& timer) {
  SegmentTime segment;
  segment.name = name;
  segment.count = count;
  std::vector<GraphNode> nodes;
  nodes.reserve(ops.size());
  for (const StepOp& op : ops) {
    const OpSeconds& time = timer.time(op);
    segment.ops.push_back({.op = op, .time = time});
    nodes.push_back({.seconds = time.seconds, .dram_share = time.dram_share, .after = op.after});
  }
  const GraphTime graph = schedule(nodes);
  segment.seconds = graph.seconds;
  segment.sum_s = graph.sum_s;
  for (std::size_t i = 0; i < segment.ops.size(); ++i) {
    segment.ops[i].start_s = graph.start_s[i];
    segment.ops[i].end_s = graph.end_s[i];
  }
  for (const int i : graph.critical_path) segment.ops[static_cast<std::size_t>(i)].critical = true;
  return segment;
}

void add_segment(StepTime& step, SegmentTime segment) {
  const double count = segment.count;
  step.seconds += count * segment.seconds;
  step.overlap_saved_s += count * (segment.sum_s - segment.seconds);
  for (const OpTime& op : segment.ops) {
    step.weight_bytes += count * op.op.weight_bytes;
    step.kv_bytes += count * op.op.kv_bytes;
    if (!op.time.runs) step.not_run.push_back(op.op.name);
    if (!op.critical) continue;
    step.group_s[static_cast<std::size_t>(op.op.group)] += count * (op.end_s - op.start_s);
  }
  step.segments.push_back(std::move(segment));
}

}  // namespace

StepTime step_time(const StepOps& ops, const StepOptions& options, OpTimer& timer, double host_s) {
  StepTime step;
  step.batch = options.batch;
  step.captured_batch = options.pad_batch ? captured_batch(options.batch) : options.batch;
  step.host_s = host_s;
  step.seconds = host_s;
  step.group_s[static_cast<std::size_t>(OpGroup::host)] = host_s;
  add_segment(step, segment_time("embedding", 1, ops.before, timer));
  for (const LayerOps& layer : ops.layers) {
    add_segment(step, segment_time(layer.kind, layer.count, layer.ops, timer));
  }
  add_segment(step, segment_time("output", 1, ops.after, timer));
  std::sort(step.not_run.begin(), step.not_run.end());
  step.not_run.erase(std::unique(step.not_run.begin(), step.not_run.end()), step.not_run.end());
  return step;
}

std::vector<GroupShare> group_shares(const StepTime& step) {
  std::vector<GroupShare> shares;
  for (std::size_t g = 0; g < kOpGroupCount; ++g) {
    if (step.group_s[g] <= 0) continue;
    shares.push_back({static_cast<OpGroup>(g), step.group_s[g], step.group_s[g] / step.seconds});
  }
  std::sort(shares.begin(), shares.end(),
            [](const GroupShare& a, const GroupShare& b) { return a.seconds > b.seconds; });
  return shares;
}

}  // namespace smtwin
