#include "engine/import/onnx/block_reader.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "engine/import/onnx/attributes.h"
#include "engine/import/onnx/node_order.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

// Exporters nest a handful of functions and subgraphs; a function that calls itself ends here.
constexpr int kMaxBlockDepth = 24;

Error invalid_block(const std::string& message) {
  return {ErrorCode::invalid_argument, message};
}

Error is_unsupported(const std::string& message) {
  return {ErrorCode::unsupported, message};
}

// What reading the block costs besides its initialisers, which are read once.
int64_t bytes_of_nodes(const onnx::GraphProto& proto) {
  size_t bytes = proto.ByteSizeLong();
  for (const auto& tensor : proto.initializer()) bytes -= tensor.ByteSizeLong();
  return static_cast<int64_t>(bytes);
}

// Attributes that a call passes on are copied for each node that refers to them.
int64_t bytes_of_lists(const Attributes& attributes) {
  size_t bytes = 0;
  for (const auto& [name, value] : attributes) {
    if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) bytes += 8 * ints->size();
    if (const auto* floats = std::get_if<std::vector<float>>(&value)) bytes += 4 * floats->size();
    if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
  }
  return static_cast<int64_t>(bytes);
}

Error too_much() {
  return is_unsupported("functions, branches and loops come to too many nodes (limit " +
                        std::to_string(kMaxNodes) + ")");
}

}  // namespace

BlockReader::BlockReader(onnx::GraphProto& proto, BlockPlace place, ImportState& state,
                         Graph& graph)
    : proto_(proto), owned_(&proto), place_(std::move(place)), state_(state), graph_(graph) {}

BlockReader::BlockReader(const onnx::GraphProto& proto, BlockPlace place, ImportState& state,
                         Graph& graph)
    : proto_(proto), owned_(nullptr), place_(std::move(place)), state_(state), graph_(graph) {}

// Every tensor is checked, also those that nothing uses: a file that is wrong somewhere is wrong.
Status BlockReader::list_initializers() {
  const auto twice = [](const std::string& name) {
    return invalid_block("two initialisers are called '" + printable(name) + "'");
  };
  for (int i = 0; i < proto_.initializer_size(); ++i) {
    const auto& tensor = proto_.initializer(i);
    CHECK_OK(check_name(tensor.name()));
    if (!dense_.emplace(tensor.name(), i).second) return twice(tensor.name());
    if (state_.constants.count(&tensor) == 0) CHECK_OK(state_.weights.check(tensor));
  }
  for (int i = 0; i < proto_.sparse_initializer_size(); ++i) {
    const std::string& name = proto_.sparse_initializer(i).values().name();
    CHECK_OK(check_name(name));
    if (dense_.count(name) || !sparse_.emplace(name, i).second) return twice(name);
  }
  return {};
}

bool BlockReader::has_initializer(const std::string& name) const {
  return dense_.count(name) > 0 || sparse_.count(name) > 0;
}

Status BlockReader::read_nodes() {
  TRY(const std::vector<int> order, node_order(proto_));
  for (const auto& node : proto_.node()) {
    used_.insert(node.input().begin(), node.input().end());
    for (std::string& name : captured_names(node)) used_.insert(std::move(name));
  }
  for (const auto& output : proto_.output()) used_.insert(output.name());
  for (const int index : order) read_node(index);
  return {};
}

// Outputs that nothing reads lose their names: readers need not make them.
Result<SourceNode> BlockReader::source_node(const onnx::NodeProto& proto) {
  if (place_.bound && state_.bytes_left < 0) return too_much();
  TRY(SourceNode node, to_source_node(proto, state_.weights, place_.bound));
  if (place_.bound) state_.bytes_left -= bytes_of_lists(node.attributes);
  if (node.outputs.empty()) return invalid_block(node_text(node) + ": it has no output");
  for (std::string& output : node.outputs) {
    if (used_.count(output) == 0 && &output != &node.outputs[0]) output.clear();
  }
  if (!node.name.empty() && !state_.node_names.insert(node.name).second)
    node.name.clear();  // names its nodes by its output
  return node;
}

