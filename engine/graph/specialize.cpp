#include <algorithm>

#include "engine/graph/graph.h"

namespace enginery {
namespace {

std::string symbol_text(const Graph& graph, int64_t size) {
  const size_t index = static_cast<size_t>(-2 - size);
  return size <= -2 && index < graph.symbols.size() ? graph.symbols[index] : "?";
}

// The sizes that the given shapes imply for symbols; a symbol given two sizes is an error.
Result<std::map<int64_t, int64_t>> bind_symbols(const Graph& graph,
                                                const std::map<std::string, Dims>& shapes) {
  std::map<int64_t, int64_t> sizes;
  for (const auto& [name, dims] : shapes) {
    const auto name_of = [&](ValueId v) -> const std::string& { return graph.value(v).name; };
    const auto found = std::ranges::find(graph.inputs(), name, name_of);
    if (found == graph.inputs().end()) {
      std::string known;
      for (const ValueId v : graph.inputs())
        known += (known.empty() ? "" : ", ") + graph.value(v).name;
      return Error{ErrorCode::invalid_argument,
                   "the model has no input '" + name + "' (it has: " + known + ")"};
    }
    const Dims& declared = graph.value(*found).type.dims;
    if (declared.size() != dims.size() || !is_static(dims)) {
      return Error{ErrorCode::invalid_argument,
                   "input '" + name + "' has " + std::to_string(declared.size()) +
                       " dimensions, the shape " + to_string(dims) + " does not fit"};
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      if (declared[i] > -2) continue;
      const auto [at, fresh] = sizes.emplace(declared[i], dims[i]);
      if (!fresh && at->second != dims[i]) {
        return Error{ErrorCode::invalid_argument, "input '" + name + "': dimension '" +
                                                      symbol_text(graph, declared[i]) + "' is " +
                                                      std::to_string(dims[i]) + " here and " +
                                                      std::to_string(at->second) + " elsewhere"};
      }
    }
  }
  return sizes;
}

Result<Dims> bound_dims(const Graph& graph, ValueId input,
                        const std::map<std::string, Dims>& shapes,
                        const std::map<int64_t, int64_t>& sizes,
                        std::vector<std::string>& defaulted) {
  const Value& value = graph.value(input);
  const auto given = shapes.find(value.name);
  Dims dims = given != shapes.end() ? given->second : value.type.dims;
  for (int64_t& d : dims) {
    if (d >= 0) continue;
    const auto bound = sizes.find(d);
    if (bound == sizes.end())
      defaulted.push_back(value.name + ": " + symbol_text(graph, d) + " = 1");
    d = bound == sizes.end() ? 1 : bound->second;
  }
  const auto checked = checked_volume(dims, element_bytes(value.type.type));
  if (!checked) return checked.error().within("input '" + value.name + "'");
  return dims;
}

}  // namespace

Result<SpecializedGraph> specialize(const Graph& graph, const std::map<std::string, Dims>& shapes) {
  TRY(const auto sizes, bind_symbols(graph, shapes));
  SpecializedGraph out{graph, {}};
  for (const ValueId v : graph.inputs()) {
    TRY(out.graph.value(v).type.dims, bound_dims(graph, v, shapes, sizes, out.defaulted));
  }
  out.graph.symbols.clear();
  for (const NodeId id : out.graph.topological_order()) {
    Node& node = out.graph.node(id);
    const auto types = infer_types(node.op, out.graph.operands(node));
    if (!types) {
      return types.error().within("node '" + node.name + "' (" + std::string(op_name(node.op)) +
                                  ")");
    }
    for (size_t i = 0; i < node.outputs.size(); ++i)
      out.graph.value(node.outputs[i]).type = (*types)[i];
  }
  return out;
}

}  // namespace enginery
