#include "engine/import/onnx/write_qdq.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "engine/import/onnx/model_proto.h"
#include "engine/import/onnx/pack.h"
#include "engine/import/onnx/weights.h"

namespace enginery {
namespace {

constexpr int64_t kFirstOpset = 13;  // QuantizeLinear with an axis

int64_t attribute_of(const onnx::NodeProto& node, const std::string& name, int64_t otherwise) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return attribute.i();
  }
  return otherwise;
}

// The dimension of a node's weights that counts output channels; -1 for other operators.
int64_t channel_axis(const onnx::NodeProto& node, int64_t rank) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") return -1;
  if (node.op_type() == "Conv") return 0;
  if (node.op_type() == "Gemm") return attribute_of(node, "transB", 0) ? 0 : 1;
  if (node.op_type() == "MatMul") return rank - 1;
  return -1;
}

// How often each name is read anywhere in the graph, bodies included.
void count_readers(const onnx::GraphProto& graph, std::map<std::string, int>& readers) {
  for (const auto& node : graph.node()) {
    for (const std::string& name : node.input()) ++readers[name];
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) count_readers(attribute.g(), readers);
      for (const auto& inner : attribute.graphs()) count_readers(inner, readers);
    }
  }
  for (const auto& output : graph.output()) ++readers[output.name()];
}

class QdqWriter {
 public:
  QdqWriter(onnx::GraphProto& graph, const QdqPlaces& places) : graph_(graph), places_(places) {}

  Status write(QuantizedModel& out) {
    lift_constants();
    for (const auto& tensor : graph_.initializer()) weights_[tensor.name()] = &tensor;
    take_names();
    std::vector<onnx::NodeProto> nodes(graph_.node().begin(), graph_.node().end());
    for (onnx::NodeProto& node : nodes) {
      CHECK_OK(add(node, out));
      written_.push_back(std::move(node));
    }
    replace_nodes();
    drop_unread();
    note_bodies(out);
    return {};
  }

 private:
  // Constant nodes become initialisers, so that weights are of one kind.
  void lift_constants() {
    std::vector<onnx::NodeProto> kept;
    for (const onnx::NodeProto& node : graph_.node()) {
      const bool lifts = node.op_type() == "Constant" && node.attribute_size() == 1 &&
                         node.attribute(0).name() == "value";
      if (!lifts) {
        kept.push_back(node);
        continue;
      }
      onnx::TensorProto& tensor = *graph_.add_initializer();
      tensor = node.attribute(0).t();
      tensor.set_name(node.output(0));
    }
    graph_.clear_node();
    for (onnx::NodeProto& node : kept) *graph_.add_node() = std::move(node);
  }

  void take_names() {
    for (const auto& [name, tensor] : weights_) names_.insert(name);
    for (const auto& input : graph_.input()) names_.insert(input.name());
    for (const auto& node : graph_.node())
      names_.insert(node.output().begin(), node.output().end());
  }