void BlockReader::read_node(int index) {
  current_ = &proto_.node(index);
  auto node = source_node(*current_);
  for (const std::string& output : current_->output()) {
    if (!output.empty()) values_[output] = SourceValue();
  }
  if (!node) return state_.problems.add(node.error());
  std::vector<SourceValue> inputs;
  for (const std::string& name : node->inputs) {
    auto value = name.empty() ? Result<SourceValue>(SourceValue::nothing()) : find(name);
    if (!value) state_.problems.add(value.error().within(node_text(*node)));
    inputs.push_back(value.ok() ? *value : SourceValue());
  }
  const bool known = std::ranges::all_of(inputs, &SourceValue::is_known);
  const Function* function = state_.functions.find(node->domain, node->op_type);
  if (!function) ++surveyed(*node).nodes;
  if (!function && (place_.opset == 0 || !find_reader(node->domain, node->op_type)))
    add_problem(*node, inputs, is_unsupported("the operator is not supported"));
  else if (known && function)
    call(*function, *node, inputs);
  else if (known)
    read_known_node(*node, inputs);
  else
    ++state_.unchecked;
  if (owned_) owned_->mutable_node(index)->clear_attribute();
}

SurveyedOperator& BlockReader::surveyed(const SourceNode& node) {
  const std::string domain = is_standard_domain(node.domain) ? "" : node.domain + ".";
  return state_.operators[domain + node.op_type];
}

// A size that each run tells is no size for readers that compute with dims.
Status BlockReader::check_open_axes(const SourceNode& node,
                                    const std::vector<SourceValue>& inputs) const {
  if (reads_open_axes(node.domain, node.op_type)) return {};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<ValueId> tensors =
        inputs[i].list ? *inputs[i].list : std::vector<ValueId>{inputs[i].tensor};
    for (const ValueId v : tensors) {
      const OpenValue& open = state_.open.of(v);
      if (open.axes.empty()) continue;
      return is_unsupported("the size of dimension " + std::to_string(open.axes[0].axis) +
                            " of its input " + std::to_string(i) +
                            " is known after a run alone, and the operator does not take that");
    }
  }
  return {};
}

void BlockReader::read_known_node(const SourceNode& node, const std::vector<SourceValue>& inputs) {
  if (const Status open = check_open_axes(node, inputs); !open.ok())
    return add_problem(node, inputs, open.error());
  NodeReader reader(node, inputs, place_.opset, graph_, state_.budget, state_.open, *this);
  find_reader(node.domain, node.op_type)->read(reader);
  if (reader.has_unknown()) return;
  const Status status = reader.finish();
  if (!status.ok()) return add_problem(node, inputs, status.error());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const bool made = i < reader.results().size() && reader.results()[i].is_known();
    if (made)
      values_[node.outputs[i]] = reader.results()[i];
    else if (!node.outputs[i].empty() && used_.count(node.outputs[i]) > 0)
      add_problem(node, inputs,
                  is_unsupported("its output " + std::to_string(i) + " '" + node.outputs[i] +
                                 "' is not supported"));
  }
}

// The body is read with the call's attributes over the function's defaults.
void BlockReader::call(const Function& function, const SourceNode& node,
                       const std::vector<SourceValue>& inputs) {
  if (function.is_ambiguous)
    return add_problem(node, inputs, is_unsupported("overloaded functions are not supported"));
  Attributes bound = node.attributes;
  bound.insert(function.defaults.begin(), function.defaults.end());
  std::vector<SourceValue> given = inputs;
  const auto declared = static_cast<size_t>(function.body->input_size());
  if (given.size() < declared) given.resize(declared, SourceValue::nothing());
  const BlockPlace place{function.opset > 0 ? function.opset : place_.opset, &bound, nullptr,
                         place_.depth + 1, node.op_type};
  const auto outputs = read_inner(*function.body, place, given);
  if (!outputs) return add_problem(node, inputs, outputs.error());
  for (size_t i = 0; i < node.outputs.size() && i < outputs->size(); ++i)
    values_[node.outputs[i]] = (*outputs)[i];
  if (node.outputs.size() > outputs->size())
    add_problem(node, inputs, invalid_block("the function has fewer outputs than the node"));
}

Result<std::vector<SourceValue>> BlockReader::read_body(const std::string& attribute,
                                                        const std::vector<SourceValue>& inputs) {
  const onnx::NodeProto* node = current_;
  for (const auto& candidate : node->attribute()) {
    if (candidate.name() != attribute || !candidate.has_g()) continue;
    BlockPlace place = place_;
    place.outer = this;
    ++place.depth;
    return read_inner(candidate.g(), place, inputs);
  }
  return invalid_block("attribute " + attribute + " is missing or no subgraph");
}

