#include "engine/import/onnx/graph_reader.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "engine/import/onnx/attributes.h"
#include "engine/import/onnx/node_order.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

constexpr int64_t kOldestOpset = 1, kNewestOpset = 21;
// Ten times the largest models that exporters write; beyond it a file is a mistake or an attack.
constexpr int kMaxNodes = 200'000, kMaxInputs = 1024, kMaxOutputs = 1024,
              kMaxInitializers = 200'000;

Error invalid(const std::string& message) {
  return {ErrorCode::invalid_argument, message};
}

bool is_standard(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

Status check_count(const char* what, int count, int most) {
  if (count <= most) return {};
  return Error{ErrorCode::unsupported, "it has " + std::to_string(count) + " " + what +
                                           ", at most " + std::to_string(most) + " are supported"};
}

}  // namespace

GraphReader::GraphReader(onnx::ModelProto& model, const ModelSource& source,
                         const ImportOptions& options)
    : model_(model), proto_(*model.mutable_graph()), options_(options), weights_(source.folder) {}

Result<ImportedModel> GraphReader::read() {
  CHECK_OK(read_operator_sets());
  CHECK_OK(check_limits());
  CHECK_OK(check_name(proto_.name()));
  out_.graph.name = proto_.name();
  CHECK_OK(list_initializers());
  CHECK_OK(add_inputs());
  CHECK_OK(read_nodes());
  CHECK_OK(mark_outputs());
  if (!problems_.empty()) return problems_.error();
  CHECK_OK(verify(out_.graph));
  return std::move(out_);
}

Status GraphReader::read_operator_sets() {
  bool any = false;
  for (const auto& set : model_.opset_import()) {
    if (!is_standard(set.domain())) continue;
    any = true;
    opset_ = std::max<int64_t>(opset_, set.version());
  }
  if (!any) return {};  // then every node is of another domain, and unsupported
  if (opset_ < kOldestOpset || opset_ > kNewestOpset) {
    return Error{ErrorCode::unsupported,
                 "operator set " + std::to_string(opset_) + " is not supported, sets " +
                     std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) + " are"};
  }
  return {};
}

Status GraphReader::check_limits() const {
  CHECK_OK(check_count("nodes", proto_.node_size(), kMaxNodes));
  CHECK_OK(check_count("initialisers", proto_.initializer_size() + proto_.sparse_initializer_size(),
                       kMaxInitializers));
  CHECK_OK(check_count("outputs", proto_.output_size(), kMaxOutputs));
  return {};
}

// Every tensor is checked, also those that nothing uses: a file that is wrong somewhere is wrong.
Status GraphReader::list_initializers() {
  for (int i = 0; i < proto_.initializer_size(); ++i) {
    const auto& tensor = proto_.initializer(i);
    CHECK_OK(check_name(tensor.name()));
    if (!dense_.emplace(tensor.name(), i).second)
      return invalid("two initialisers are called '" + printable(tensor.name()) + "'");
    CHECK_OK(weights_.check(tensor));
  }
  for (int i = 0; i < proto_.sparse_initializer_size(); ++i) {
    const std::string& name = proto_.sparse_initializer(i).values().name();
    CHECK_OK(check_name(name));
    if (dense_.count(name) || !sparse_.emplace(name, i).second)
      return invalid("two initialisers are called '" + printable(name) + "'");
  }
  return {};
}

// Initialisers that are listed as inputs (the habit before IR version 4) are constants, not inputs.
Status GraphReader::add_inputs() {
  std::vector<const onnx::ValueInfoProto*> inputs;
  std::unordered_set<std::string> names;
  for (const auto& info : proto_.input()) {
    if (!names.insert(info.name()).second)
      return invalid("two inputs are called '" + printable(info.name()) + "'");
    if (dense_.count(info.name()) == 0 && sparse_.count(info.name()) == 0) inputs.push_back(&info);
  }
  CHECK_OK(check_count("inputs", static_cast<int>(inputs.size()), kMaxInputs));
  TRY(InputTypes types, InputTypes::read(inputs, options_));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = inputs[i]->name();
    const TensorType type = types.type(i, out_.graph);
    const auto given = options_.values.find(name);
    if (given != options_.values.end())
      CHECK_OK(add_given_value(name, type, given->second));
    else
      values_[name] = out_.graph.add_input(name, type);
  }
  out_.notes = types.notes();
  return {};
}

Status GraphReader::add_given_value(const std::string& name, const TensorType& type,
                                    const Tensor& tensor) {
  bool fits = tensor.type() == type.type && tensor.rank() == static_cast<int64_t>(type.dims.size());
  for (size_t i = 0; fits && i < type.dims.size(); ++i)
    fits = type.dims[i] < 0 || type.dims[i] == tensor.dims()[i];
  if (!fits)
    return invalid("input '" + name + "' is " + to_string(type) + ", the given value is " +
                   to_string(tensor.tensor_type()));
  values_[name] = out_.graph.add_constant(name, tensor);
  return {};
}

Status GraphReader::read_nodes() {
  TRY(const std::vector<int> order, node_order(proto_));
  for (const auto& node : proto_.node()) used_.insert(node.input().begin(), node.input().end());
  for (const auto& output : proto_.output()) used_.insert(output.name());
  for (const int index : order) read_node(index);
  return {};
}

