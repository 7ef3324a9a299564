#include "builder/layer.h"

#include <algorithm>

namespace enginery {
namespace {

std::string name_of(const LayerRequest& layer) {
  return layer.name.empty() ? std::string(op_name(layer.op)) : layer.name;
}

// The operator with its axes counted from the front, as importers count them: equal layers are then
// equal problems.
Op with_plain_axes(Op op, int64_t rank) {
  const auto plain = [rank](int64_t& axis) {
    if (axis < 0 && axis + rank >= 0) axis += rank;
  };
  std::visit(
      [&](auto& o) {
        std::decay_t<decltype(o)>::fields(o, [&](std::string_view field, auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, int64_t>) {
            if (field == "axis") plain(value);
          } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
            if (field == "axes") std::ranges::for_each(value, plain);
          }
        });
      },
      op);
  return op;
}

bool is_converted(DataType input, std::optional<DataType> precision) {
  return precision && is_floating(input) && input != *precision;
}

// The types of the results on inputs whose floating ones are of `precision`.
Result<std::vector<TensorType>> types_in(const Graph& graph, const LayerRequest& layer,
                                         std::optional<DataType> precision) {
  Node node{"", layer.op, layer.inputs, {}};
  std::vector<Operand> operands = graph.operands(node);
  for (Operand& operand : operands) {
    if (!is_converted(operand.type.type, precision) || !operand.present) continue;
    operand.type.type = *precision;
    operand.constant = nullptr;  // a conversion's result is none
  }
  return infer_types(layer.op, operands);
}

ValueId cast_to(Graph& graph, ValueId value, DataType type, const std::string& name) {
  const auto cast = graph.add_node(name, Cast{type}, {value}, {name});
  ENSURE(cast.ok(), "a cast takes every type");
  return cast->front();
}

}  // namespace

Result<std::vector<ValueId>> add_layer(Graph& graph, const LayerRequest& layer) {
  if (layer.precision && !is_floating(*layer.precision))
    return Error{ErrorCode::invalid_argument,
                 "no layer computes in the precision " + std::string(to_string(*layer.precision))};
  TRY(std::vector<TensorType> wanted, types_in(graph, layer, std::nullopt));
  TRY(const std::vector<TensorType> made, types_in(graph, layer, layer.precision));
  if (made.size() > layer.max_outputs)
    return Error{ErrorCode::invalid_argument, "it gives " + std::to_string(made.size()) +
                                                  " tensors, there is room for " +
                                                  std::to_string(layer.max_outputs)};
  std::vector<bool> is_cast;
  for (size_t i = 0; i < made.size(); ++i) {
    if (layer.output_type) wanted[i].type = *layer.output_type;
    is_cast.push_back(wanted[i].type != made[i].type);
  }
  const std::string name = name_of(layer);
  const auto output_name = [&](size_t i) {
    return i < layer.output_names.size() ? layer.output_names[i] : name;
  };
  std::vector<ValueId> inputs = layer.inputs;
  for (ValueId& v : inputs) {
    if (v != kNoValue && is_converted(graph.value(v).type.type, layer.precision))
      v = cast_to(graph, v, *layer.precision, name + "/cast");
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < made.size(); ++i)
    names.push_back(is_cast[i] ? output_name(i) + "/uncast" : output_name(i));
  int64_t rank = 0;  // of what axes count
  if (!inputs.empty() && inputs[0] != kNoValue)
    rank = static_cast<int64_t>(graph.value(inputs[0]).type.dims.size());
  auto outputs = graph.add_node(name, with_plain_axes(layer.op, rank), std::move(inputs), names);
  ENSURE(outputs.ok(), "a layer whose types were inferred");
  for (size_t i = 0; i < outputs->size(); ++i) {
    if (is_cast[i]) (*outputs)[i] = cast_to(graph, (*outputs)[i], wanted[i].type, output_name(i));
  }
  return std::move(*outputs);
}

}  // namespace enginery
