// The list of graph passes and the driver that runs them.
//
// A pass is one free function that rewrites a Graph and says how many places it changed. Passes
// know nothing of devices: they simplify, and they form fusion groups that plan keeps or expands.
// Adding one: its pair of files, one row in pass_list.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

struct Pass {
  std::string_view name;
  Result<int> (*run)(Graph& graph);  // how many places changed
};

// In the order in which they run.
const std::vector<Pass>& pass_list();

struct PassOptions {
  std::set<std::string> skip;  // names not to run
  std::function<void(std::string_view pass, const Graph& graph)>
      dump;  // called after each pass, when set
  // "after fuse_vertical: 57 layers, 83 before (17 changed, 0.4 ms)"
  std::function<void(const std::string& line)> log;
  std::span<const Pass> list = pass_list();  // what runs, in this order
};

// Runs the list, verifying the graph after each pass. Errors: usage (a name in `skip` that no pass
// has), internal (a pass broke the graph; the message names it).
Status run_passes(Graph& graph, const PassOptions& options);

// What the passes' tests and the log call a layer: a live node, or a fusion group.
int layer_count(const Graph& graph);

}  // namespace enginery
