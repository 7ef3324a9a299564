#include "engine/import/onnx/node_reader.h"

#include <algorithm>
#include <numeric>

#include "engine/import/onnx/sizes/told_sizes.h"

namespace enginery {
namespace {

// Bounds of folding during import: shapes, axes, anchors, and the masks whose places exporters list
// (NonZero of a constant). Larger results are the constant folding pass's business.
constexpr int64_t kMaxFoldedInput = int64_t{1} << 22;
constexpr int64_t kMaxFoldedOutput = int64_t{1} << 21;
// Nodes of fewer elements have a budget of their own: grids of indices must not use up what the
// shapes behind them need.
constexpr int64_t kFewElements = int64_t{1} << 14;

// Of the whole graph: unrolled layers and loops make many nodes of one.
constexpr int32_t kMaxGraphNodes = 1 << 20;

// The input's dims [start, end), negative bounds from the end, both clamped.
Tensor shape_tensor(const Shape& op, const Dims& dims) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  const auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t begin = clamp(op.start), end = std::max(begin, clamp(op.end));
  return Tensor::of<int64_t>(
      {end - begin},
      std::span(dims).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}

// Operators whose cost is more than their inputs and outputs.
bool is_costly(const Op& op) {
  return std::holds_alternative<Convolution>(op) || std::holds_alternative<Deconvolution>(op) ||
         std::holds_alternative<MatMul>(op) || std::holds_alternative<Gemm>(op) ||
         std::holds_alternative<Pooling>(op) || std::holds_alternative<Lrn>(op) ||
         std::holds_alternative<Einsum>(op);
}

// Quantised weights: whether somebody multiplies them as they are shows in the whole graph alone
// (passes/fold_constants.h).
bool makes_floats_of_weights(const Op& op, const std::vector<const Tensor*>& inputs) {
  return std::holds_alternative<Dequantize>(op) && inputs[0]->type() == DataType::int8 &&
         inputs[0]->rank() > 1;
}

bool any_too_large(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d > kMaxSize; });
}

const Dims kNoDims;

// A reader's own steps.
class StepsOf final : public Steps {
 public:
  explicit StepsOf(NodeReader& node) : node_(node) {}
  ValueId add(Op op, std::vector<ValueId> inputs) override {
    return node_.add(std::move(op), std::move(inputs));
  }
  ValueId constant(Tensor tensor) override { return node_.constant(std::move(tensor)); }
  ValueId counting(Dims dims) override { return node_.counting(std::move(dims)); }

 private:
  NodeReader& node_;
};

}  // namespace

NodeReader::NodeReader(const SourceNode& node, std::vector<SourceValue> inputs, int64_t opset,
                       Graph& graph, FoldBudget& budget, OpenAxes& open, Bodies& bodies)
    : node_(node),
      sources_(std::move(inputs)),
      opset_(opset),
      graph_(graph),
      budget_(budget),
      open_(open),
      bodies_(bodies) {
  while (!sources_.empty() && sources_.back().kind == SourceValue::Kind::absent)
    sources_.pop_back();
  for (const SourceValue& source : sources_) inputs_.push_back(source.tensor);
  inputs_read_.assign(inputs_.size(), false);
}

void NodeReader::fail(Error error) {
  if (status_.ok()) status_ = std::move(error);
}

ValueId NodeReader::optional_input(size_t i) {
  if (i >= inputs_.size()) return kNoValue;
  if (has_list(i)) reject("input " + std::to_string(i) + " is a sequence, a tensor is expected");
  inputs_read_[i] = true;
  return inputs_[i];
}

std::vector<ValueId> NodeReader::list(size_t i) {
  if (!has_list(i)) {
    reject("input " + std::to_string(i) + " is not a sequence");
    return {};
  }
  inputs_read_[i] = true;
  return *sources_[i].list;
}

SourceValue NodeReader::source(size_t i) {
  if (i >= sources_.size()) return SourceValue::nothing();
  inputs_read_[i] = true;
  return sources_[i];
}

const std::vector<ValueId>& NodeReader::inputs() {
  for (size_t i = 0; i < inputs_.size(); ++i) optional_input(i);
  return inputs_;
}

