// SPDX-License-Identifier: Apache-2.0
#include "model/step_time.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace smtwin {
namespace {

// Timed with the op that it is a part of, if a fitted family times that one.
bool timed_with_leader(const StepOp& op, const OpList& ops, OpTimer& timer) {
  if (op.part_of.empty()) return false;
  const auto leader =
      std::find_if(ops.begin(), ops.end(), [&](const StepOp& o) { return o.name == op.part_of; });
  return leader != ops.end() && !timer.time(*leader).family.empty();
}

SegmentTime segment_time(const std::string& name, int count, const OpList& ops, OpTimer& timer) {
  SegmentTime segment;
  segment.name = name;
  segment.count = count;
  std::vector<GraphNode> nodes;
  nodes.reserve(ops.size());
  for (const StepOp& op : ops) {
    OpSeconds time;
    if (timed_with_leader(op, ops, timer)) {
      time.in_leader = true;
      time.with_interval = true;
    } else {
      time = timer.time(op);
    }
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

// By how much the step may be shorter or longer, by family.
struct Deviations {
  std::map<std::string, TimeInterval> by_family;  // low and high as distances

  void add(const OpTime& op, double seconds) {
    if (op.time.seconds <= 0) return;
    const double stretch = seconds / op.time.seconds;
    TimeInterval& d = by_family[op.time.family];
    d.low_s += std::max(op.time.seconds - op.time.interval.low_s, 0.0) * stretch;
    d.high_s += std::max(op.time.interval.high_s - op.time.seconds, 0.0) * stretch;
  }
  TimeInterval around(double seconds) const {
    double low = 0, high = 0;
    for (const auto& [family, d] : by_family) {
      low += d.low_s * d.low_s;
      high += d.high_s * d.high_s;
    }
    return {seconds - std::sqrt(low), seconds + std::sqrt(high)};
  }
};

void add_segment(StepTime& step, SegmentTime segment, Deviations& deviations) {
  const double count = segment.count;
  step.seconds += count * segment.seconds;
  step.overlap_saved_s += count * (segment.sum_s - segment.seconds);
  for (const OpTime& op : segment.ops) {
    step.weight_bytes += count * op.op.weight_bytes;
    step.kv_bytes += count * op.op.kv_bytes;
    if (!op.time.runs) step.not_run.push_back(op.op.name);
    if (!op.critical) continue;
    const double seconds = count * op.elapsed_s();
    step.group_s[static_cast<std::size_t>(op.op.group)] += seconds;
    step.with_interval = step.with_interval || op.time.with_interval;
    if (op.time.with_interval) deviations.add(op, seconds);
    if (!op.time.family.empty()) {
      step.fitted_s += seconds;
      step.provenance = step.fitted_s == seconds ? op.time.provenance
                                                 : weaker(step.provenance, op.time.provenance);
    }
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
  Deviations deviations;
  add_segment(step, segment_time("embedding", 1, ops.before, timer), deviations);
  for (const LayerOps& layer : ops.layers) {
    add_segment(step, segment_time(layer.kind, layer.count, layer.ops, timer), deviations);
  }
  add_segment(step, segment_time("output", 1, ops.after, timer), deviations);
  step.interval = deviations.around(step.seconds);
  // A step that the kernel model times for the most part is as good as its assumptions.
  if (step.fitted_s < 0.5 * step.seconds) step.provenance = Provenance::assumed;
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