Result<std::vector<SourceValue>> BlockReader::read_inner(const onnx::GraphProto& proto,
                                                         const BlockPlace& place,
                                                         const std::vector<SourceValue>& inputs) {
  if (place.depth > kMaxBlockDepth)
    return is_unsupported("functions or subgraphs nest deeper than " +
                          std::to_string(kMaxBlockDepth) + ", or a function calls itself");
  state_.nodes_left -= 1 + proto.node_size();
  state_.bytes_left -= bytes_of_nodes(proto);
  if (state_.nodes_left < 0 || state_.bytes_left < 0) return too_much();
  if (static_cast<size_t>(proto.input_size()) != inputs.size())
    return invalid_block("'" + printable(proto.name()) + "' has " +
                         std::to_string(proto.input_size()) + " inputs, " +
                         std::to_string(inputs.size()) + " are given");
  BlockReader inner(proto, place, state_, graph_);
  CHECK_OK(inner.list_initializers());
  for (int i = 0; i < proto.input_size(); ++i)
    inner.define(proto.input(i).name(), inputs[static_cast<size_t>(i)]);
  CHECK_OK(inner.read_nodes());
  std::vector<SourceValue> outputs;
  for (const auto& output : proto.output()) {
    TRY(outputs.emplace_back(), inner.find(output.name()));
  }
  return outputs;
}

std::string BlockReader::type_text(const SourceValue& value) const {
  if (value.kind == SourceValue::Kind::absent) return "none";
  if (value.kind == SourceValue::Kind::unknown) return "?";
  if (value.list) return "a sequence of " + std::to_string(value.list->size());
  const TensorType& type = graph_.value(value.tensor).type;
  std::string dims;
  for (const int64_t d : type.dims) {
    const bool named = d <= -2 && static_cast<size_t>(-2 - d) < graph_.symbols.size();
    dims += (dims.empty() ? "" : "x") + (d >= 0  ? std::to_string(d)
                                         : named ? graph_.symbols[static_cast<size_t>(-2 - d)]
                                                 : "?");
  }
  return std::string(to_string(type.type)) + "[" + dims + "]";
}

// file (added by the caller), node, operator, reason, attributes and input shapes.
void BlockReader::add_problem(const SourceNode& node, const std::vector<SourceValue>& inputs,
                              const Error& reason) {
  SurveyedOperator& kind = surveyed(node);
  if (kind.unsupported++ == 0) {
    kind.first = shown_name(node);
    kind.reason = reason.message;
  }
  std::string shapes;
  for (size_t i = 0; i < inputs.size() && i < 8; ++i)
    shapes += (i ? ", " : "") + type_text(inputs[i]);
  if (inputs.size() > 8) shapes += ", ...";
  const std::string attributes = attributes_text(node);
  const std::string where =
      place_.function.empty() ? "" : "function '" + printable(place_.function) + "': ";
  state_.problems.add(
      {reason.code, where + node_text(node) + ": " + reason.message + " [operator set " +
                        std::to_string(place_.opset) +
                        "; attributes: " + (attributes.empty() ? "none" : attributes) +
                        "; inputs: " + (shapes.empty() ? "none" : shapes) + "]"});
}

Result<SourceValue> BlockReader::find(const std::string& name) {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  if (has_initializer(name)) return add_initializer(name);
  if (place_.outer) return place_.outer->find(name);
  return invalid_block("it reads '" + printable(name) + "', which nothing makes");
}

Result<SourceValue> BlockReader::add_initializer(const std::string& name) {
  const auto dense = dense_.find(name), sparse = sparse_.find(name);
  const bool is_dense = dense != dense_.end();
  const void* key = is_dense ? static_cast<const void*>(&proto_.initializer(dense->second))
                             : &proto_.sparse_initializer(sparse->second);
  const auto known = state_.constants.find(key);
  if (known != state_.constants.end()) return values_[name] = SourceValue::of(known->second);
  values_[name] = SourceValue();
  TRY(Tensor tensor, is_dense ? state_.weights.read(proto_.initializer(dense->second))
                              : state_.weights.read(proto_.sparse_initializer(sparse->second)));
  if (owned_ && is_dense) owned_->mutable_initializer(dense->second)->Clear();
  const ValueId id = graph_.add_constant(name, std::move(tensor));
  if (!owned_) state_.constants[key] = id;
  return values_[name] = SourceValue::of(id);
}

}  // namespace enginery
