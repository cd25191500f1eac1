// SPDX-License-Identifier: Apache-2.0
// Boost.Graph holds the dependences and orders them; the rest is a small event simulation in which
// the running ops share the DRAM. Without overlap it is the longest path.
#include "model/step_graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <limits>
#include <stdexcept>

namespace smtwin {
namespace {

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

Graph build_graph(const std::vector<GraphNode>& nodes) {
  const int count = static_cast<int>(nodes.size());
  Graph graph(nodes.size());
  for (int to = 0; to < count; ++to) {
    for (const int from : nodes[static_cast<std::size_t>(to)].after) {
      if (from < 0 || from >= count) throw std::logic_error("step graph: edge from no node");
      boost::add_edge(static_cast<std::size_t>(from), static_cast<std::size_t>(to), graph);
    }
  }
  return graph;
}

std::vector<std::size_t> topological_order(const Graph& graph) {
  std::vector<std::size_t> order;
  try {
    boost::topological_sort(graph, std::back_inserter(order));
  } catch (const boost::not_a_dag&) {
    throw std::logic_error("step graph: ops wait for each other in a circle");
  }
  std::reverse(order.begin(), order.end());
  return order;
}

double longest_path(const Graph& graph, const std::vector<GraphNode>& nodes,
                    const std::vector<std::size_t>& order) {
  std::vector<double> end(nodes.size(), 0);
  double longest = 0;
  for (const std::size_t v : order) {
    double start = 0;
    for (auto [e, last] = boost::in_edges(v, graph); e != last; ++e) {
      start = std::max(start, end[boost::source(*e, graph)]);
    }
    end[v] = start + nodes[v].seconds;
    longest = std::max(longest, end[v]);
  }
  return longest;
}

// Runs the nodes; fills start_s, end_s, seconds and returns, for each node, the one whose end let
// it start (-1 = it could start at once).
class Simulation {
 public:
  Simulation(const Graph& graph, const std::vector<GraphNode>& nodes, GraphTime& result)
      : graph_(graph), nodes_(nodes), result_(result), released_by_(nodes.size(), -1) {
    result_.start_s.assign(nodes.size(), 0);
    result_.end_s.assign(nodes.size(), 0);
    for (std::size_t v = 0; v < nodes.size(); ++v) waiting_for_.push_back(in_degree(v, graph));
  }

  std::vector<int> run(const std::vector<std::size_t>& order) {
    for (const std::size_t v : order) {
      if (waiting_for_[v] == 0) start(v, -1);
    }
    while (!running_.empty()) step();
    return released_by_;
  }

 private:
  struct Running {
    std::size_t node;
    double left_s;  // of its time alone
  };

  void start(std::size_t v, int released_by) {
    released_by_[v] = released_by;
    result_.start_s[v] = now_s_;
    running_.push_back({v, nodes_[v].seconds});
  }

  double stretch(const Running& r, double contention) const {
    const double share = nodes_[r.node].dram_share;
    return 1 - share + share * contention;
  }

  void step() {
    double wanted = 0;
    for (const Running& r : running_) wanted += nodes_[r.node].dram_share;
    const double contention = std::max(1.0, wanted);
    double until_s = std::numeric_limits<double>::infinity();
    std::size_t first = 0;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      const double needs = running_[i].left_s * stretch(running_[i], contention);
      if (needs < until_s) {
        until_s = needs;
        first = i;
      }
    }
    now_s_ += until_s;
    for (Running& r : running_) r.left_s -= until_s / stretch(r, contention);
    const std::size_t done = running_[first].node;
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(first));
    finish(done);
  }

  void finish(std::size_t v) {
    result_.end_s[v] = now_s_;
    result_.seconds = now_s_;
    last_ = static_cast<int>(v);
    for (auto [e, last] = boost::out_edges(v, graph_); e != last; ++e) {
      const std::size_t next = boost::target(*e, graph_);
      if (--waiting_for_[next] == 0) start(next, static_cast<int>(v));
    }
  }

 public:
  int last_finished() const { return last_; }

 private:
  const Graph& graph_;
  const std::vector<GraphNode>& nodes_;
  GraphTime& result_;
  std::vector<std::size_t> waiting_for_;
  std::vector<int> released_by_;
  std::vector<Running> running_;
  double now_s_ = 0;
  int last_ = -1;
};

}  // namespace

GraphTime schedule(const std::vector<GraphNode>& nodes) {
  GraphTime result;
  const Graph graph = build_graph(nodes);
  const std::vector<std::size_t> order = topological_order(graph);
  for (const GraphNode& node : nodes) result.sum_s += node.seconds;
  result.longest_path_s = longest_path(graph, nodes, order);
  Simulation simulation(graph, nodes, result);
  const std::vector<int> released_by = simulation.run(order);
  for (int v = simulation.last_finished(); v >= 0; v = released_by[static_cast<std::size_t>(v)]) {
    result.critical_path.push_back(v);
  }
  std::reverse(result.critical_path.begin(), result.critical_path.end());
  return result;
}

}  // namespace smtwin