ValueId NodeReader::input(size_t i) {
  if (!has_input(i) && !has_list(i)) reject("input " + std::to_string(i) + " is missing");
  return optional_input(i);
}

const Dims& NodeReader::dims(ValueId v) const {
  return v == kNoValue ? kNoDims : graph_.value(v).type.dims;
}

DataType NodeReader::type(ValueId v) const {
  return v == kNoValue ? DataType::float32 : graph_.value(v).type.type;
}

std::vector<int64_t> NodeReader::ints(ValueId v, std::string_view what) {
  if (!ok()) return {};
  const Tensor* tensor = constant(v);
  if (!tensor) {
    refuse(std::string(what) +
           " is known only at run time; if it depends on the inputs' sizes, give those (--shapes)");
    return {};
  }
  if (tensor->size() > kMaxFoldedInput) {
    reject(std::string(what) + " has " + std::to_string(tensor->size()) + " elements");
    return {};
  }
  return to_int64s(*tensor);
}

float NodeReader::number(ValueId v, std::string_view what) {
  if (!ok()) return 0;
  const Tensor* tensor = constant(v);
  if (!tensor) {
    refuse(std::string(what) + " is known only at run time");
    return 0;
  }
  if (tensor->size() != 1) {
    reject(std::string(what) + " has " + std::to_string(tensor->size()) +
           " elements, one is expected");
    return 0;
  }
  return convert(*tensor, DataType::float32).data<float>()[0];
}

int64_t NodeReader::one_int(ValueId v, std::string_view what) {
  const std::vector<int64_t> values = ints(v, what);
  if (ok() && values.size() != 1) {
    reject(std::string(what) + " has " + std::to_string(values.size()) +
           " elements, one is expected");
  }
  return ok() ? values[0] : 0;
}

int64_t NodeReader::size(ValueId v, int64_t axis, std::string_view what) {
  if (!ok()) return 1;
  if (axis < 0 || axis >= rank(v)) {
    reject(std::string(what) + " does not exist: the input has " + std::to_string(rank(v)) +
           " dimensions");
    return 1;
  }
  if (open_.count(v, axis) != kNoValue) refuse(std::string(what) + " is known after a run alone");
  const int64_t size = dims(v)[static_cast<size_t>(axis)];
  if (size < 0) {
    refuse(std::string(what) + " is known only at run time; give the inputs' sizes (--shapes)");
    return 1;
  }
  return size;
}

int64_t NodeReader::axis(int64_t value, int64_t rank) {
  if (!ok()) return 0;
  if (value < -rank || value >= rank) {
    reject("axis " + std::to_string(value) + " is outside an input of " + std::to_string(rank) +
           " dimensions");
    return 0;
  }
  return value < 0 ? value + rank : value;
}

template <typename T>
T NodeReader::attribute(const std::string& name, T otherwise, const char* expected) {
  const AttributeValue* value = any(name);
  if (!value) return otherwise;
  if (const T* typed = std::get_if<T>(value)) return *typed;
  reject("attribute " + name + " is not " + expected);
  return otherwise;
}

int64_t NodeReader::integer(const std::string& name, int64_t otherwise) {
  return attribute<int64_t>(name, otherwise, "an integer");
}

float NodeReader::real(const std::string& name, float otherwise) {
  return attribute<float>(name, otherwise, "a float");
}

std::string NodeReader::text(const std::string& name, const std::string& otherwise) {
  return attribute<std::string>(name, otherwise, "a string");
}

std::vector<int64_t> NodeReader::integers(const std::string& name, std::vector<int64_t> otherwise) {
  return attribute<std::vector<int64_t>>(name, std::move(otherwise), "a list of integers");
}

const AttributeValue* NodeReader::any(const std::string& name) {
  auto found = node_.attributes.find(name);
  if (found == node_.attributes.end()) return nullptr;
  read_.insert(name);
  return &found->second;
}

void NodeReader::ignore(std::initializer_list<const char*> names) {
  read_.insert(names.begin(), names.end());
}