  std::string unique(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  // The node with quantised inputs, where it has them; what they need is written before it.
  Status add(onnx::NodeProto& node, QuantizedModel& out) {
    std::vector<int> inputs;
    for (int i = 0; i < node.input_size(); ++i) {
      const auto place = place_of(node, node.input(i));
      if (place == places_.reads.end()) continue;
      found_.insert(*place);
      inputs.push_back(i);
    }
    if (inputs.empty()) return {};
    if (channel_axis(node, 1) >= 0) {
      TRY(const std::string name, quantized_weights(node));
      if (name.empty()) {
        out.notes.push_back("node '" + node.name() + "' (" + node.op_type() +
                            ") stays in float: its weights are no float32 tensor of the file");
        return {};
      }
      node.set_input(1, name);
      ++out.nodes;
      CHECK_OK(correct_bias(node, out));
    }
    for (const int i : inputs) node.set_input(i, quantized_activation(node.input(i)));
    return {};
  }

  // Where the node reads the tensor in 8 bits; end() where it does not.
  TensorReads::const_iterator place_of(const onnx::NodeProto& node,
                                       const std::string& tensor) const {
    for (const std::string& given : node.output()) {
      const auto place = places_.reads.find({given, tensor});
      if (place != places_.reads.end()) return place;
    }
    return places_.reads.end();
  }

  void add_linear(const char* op, const std::vector<std::string>& inputs, const std::string& output,
                  int64_t axis = -1) {
    onnx::NodeProto node;
    node.set_op_type(op);
    node.set_name(output);
    for (const std::string& input : inputs) node.add_input(input);
    node.add_output(output);
    if (axis >= 0) {
      onnx::AttributeProto& attribute = *node.add_attribute();
      attribute.set_name("axis");
      attribute.set_type(onnx::AttributeProto::INT);
      attribute.set_i(axis);
    }
    written_.push_back(std::move(node));
  }

  // An initialiser of the bytes; a scalar without dims.
  std::string add_tensor(const std::string& name, int type, const std::vector<int64_t>& dims,
                         const void* bytes, size_t count) {
    onnx::TensorProto& tensor = *graph_.add_initializer();
    tensor.set_name(unique(name));
    tensor.set_data_type(type);
    for (const int64_t d : dims) tensor.add_dims(d);
    tensor.set_raw_data(bytes, count);
    return tensor.name();
  }

  // One pair for a tensor, whoever reads it.
  std::string quantized_activation(const std::string& name) {
    auto [found, fresh] = activations_.try_emplace(name);
    if (!fresh) return found->second;
    const ActivationScale& as = places_.tensors.at(name);
    const float scale = as.step();
    const int type = as.non_negative ? onnx::TensorProto::UINT8 : onnx::TensorProto::INT8;
    const uint8_t zero = 0;  // of either type
    const std::string scale_name =
        add_tensor(name + "_scale", onnx::TensorProto::FLOAT, {}, &scale, sizeof scale);
    const std::string zero_name = add_tensor(name + "_zero_point", type, {}, &zero, sizeof zero);
    const std::string quantized = unique(name + "_quantized");
    found->second = unique(name + "_dequantized");
    add_linear("QuantizeLinear", {name, scale_name, zero_name}, quantized);
    add_linear("DequantizeLinear", {quantized, scale_name, zero_name}, found->second);
    return found->second;
  }

  // "" for weights that a node computes, or of another type.
  Result<std::string> quantized_weights(const onnx::NodeProto& node) {
    const auto stored = weights_.find(node.input(1));
    if (stored == weights_.end() || stored->second->data_type() != onnx::TensorProto::FLOAT)
      return std::string();
    const onnx::TensorProto& proto = *stored->second;
    const int64_t axis = channel_axis(node, proto.dims_size());
    const auto [found, fresh] = weight_names_.try_emplace({proto.name(), axis});
    if (!fresh) return found->second;
    WeightReader reader{std::nullopt};
    TRY(const Tensor tensor, reader.read(proto));
    const QuantizedWeights quantized = quantize_weights(tensor, axis);
    const int64_t channels = quantized.scales.size();
    const std::vector<int8_t> zeros(static_cast<size_t>(channels), 0);
    const std::string name = proto.name();
    const std::string elements =
        add_tensor(name + "_quantized", onnx::TensorProto::INT8, tensor.dims(),
                   quantized.elements.raw(), static_cast<size_t>(quantized.elements.bytes()));
    const std::string scale =
        add_tensor(name + "_scale", onnx::TensorProto::FLOAT, {channels}, quantized.scales.raw(),
                   static_cast<size_t>(quantized.scales.bytes()));
    const std::string zero = add_tensor(name + "_zero_point", onnx::TensorProto::INT8, {channels},
                                        zeros.data(), zeros.size());
    found->second = unique(name + "_dequantized");
    add_linear("DequantizeLinear", {elements, scale, zero}, found->second, axis);
    return found->second;
  }

  // A node without a bias gets one. One that is no float32 tensor of the file stays, with a note.
  Status correct_bias(onnx::NodeProto& node, QuantizedModel& out) {
    const auto correction = places_.bias_corrections.find(node.output(0));
    if (correction == places_.bias_corrections.end()) return {};
    std::vector<float> bias = correction->second;
    std::vector<int64_t> dims = {static_cast<int64_t>(bias.size())};
    if (node.input_size() > 2 && !node.input(2).empty()) {
      const auto stored = weights_.find(node.input(2));
      if (stored == weights_.end() || stored->second->data_type() != onnx::TensorProto::FLOAT) {
        out.notes.push_back("node '" + node.name() +
                            "' keeps its bias: it is no float32 tensor of the file");
        return {};
      }
      WeightReader reader{std::nullopt};
      TRY(const Tensor before, reader.read(*stored->second));
      dims = before.dims();
      for (size_t k = 0; k < bias.size(); ++k) bias[k] += before.data<float>()[k];
    }
    while (node.input_size() < 3) node.add_input("");
    node.set_input(2, add_tensor(node.output(0) + "_bias", onnx::TensorProto::FLOAT, dims,
                                 bias.data(), bias.size() * sizeof(float)));
    return {};
  }

  void note_bodies(QuantizedModel& out) const {
    const size_t left = places_.reads.size() - found_.size();
    if (left > 0)
      out.notes.push_back("in bodies of functions or branches, " + std::to_string(left) +
                          " tensors are read in float");
  }

  void replace_nodes() {
    graph_.clear_node();
    for (onnx::NodeProto& node : written_) *graph_.add_node() = std::move(node);
  }

  // The float weights that nothing reads any more; they may be listed as inputs, too.
  void drop_unread() {
    std::map<std::string, int> readers;
    count_readers(graph_, readers);
    const auto unread = [&](const auto& named) {
      return weights_.contains(named.name()) && !readers.contains(named.name());
    };
    auto& tensors = *graph_.mutable_initializer();
    auto& inputs = *graph_.mutable_input();
    inputs.erase(std::remove_if(inputs.begin(), inputs.end(), unread), inputs.end());
    tensors.erase(std::remove_if(tensors.begin(), tensors.end(), unread), tensors.end());
  }

  onnx::GraphProto& graph_;
  const QdqPlaces& places_;
  TensorReads found_;  // of the places
  std::map<std::string, const onnx::TensorProto*> weights_;
  std::set<std::string> names_;
  std::map<std::string, std::string> activations_;                       // by tensor
  std::map<std::pair<std::string, int64_t>, std::string> weight_names_;  // by tensor and dimension
  std::vector<onnx::NodeProto> written_;
};

int64_t opset_of(const onnx::ModelProto& model) {
  for (const auto& set : model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") return set.version();
  }
  return 0;
}

}  // namespace

Status check_qdq(const ModelSource& source) {
  TRY(const ModelProtoPointer model, parse_model(source.bytes.view()));
  const int64_t opset = opset_of(*model);
  if (opset >= kFirstOpset) return {};
  return Error{ErrorCode::unsupported,
               "the model is of operator set " + std::to_string(opset) +
                   ", and Q/DQ nodes with a scale for each channel need 13; "
                   "onnx.version_converter raises it"};
}

Result<QuantizedModel> write_qdq(const ModelSource& source, const QdqPlaces& places) {
  CHECK_OK(check_qdq(source));
  TRY(const Bytes packed, inline_external_data(source));
  TRY(const ModelProtoPointer model, parse_model(packed));
  QuantizedModel out;
  QdqWriter writer(*model->mutable_graph(), places);
  CHECK_OK(writer.write(out));
  if (out.nodes == 0)
    return Error{ErrorCode::unsupported, "it has no Conv, Gemm or MatMul to quantise"};
  if (!model->SerializeToString(&out.bytes))
    return Error{ErrorCode::internal, "protobuf could not write the model"};
  return out;
}

}  // namespace enginery