void GraphReader::read_node(int index) {
  auto node = to_source_node(proto_.node(index), weights_);
  proto_.mutable_node(index)->clear_attribute();
  if (!node) {
    for (const std::string& output : proto_.node(index).output()) values_[output] = kNoValue;
    return problems_.add(node.error());
  }
  if (node->outputs.empty())
    return problems_.add({ErrorCode::invalid_argument, node_text(*node) + ": it has no output"});
  for (std::string& output : node->outputs) {
    if (used_.count(output) == 0 && &output != &node->outputs[0])
      output.clear();  // readers need not make it
    if (!output.empty()) values_[output] = kNoValue;
  }
  if (!node->name.empty() && !node_names_.insert(node->name).second)
    node->name.clear();  // names its nodes by its output
  std::vector<ValueId> inputs;
  bool known = true;
  for (const std::string& name : node->inputs) {
    const auto value = name.empty() ? Result<ValueId>(kNoValue) : find(name);
    if (!value) problems_.add(value.error().within(node_text(*node)));
    inputs.push_back(value.ok() ? *value : kNoValue);
    known = known && (name.empty() || inputs.back() != kNoValue);
  }
  const OperatorReader* reader =
      is_standard(node->domain) && opset_ > 0 ? find_reader(node->op_type) : nullptr;
  if (!reader)
    return problems_.add(
        problem(*node, inputs, {ErrorCode::unsupported, "the operator is not supported"}));
  if (known) read_known_node(*node, inputs);
}

void GraphReader::read_known_node(const SourceNode& node, const std::vector<ValueId>& inputs) {
  NodeReader reader(node, inputs, opset_, out_.graph, budget_);
  find_reader(node.op_type)->read(reader);
  const Status status = reader.finish();
  if (!status.ok()) return problems_.add(problem(node, inputs, status.error()));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const bool made = i < reader.results().size() && reader.results()[i] != kNoValue;
    if (made)
      values_[node.outputs[i]] = reader.results()[i];
    else if (!node.outputs[i].empty() && used_.count(node.outputs[i]) > 0) {
      Error error{ErrorCode::unsupported, "its output " + std::to_string(i) + " '" +
                                              node.outputs[i] + "' is not supported"};
      problems_.add(problem(node, inputs, error));
    }
  }
}

std::string GraphReader::type_text(ValueId v) const {
  if (v == kNoValue) return "?";
  const TensorType& type = out_.graph.value(v).type;
  std::string dims;
  for (const int64_t d : type.dims) {
    const bool named = d <= -2 && static_cast<size_t>(-2 - d) < out_.graph.symbols.size();
    dims += (dims.empty() ? "" : "x") + (d >= 0  ? std::to_string(d)
                                         : named ? out_.graph.symbols[static_cast<size_t>(-2 - d)]
                                                 : "?");
  }
  return std::string(to_string(type.type)) + "[" + dims + "]";
}

// file (added by the caller), node, operator, reason, attributes and input shapes.
Error GraphReader::problem(const SourceNode& node, const std::vector<ValueId>& inputs,
                           const Error& reason) const {
  std::string shapes;
  for (size_t i = 0; i < inputs.size() && i < 8; ++i) {
    shapes +=
        (i ? ", " : "") + (node.inputs[i].empty() ? std::string("none") : type_text(inputs[i]));
  }
  if (inputs.size() > 8) shapes += ", ...";
  const std::string attributes = attributes_text(node);
  return {reason.code, node_text(node) + ": " + reason.message + " [operator set " +
                           std::to_string(opset_) +
                           "; attributes: " + (attributes.empty() ? "none" : attributes) +
                           "; inputs: " + (shapes.empty() ? "none" : shapes) + "]"};
}

Result<ValueId> GraphReader::find(const std::string& name) {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  return add_initializer(name);
}

Result<ValueId> GraphReader::add_initializer(const std::string& name) {
  const auto add = [&](Result<Tensor> tensor) -> Result<ValueId> {
    values_[name] = kNoValue;
    if (!tensor.ok()) return tensor.error();
    return values_[name] = out_.graph.add_constant(name, std::move(*tensor));
  };
  if (auto dense = dense_.find(name); dense != dense_.end()) {
    auto value = add(weights_.read(proto_.initializer(dense->second)));
    proto_.mutable_initializer(dense->second)->Clear();
    return value;
  }
  if (auto sparse = sparse_.find(name); sparse != sparse_.end()) {
    return add(weights_.read(proto_.sparse_initializer(sparse->second)));
  }
  return invalid("it reads '" + printable(name) + "', which nothing makes");
}

Status GraphReader::mark_outputs() {
  std::unordered_set<std::string> names;
  for (const auto& info : proto_.output()) {
    CHECK_OK(check_name(info.name()));
    if (!names.insert(info.name()).second)
      return invalid("two outputs are called '" + printable(info.name()) + "'");
    const auto value = find(info.name());
    if (!value) return invalid("output '" + printable(info.name()) + "' is made by nothing");
    if (*value != kNoValue) CHECK_OK(out_.graph.mark_output(*value, info.name()));
  }
  if (proto_.output_size() == 0) return invalid("the graph has no output");
  return {};
}

}  // namespace enginery