// The op's results when every input is known and they are small; nothing otherwise.
std::optional<std::vector<Tensor>> NodeReader::fold(const Op& op,
                                                    const std::vector<ValueId>& inputs) {
  if (const Shape* shape = std::get_if<Shape>(&op);
      shape && inputs.size() == 1 && is_static(dims(inputs[0]))) {
    return std::vector<Tensor>{shape_tensor(*shape, dims(inputs[0]))};
  }
  std::vector<const Tensor*> tensors;
  int64_t elements = 64;  // what a node costs by itself
  for (const ValueId v : inputs) {
    tensors.push_back(constant(v));
    if (v != kNoValue && !tensors.back()) return std::nullopt;
    if (tensors.back()) elements += tensors.back()->size();
  }
  if (is_costly(op) || makes_floats_of_weights(op, tensors) || elements > kMaxFoldedInput)
    return std::nullopt;
  const auto types = infer_types(op, graph_.operands(Node{"", op, inputs}));
  if (!types) return std::nullopt;  // add_node reports it
  int64_t made = 0;
  for (const TensorType& t : *types) {
    if (!is_static(t.dims)) return std::nullopt;
    made += volume(t.dims);
  }
  elements += made;
  int64_t& budget = elements <= kFewElements ? budget_.few_elements : budget_.elements;
  if (made > kMaxFoldedOutput || elements > budget) return std::nullopt;
  budget -= elements;
  auto results = run_reference(op, tensors);
  if (results) return std::move(*results);
  fail(results.error());
  return std::nullopt;
}

std::vector<ValueId> NodeReader::add_named(Op op, std::vector<ValueId> inputs,
                                           const std::vector<std::string>& names) {
  if (!ok()) return {};
  return reads_open(open_, graph_, op, inputs)
             ? add_rewritten(std::move(op), std::move(inputs), names)
             : add_closed(std::move(op), std::move(inputs), names);
}

// A node that reads sizes which runs tell.
std::vector<ValueId> NodeReader::add_rewritten(Op op, std::vector<ValueId> inputs,
                                               const std::vector<std::string>& names) {
  StepsOf steps(*this);
  const auto rewritten = rewrite_open(op, inputs, open_, graph_, steps);
  if (!rewritten) fail(rewritten.error());
  if (!ok()) return {};
  if (!rewritten->values.empty()) return add_named(Identity{}, rewritten->values, names);
  const std::vector<ValueId> outputs = add_closed(op, inputs, names);
  if (!ok()) return {};
  const auto open = open_outputs(open_, graph_, op, inputs, outputs, rewritten->count);
  if (!open) fail(open.error());
  for (size_t i = 0; open.ok() && i < outputs.size(); ++i) {
    open_.add(outputs[i], (*open)[i]);
    open_.know_sizes(graph_, outputs[i]);
  }
  return ok() ? outputs : std::vector<ValueId>();
}

std::vector<ValueId> NodeReader::add_closed(Op op, std::vector<ValueId> inputs,
                                            const std::vector<std::string>& names) {
  std::vector<ValueId> added;
  if (auto tensors = fold(op, inputs)) {
    for (size_t i = 0; i < tensors->size(); ++i) {
      added.push_back(
          graph_.add_constant(i < names.size() ? names[i] : names[0], std::move((*tensors)[i])));
    }
    return added;
  }
  if (!ok()) return {};
  budget_.edges -= static_cast<int64_t>(inputs.size());
  if (graph_.node_count() >= kMaxGraphNodes || budget_.edges < 0) {
    refuse("the graph grows beyond " + std::to_string(kMaxGraphNodes) + " nodes or their inputs");
    return added;
  }
  // Only the node that gives the outputs bears the file's name; the steps before it are named by
  // their values.
  const bool is_last = names == node_.outputs;
  auto nodes_outputs =
      graph_.add_node(is_last ? own_name() : "", std::move(op), std::move(inputs), names);
  if (!nodes_outputs) {
    fail(nodes_outputs.error());
    return added;
  }
  const Node& node = graph_.node(graph_.value((*nodes_outputs)[0]).producer);
  const Status sized = require_known_sizes(open_, graph_, node);
  if (!sized.ok()) fail(sized.error());
  for (const ValueId v : *nodes_outputs) {
    if (any_too_large(dims(v)))
      reject("a dimension of the result " + to_string(dims(v)) + " passes 2^31");
  }
  return std::move(*nodes_outputs);
}

