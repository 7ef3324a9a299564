#include "engine/graph/run_graph.h"

namespace enginery {

std::vector<size_t> reader_counts(const Graph& graph, const std::vector<NodeId>& order) {
  std::vector<size_t> out(static_cast<size_t>(graph.value_count()), 0);
  for (const NodeId id : order) {
    for (const ValueId v : graph.node(id).inputs) {
      if (v != kNoValue) ++out[static_cast<size_t>(v)];
    }
  }
  return out;
}

Result<std::map<std::string, Tensor>> run_graph(const Graph& graph,
                                                const std::map<std::string, Tensor>& inputs,
                                                const ValueMade& made) {
  std::vector<std::optional<Tensor>> values(static_cast<size_t>(graph.value_count()));
  for (ValueId v = 0; v < graph.value_count(); ++v)
    values[static_cast<size_t>(v)] = graph.value(v).constant;
  for (const ValueId v : graph.inputs()) {
    const auto given = inputs.find(graph.value(v).name);
    if (given == inputs.end())
      return Error{ErrorCode::invalid_argument, "no value for input '" + graph.value(v).name + "'"};
    values[static_cast<size_t>(v)] = given->second;
  }
  // A value is dropped after its last reader, so that large models fit.
  const std::vector<NodeId> order = graph.needed_order();
  std::vector<size_t> readers_left = reader_counts(graph, order);
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    std::vector<const Tensor*> in;
    for (const ValueId v : node.inputs)
      in.push_back(v == kNoValue ? nullptr : &*values[static_cast<size_t>(v)]);
    const auto out = run_reference(node.op, in);
    if (!out)
      return out.error().within("node '" + node.name + "' (" + std::string(op_name(node.op)) + ")");
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (made) made(node.outputs[i], (*out)[i]);
      const ValueId v = node.outputs[i];
      if (readers_left[static_cast<size_t>(v)] > 0 || graph.is_output(v))
        values[static_cast<size_t>(v)] = std::move((*out)[i]);
    }
    for (const ValueId v : node.inputs) {
      if (v != kNoValue && --readers_left[static_cast<size_t>(v)] == 0 && !graph.is_output(v))
        values[static_cast<size_t>(v)].reset();
    }
  }
  std::map<std::string, Tensor> outputs;
  for (const ValueId v : graph.outputs())
    outputs[graph.value(v).name] = *values[static_cast<size_t>(v)];
  return outputs;
}

Result<std::map<std::string, Tensor>> with_actual_sizes(const Graph& graph,
                                                        std::map<std::string, Tensor> outputs) {
  const auto name = [&](size_t i) { return graph.value(graph.outputs()[i]).name; };
  std::map<std::string, Tensor> out;
  for (size_t i = 0; i < graph.own_output_count(); ++i) {
    const Tensor& whole = outputs.at(name(i));
    Dims dims = whole.dims();
    for (const RunTimeSize& size : graph.run_time_sizes) {
      if (size.output != i) continue;
      int64_t& dim = dims[static_cast<size_t>(size.axis)];
      TRY(dim, counted_size(outputs.at(name(size.count)), dim, name(i)));
    }
    out.emplace(name(i), with_dims(whole, std::move(dims)));
  }
  return out;
}

}  // namespace enginery
