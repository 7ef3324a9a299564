#include "engine/compile/first_overflow.h"

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

std::string overflow_text(const Graph& graph, ValueId v, double largest) {
  const Node& node = graph.node(graph.value(v).producer);
  const std::string layer = "layer '" + node.name + "' (" + std::string(op_name(node.op)) + ")";
  if (graph.value(v).type.type == DataType::float16)
    return layer +
           " overflows float16, its type in the model, which holds 65504 at most; make the "
           "model float32 or bfloat16";
  return layer + " gives " + three_digits(largest) +
         ", more than the 65504 that float16 holds; build with "
         "--precision fp32 or bf16";
}

}  // namespace

Result<std::string> first_overflow(const Graph& graph, const std::vector<Tensor>& inputs,
                                   const std::set<std::string>& stored) {
  std::map<std::string, Tensor> by_name;
  for (size_t i = 0; i < inputs.size(); ++i)
    by_name.emplace(graph.value(graph.inputs()[i]).name, inputs[i]);
  std::string first;
  const auto look = [&](ValueId v, const Tensor& tensor) {
    const Value& value = graph.value(v);
    const bool is_float16 = value.type.type == DataType::float16 || stored.contains(value.name);
    if (!first.empty() || !is_float16 || !is_floating(value.type.type)) return;
    if (const double largest = largest_of(tensor); largest >= kOverflowsFloat16)
      first = overflow_text(graph, v, largest);
  };
  TRY(const auto outputs, run_graph(graph, by_name, look));
  (void)outputs;
  return first;
}

}  // namespace enginery
