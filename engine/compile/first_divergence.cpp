#include "engine/compile/first_divergence.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/graph/run_graph.h"

namespace enginery {
namespace {

constexpr int64_t kSamples = 4096;

// What is kept of a value: its type and elements at places that depend on the type alone.
struct Fingerprint {
  TensorType type;
  std::vector<double> samples;
};

Fingerprint fingerprint_of(const Tensor& tensor) {
  Fingerprint out{tensor.tensor_type(), {}};
  const Tensor wide = convert(tensor, DataType::float64);
  const auto elements = wide.data<double>();
  if (tensor.size() <= kSamples) {
    out.samples.assign(elements.begin(), elements.end());
    return out;
  }
  std::mt19937_64 random(static_cast<uint64_t>(tensor.size()));
  for (int64_t i = 0; i < kSamples; ++i)
    out.samples.push_back(elements[random() % elements.size()]);
  return out;
}

bool agree(const Fingerprint& a, const Fingerprint& b, double bar) {
  if (a.type != b.type) return false;
  double largest = 0;
  for (const double v : b.samples) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  for (size_t i = 0; i < a.samples.size(); ++i) {
    const double x = a.samples[i], y = b.samples[i];
    if (x == y || std::isnan(y)) continue;
    if (!(std::abs(x - y) <= bar * largest)) return false;
  }
  return true;
}

// The fingerprints of every value that the graph computes, by ValueId; empty types for the others.
Result<std::vector<Fingerprint>> run(const Graph& graph, const std::vector<Tensor>& inputs) {
  std::vector<Fingerprint> out(static_cast<size_t>(graph.value_count()));
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < inputs.size(); ++i)
    by_name.emplace(graph.value(graph.inputs()[i]).name, inputs[i]);
  const auto keep = [&](ValueId v, const Tensor& tensor) {
    out[static_cast<size_t>(v)] = fingerprint_of(tensor);
  };
  TRY(const auto outputs, run_graph(graph, by_name, keep));
  // Outputs that no node makes: inputs and constants.
  for (const ValueId v : graph.outputs()) {
    if (out[static_cast<size_t>(v)].samples.empty()) keep(v, outputs.at(graph.value(v).name));
  }
  return out;
}

}  // namespace

Result<std::string> first_divergence(const Graph& imported, const Graph& optimised,
                                     const std::vector<Tensor>& inputs, double bar) {
  TRY(const auto expected, run(imported, inputs));
  TRY(const auto actual, run(optimised, inputs));
  // Values from which a wrong output comes with nothing right in between.
  std::vector<bool> suspect(actual.size(), false);
  for (size_t i = 0; i < optimised.outputs().size(); ++i) {
    const auto v = static_cast<size_t>(optimised.outputs()[i]);
    const auto r = static_cast<size_t>(imported.outputs()[i]);
    suspect[v] = suspect[v] || !agree(actual[v], expected[r], bar);
  }
  const auto is_right = [&](ValueId v) {
    return std::ranges::any_of(expected, [&](const Fingerprint& e) {
      return !e.samples.empty() && agree(actual[static_cast<size_t>(v)], e, bar);
    });
  };
  const std::vector<NodeId> order = optimised.topological_order();
  std::string first;
  for (size_t i = order.size(); i-- > 0;) {
    const Node& node = optimised.node(order[i]);
    const bool wrong = std::ranges::any_of(
        node.outputs, [&](ValueId v) { return suspect[static_cast<size_t>(v)]; });
    if (!wrong) continue;
    first = "layer '" + node.name + "' (" + std::string(op_name(node.op)) + ")";
    for (const ValueId v : node.inputs) {
      if (v == kNoValue || optimised.value(v).producer == kNoNode) continue;
      if (!is_right(v)) suspect[static_cast<size_t>(v)] = true;
    }
  }
  return first;
}

}  // namespace enginery