std::string NodeReader::own_name() const {
  return !node_.name.empty() || node_.outputs.empty() ? node_.name : node_.outputs[0];
}

std::vector<ValueId> NodeReader::add_all(Op op, std::vector<ValueId> inputs) {
  const std::string name = own_name() + "/" + std::string(op_name(op));
  return add_named(std::move(op), std::move(inputs), {name});
}

ValueId NodeReader::add(Op op, std::vector<ValueId> inputs) {
  const auto outputs = add_all(std::move(op), std::move(inputs));
  return outputs.empty() ? kNoValue : outputs[0];
}

bool NodeReader::has_room(int64_t bytes) {
  if (ok() && bytes > budget_.constant_bytes)
    refuse("the constants that its operators need take too much memory");
  return ok();
}

ValueId NodeReader::constant(Tensor tensor) {
  const auto bytes = static_cast<int64_t>(tensor.byte_span().size());
  if (!has_room(bytes)) return kNoValue;
  budget_.constant_bytes -= bytes;
  return graph_.add_constant(own_name() + "/constant", std::move(tensor));
}

ValueId NodeReader::counting(Dims dims) {
  if (!has_room(volume(dims) * element_bytes(DataType::int64))) return kNoValue;
  Tensor positions(DataType::int64, std::move(dims));
  const auto to = positions.mutable_data<int64_t>();
  std::iota(to.begin(), to.end(), 0);
  return constant(std::move(positions));
}

ValueId NodeReader::ints_constant(std::vector<int64_t> values) {
  return constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

ValueId NodeReader::number_constant(double value, DataType type) {
  return constant(convert(Tensor::scalar(value), type));
}

void NodeReader::result(Op op, std::vector<ValueId> inputs) {
  results_.clear();
  for (const ValueId v : add_named(std::move(op), std::move(inputs), node_.outputs))
    results_.push_back(SourceValue::of(v));
}

void NodeReader::result(Tensor tensor) {
  if (!ok() || !has_output(0)) return;
  results_ = {SourceValue::of(graph_.add_constant(node_.outputs[0], std::move(tensor)))};
}

void NodeReader::result(ValueId value, size_t output) {
  if (!ok() || !has_output(output)) return;
  const auto named = add_named(Identity{}, {value}, {node_.outputs[output]});
  if (!named.empty()) result(SourceValue::of(named[0]), output);
}

void NodeReader::result(SourceValue value, size_t output) {
  if (!ok() || !has_output(output)) return;
  if (value.list && value.list->size() > kMaxListLength)
    return refuse("a sequence of " + std::to_string(value.list->size()) + " tensors is too long");
  results_.resize(std::max(results_.size(), output + 1));
  results_[output] = std::move(value);
}

std::vector<SourceValue> NodeReader::body(const std::string& name,
                                          const std::vector<SourceValue>& inputs) {
  if (!ok()) return {};
  read_.insert(name);
  auto outputs = bodies_.read_body(name, inputs);
  if (!outputs) {
    fail(outputs.error());
    return {};
  }
  has_unknown_ = !std::ranges::all_of(*outputs, &SourceValue::is_known);
  return has_unknown_ ? std::vector<SourceValue>() : std::move(*outputs);
}

Status NodeReader::finish() {
  for (const auto& [name, value] : node_.attributes) {
    if (!ok() || read_.count(name) > 0) continue;
    const auto* unreadable = std::get_if<UnreadableAttribute>(&value);
    refuse("attribute " + printable(name) + " is not supported" +
           (unreadable ? ": " + unreadable->reason : ""));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (ok() && (has_input(i) || has_list(i)) && !inputs_read_[i])
      refuse("its input " + std::to_string(i) + " is not supported");
  }
  return status_;
}

}  // namespace enginery
