#include "engine/import/onnx/graph_reader.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "engine/import/onnx/attributes.h"
#include "engine/import/onnx/container.h"

namespace enginery {
namespace {

constexpr int64_t kOldestOpset = 1, kNewestOpset = 24;
constexpr int kMaxInputs = 1024, kMaxOutputs = 1024, kMaxInitializers = 200'000;

Error invalid(const std::string& message) {
  return {ErrorCode::invalid_argument, message};
}

// A container's weights are read where they lie; no file beside it is.
WeightReader weights_of(const ModelSource& source) {
  const auto parts = parts_of(source.bytes.view());
  if (!parts.ok() || parts->weights.empty()) return WeightReader(source.folder);
  return WeightReader(std::nullopt, parts->weights, source.bytes.owner());
}

Status check_count(const char* what, int count, int most) {
  if (count <= most) return {};
  return Error{ErrorCode::unsupported, "it has " + std::to_string(count) + " " + what +
                                           ", at most " + std::to_string(most) + " are supported"};
}

}  // namespace

GraphReader::GraphReader(onnx::ModelProto& model, const ModelSource& source,
                         const ImportOptions& options)
    : model_(model),
      proto_(*model.mutable_graph()),
      options_(options),
      state_{.weights = weights_of(source)} {}

Result<ImportedModel> GraphReader::read() {
  CHECK_OK(read_graph());
  if (!state_.problems.empty()) return state_.problems.error();
  CHECK_OK(verify(out_.graph));
  return std::move(out_);
}

Result<ModelSurvey> GraphReader::survey() {
  CHECK_OK(read_graph());
  return ModelSurvey{std::move(state_.operators), state_.unchecked, state_.problems.lines(),
                     std::move(out_.notes)};
}

Status GraphReader::read_graph() {
  CHECK_OK(read_operator_sets());
  CHECK_OK(check_limits());
  CHECK_OK(check_name(proto_.name()));
  out_.graph.name = proto_.name();
  CHECK_OK(state_.functions.read(model_, state_.weights));
  BlockReader block(proto_, {.opset = opset_}, state_, out_.graph);
  CHECK_OK(block.list_initializers());
  CHECK_OK(add_inputs(block));
  CHECK_OK(block.read_nodes());
  return mark_outputs(block);
}

Status GraphReader::read_operator_sets() {
  bool any = false;
  for (const auto& set : model_.opset_import()) {
    if (!is_standard_domain(set.domain())) continue;
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

// Initialisers that are listed as inputs (the habit before IR version 4) are constants, not inputs.
Status GraphReader::add_inputs(BlockReader& block) {
  std::vector<const onnx::ValueInfoProto*> inputs;
  std::unordered_set<std::string> names;
  for (const auto& info : proto_.input()) {
    if (!names.insert(info.name()).second)
      return invalid("two inputs are called '" + printable(info.name()) + "'");
    if (!block.has_initializer(info.name())) inputs.push_back(&info);
  }
  CHECK_OK(check_count("inputs", static_cast<int>(inputs.size()), kMaxInputs));
  TRY(InputTypes types, InputTypes::read(inputs, options_));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = inputs[i]->name();
    const TensorType type = types.type(i, out_.graph);
    const auto given = options_.values.find(name);
    if (given != options_.values.end())
      CHECK_OK(add_given_value(block, name, type, given->second));
    else
      block.define(name, SourceValue::of(out_.graph.add_input(name, type)));
  }
  out_.notes = types.notes();
  return {};
}

Status GraphReader::add_given_value(BlockReader& block, const std::string& name,
                                    const TensorType& type, const Tensor& tensor) {
  bool fits = tensor.type() == type.type && tensor.rank() == static_cast<int64_t>(type.dims.size());
  for (size_t i = 0; fits && i < type.dims.size(); ++i)
    fits = type.dims[i] < 0 || type.dims[i] == tensor.dims()[i];
  if (!fits)
    return invalid("input '" + name + "' is " + to_string(type) + ", the given value is " +
                   to_string(tensor.tensor_type()));
  block.define(name, SourceValue::of(out_.graph.add_constant(name, tensor)));
  return {};
}

// A value that has another name already, as an input, a constant or an output, keeps it.
Status GraphReader::mark_output(ValueId value, const std::string& name) {
  Graph& graph = out_.graph;
  const bool keeps_name = graph.value(value).producer == kNoNode || graph.is_output(value);
  if (keeps_name && graph.value(value).name != name) {
    TRY(const auto copies, graph.add_node(name, Identity{}, {value}, {name}));
    value = copies[0];
  }
  return graph.mark_output(value, name);
}

Status GraphReader::mark_outputs(BlockReader& block) {
  std::unordered_set<std::string> names;
  std::vector<CountedAxes> counted;
  for (const auto& info : proto_.output()) {
    CHECK_OK(check_name(info.name()));
    if (!names.insert(info.name()).second) {  // as PyTorch lists a tensor that a model gives twice
      out_.notes.push_back("output '" + printable(info.name()) + "' is listed twice, given once");
      continue;
    }
    const auto value = block.find(info.name());
    if (!value) return invalid("output '" + printable(info.name()) + "' is made by nothing");
    if (value->list || value->kind == SourceValue::Kind::absent)
      return Error{ErrorCode::unsupported, "output '" + printable(info.name()) +
                                               "' is a sequence or optional, not a tensor"};
    if (!value->is_known()) continue;
    const CountedAxes& axes = state_.open.of(value->tensor).axes;
    TRY(const ValueId output, compacted(out_.graph, value->tensor, axes, info.name()));
    CHECK_OK(mark_output(output, info.name()));
    counted.push_back(axes);
  }
  if (proto_.output_size() == 0) return invalid("the graph has no output");
  return mark_counts(out_.graph, counted);
}

}  // namespace enginery
