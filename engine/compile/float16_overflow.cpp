#include "engine/compile/float16_overflow.h"

#include <algorithm>
#include <cmath>

#include "engine/compile/compare_outputs.h"
#include "engine/graph/run_graph.h"

namespace enginery {
namespace {

// From here on numbers are rounded to infinity; 65504 is the largest below it.
constexpr double kOverflowsFloat16 = 65520;

double largest_of(const Tensor& tensor) {
  const Tensor wide = convert(tensor, DataType::float64);
  double largest = 0;
  for (const double v : wide.data<double>()) largest = std::max(largest, std::abs(v));
  return largest;
}

void say_first(const Graph& graph, ValueId v, double largest, Float16Overflow& out) {
  const Node& node = graph.node(graph.value(v).producer);
  const std::string layer = "layer '" + node.name + "' (" + std::string(op_name(node.op)) + ")";
  if (graph.value(v).type.type == DataType::float16) {
    out.first = layer + " overflows float16, its type in the model, which holds 65504 at most";
    out.remedy = "make the model float32 or bfloat16";
    return;
  }
  out.first =
      layer + " gives " + three_digits(largest) + ", more than the 65504 that float16 holds";
  out.remedy = "build with --precision fp32 or bf16";
}

// The nodes that give one of the values or read it.
std::set<std::string> layers_around(const Graph& graph, const std::set<ValueId>& values) {
  const auto touches = [&](const std::vector<ValueId>& list) {
    return std::ranges::any_of(list, [&](ValueId v) { return values.contains(v); });
  };
  std::set<std::string> out;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    if (!node.erased && (touches(node.inputs) || touches(node.outputs))) out.insert(node.name);
  }
  return out;
}

}  // namespace

Result<Float16Overflow> float16_overflow(const Graph& graph, const std::vector<Tensor>& inputs,
                                         const std::set<std::string>& stored) {
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < inputs.size(); ++i)
    by_name.emplace(graph.value(graph.inputs()[i]).name, inputs[i]);
  Float16Overflow out;
  std::set<ValueId> beyond;
  const auto is_of_interest = [&](ValueId v) {
    const Value& value = graph.value(v);
    if (value.producer == kNoNode || !is_floating(value.type.type)) return false;
    return value.type.type == DataType::float16 || stored.contains(value.name) ||
           std::ranges::any_of(graph.node(value.producer).inputs,
                               [&](ValueId from) { return beyond.contains(from); });
  };
  const auto look = [&](ValueId v, const Tensor& tensor) {
    if (!is_of_interest(v)) return;
    const double largest = largest_of(tensor);
    if (largest < kOverflowsFloat16) return;
    if (out.first.empty()) say_first(graph, v, largest, out);
    if (graph.value(v).type.type != DataType::float16) beyond.insert(v);
  };
  TRY(const auto outputs, run_graph(graph, by_name, look));
  (void)outputs;
  out.layers = layers_around(graph, beyond);
  return out;
}

}  // namespace enginery
