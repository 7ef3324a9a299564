#include "engine/import/onnx/node_order.h"

#include <onnx/onnx_pb.h>

#include <functional>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>

#include "engine/import/onnx/source_node.h"

namespace enginery {
namespace {

using Producers = std::unordered_map<std::string_view, int>;  // value name -> index of its node
constexpr int kOutside = -1;  // an input or initialiser of the graph

std::string text_of(const onnx::NodeProto& node) {
  const std::string name = !node.name().empty()     ? node.name()
                           : node.output_size() > 0 ? node.output(0)
                                                    : "";
  return "node '" + printable(name) + "' (" + printable(node.op_type()) + ")";
}

Result<Producers> find_producers(const onnx::GraphProto& graph) {
  Producers producers;
  for (const auto& input : graph.input()) producers.emplace(input.name(), kOutside);
  for (const auto& tensor : graph.initializer()) producers.emplace(tensor.name(), kOutside);
  for (const auto& tensor : graph.sparse_initializer())
    producers.emplace(tensor.values().name(), kOutside);
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& output : graph.node(i).output()) {
      if (output.empty() || producers.emplace(output, i).second) continue;
      return Error{ErrorCode::invalid_argument, text_of(graph.node(i)) + ": its output '" +
                                                    printable(output) +
                                                    "' is already the name of another value"};
    }
  }
  return producers;
}

// The indices of the nodes that the node reads from, once for each use.
template <typename F>
void for_each_source(const onnx::NodeProto& node, const Producers& producers, F&& f) {
  const auto visit = [&](const std::string& input) {
    const auto found = producers.find(input);
    if (!input.empty() && found != producers.end() && found->second != kOutside) f(found->second);
  };
  for (const std::string& input : node.input()) visit(input);
  for (const std::string& input : captured_names(node)) visit(input);
}

// The names that nodes and outputs of the graph read and that it does not make itself.
std::set<std::string> outer_names(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& node : graph.node()) {
    names.insert(node.input().begin(), node.input().end());
    for (std::string& name : captured_names(node)) names.insert(std::move(name));
  }
  for (const auto& output : graph.output()) names.insert(output.name());
  for (const auto& node : graph.node()) {
    for (const std::string& output : node.output()) names.erase(output);
  }
  for (const auto& input : graph.input()) names.erase(input.name());
  for (const auto& tensor : graph.initializer()) names.erase(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) names.erase(tensor.values().name());
  return names;
}

// Some node on a cycle: walking from a node that never became ready to sources that did not either
// ends in one.
Error cycle_error(const onnx::GraphProto& graph, const Producers& producers,
                  const std::vector<int>& missing) {
  int at = 0;
  while (missing[static_cast<size_t>(at)] == 0) ++at;
  std::vector<bool> seen(missing.size(), false);
  while (!seen[static_cast<size_t>(at)]) {
    seen[static_cast<size_t>(at)] = true;
    int next = at;
    for_each_source(graph.node(at), producers, [&](int source) {
      if (missing[static_cast<size_t>(source)] > 0) next = source;
    });
    at = next;
  }
  return {ErrorCode::invalid_argument,
          "the graph has a cycle: " + text_of(graph.node(at)) + " depends on its own output"};
}

}  // namespace

std::vector<std::string> captured_names(const onnx::NodeProto& node) {
  std::set<std::string> names;
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) names.merge(outer_names(attribute.g()));
    for (const auto& graph : attribute.graphs()) names.merge(outer_names(graph));
  }
  names.erase("");
  return {names.begin(), names.end()};
}

Result<std::vector<int>> node_order(const onnx::GraphProto& graph) {
  TRY(Producers producers, find_producers(graph));
  const size_t n = static_cast<size_t>(graph.node_size());
  std::vector<int> missing(n, 0), order;
  std::vector<std::vector<int>> readers(n);
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < graph.node_size(); ++i) {
    for_each_source(graph.node(i), producers, [&](int source) {
      ++missing[static_cast<size_t>(i)];
      readers[static_cast<size_t>(source)].push_back(i);
    });
    if (missing[static_cast<size_t>(i)] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const int reader : readers[static_cast<size_t>(order.back())]) {
      if (--missing[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
  }
  if (order.size() != n) return cycle_error(graph, producers, missing);
  return order;
}

}  // namespace enginery
