#include "engine/graph/graph.h"

#include <algorithm>

#include "engine/graph/late_constants.h"

namespace enginery {

std::string Graph::unique_name(std::string wanted) {
  if (wanted.empty()) wanted = "v";
  int& count = names_[wanted];
  if (count++ == 0) return wanted;
  while (true) {
    std::string candidate = wanted + "." + std::to_string(count - 1);
    if (names_[candidate]++ == 0) return candidate;
    ++names_[wanted];
  }
}

ValueId Graph::add_input(std::string input_name, TensorType type) {
  values_.push_back({unique_name(std::move(input_name)), std::move(type), std::nullopt, kNoNode});
  inputs_.push_back(value_count() - 1);
  return inputs_.back();
}

ValueId Graph::add_constant(std::string constant_name, Tensor tensor) {
  TensorType type = tensor.tensor_type();
  values_.push_back(
      {unique_name(std::move(constant_name)), std::move(type), std::move(tensor), kNoNode});
  return value_count() - 1;
}

std::vector<Operand> Graph::operands(const Node& node) const {
  std::vector<Operand> out;
  out.reserve(node.inputs.size());
  for (const ValueId id : node.inputs) {
    out.push_back(id == kNoValue ? Operand{false, {}, nullptr}
                                 : Operand{true, value(id).type, constant(id)});
  }
  return out;
}

Result<std::vector<ValueId>> Graph::add_node(std::string node_name, Op op,
                                             std::vector<ValueId> inputs,
                                             const std::vector<std::string>& output_names) {
  Node node{std::move(node_name), std::move(op), std::move(inputs), {}, kNoGroup, false};
  TRY(auto types, infer_types(node.op, operands(node)));
  const NodeId id = node_count();
  for (size_t i = 0; i < types.size(); ++i) {
    std::string output = i < output_names.size() ? output_names[i] : node.name;
    values_.push_back({unique_name(std::move(output)), std::move(types[i]), std::nullopt, id});
    node.outputs.push_back(value_count() - 1);
  }
  if (node.name.empty() && !node.outputs.empty()) node.name = value(node.outputs[0]).name;
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

Status Graph::mark_output(ValueId id, std::string output_name) {
  if (id < 0 || id >= value_count())
    return Error{ErrorCode::invalid_argument, "output of an unknown value"};
  if (!output_name.empty() && value(id).name != output_name) {
    give_up_name(output_name);
    value(id).name = unique_name(std::move(output_name));
  }
  outputs_.push_back(id);
  return {};
}

// An inner value that took an output's name first gets another one.
void Graph::give_up_name(const std::string& wanted) {
  if (!names_.contains(wanted)) return;
  const auto holder = std::find_if(values_.begin(), values_.end(),
                                   [&](const Value& v) { return v.name == wanted; });
  if (holder == values_.end()) return;
  const auto id = static_cast<ValueId>(holder - values_.begin());
  if (is_output(id) || std::find(inputs_.begin(), inputs_.end(), id) != inputs_.end()) return;
  holder->name = unique_name(wanted);
  names_.erase(wanted);
}

void Graph::set_output(size_t index, ValueId id) {
  value(id).name = value(outputs_[index]).name;  // both keep it: an input may be an output too
  outputs_[index] = id;
}

int64_t Graph::symbol_size(const std::string& symbol) {
  auto found = std::find(symbols.begin(), symbols.end(), symbol);
  if (found == symbols.end()) found = symbols.insert(symbols.end(), symbol);
  return -2 - (found - symbols.begin());
}

int32_t Graph::live_node_count() const {
  return static_cast<int32_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const Node& n) { return !n.erased; }));
}

std::vector<NodeId> Graph::topological_order() const {
  return late_constants(*this, breadth_first_order());
}

std::vector<NodeId> Graph::needed_order() const {
  std::vector<bool> needed(values_.size(), false);
  for (const ValueId v : outputs_) needed[static_cast<size_t>(v)] = true;
  std::vector<NodeId> order = topological_order(), out;
  for (size_t i = order.size(); i-- > 0;) {
    const Node& n = node(order[i]);
    if (std::none_of(n.outputs.begin(), n.outputs.end(),
                     [&](ValueId v) { return needed[static_cast<size_t>(v)]; }))
      continue;
    for (const ValueId v : n.inputs) {
      if (v != kNoValue) needed[static_cast<size_t>(v)] = true;
    }
    out.push_back(order[i]);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<NodeId> Graph::breadth_first_order() const {
  // Kahn's algorithm with a cursor: passes may add a producer behind its consumer, so table order
  // is not enough.
  std::vector<int32_t> missing(nodes_.size(), 0);
  std::vector<std::vector<NodeId>> readers = users();
  std::vector<NodeId> order;
  order.reserve(nodes_.size());
  for (NodeId id = 0; id < node_count(); ++id) {
    if (node(id).erased) continue;
    for (const ValueId v : node(id).inputs) {
      if (v != kNoValue && value(v).producer != kNoNode) ++missing[static_cast<size_t>(id)];
    }
    if (missing[static_cast<size_t>(id)] == 0) order.push_back(id);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const ValueId v : node(order[i]).outputs) {
      for (const NodeId reader : readers[static_cast<size_t>(v)]) {
        if (--missing[static_cast<size_t>(reader)] == 0) order.push_back(reader);
      }
    }
  }
  return order;
}

std::vector<std::vector<NodeId>> Graph::users() const {
  std::vector<std::vector<NodeId>> out(values_.size());
  for (NodeId id = 0; id < node_count(); ++id) {
    if (node(id).erased) continue;
    for (const ValueId v : node(id).inputs) {
      if (v != kNoValue) out[static_cast<size_t>(v)].push_back(id);
    }
  }
  return out;
}

bool Graph::is_output(ValueId id) const {
  return std::find(outputs_.begin(), outputs_.end(), id) != outputs_.end();
}

const Tensor* Graph::constant(ValueId id) const {
  return id != kNoValue && value(id).constant ? &*value(id).constant : nullptr;
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Node& n : nodes_) {
    if (!n.erased) std::replace(n.inputs.begin(), n.inputs.end(), from, to);
  }
  replace_outputs(from, to);
}

void Graph::replace_uses(ValueId from, ValueId to, const std::vector<NodeId>& readers) {
  for (const NodeId id : readers)
    std::replace(node(id).inputs.begin(), node(id).inputs.end(), from, to);
  replace_outputs(from, to);
}

void Graph::replace_outputs(ValueId from, ValueId to) {
  if (is_output(from)) {
    std::replace(outputs_.begin(), outputs_.end(), from, to);
    std::swap(value(from).name, value(to).name);
  }
}

void Graph::erase_node(NodeId id) {
  node(id).erased = true;
  for (const ValueId v : node(id).outputs) value(v).producer = kNoNode;
}

void Graph::erase_input(ValueId id) {
  inputs_.erase(std::remove(inputs_.begin(), inputs_.end(), id), inputs_.end());
}

}  // namespace enginery
