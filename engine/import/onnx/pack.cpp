#include "engine/import/onnx/pack.h"

#include <onnx/onnx_pb.h>

#include <functional>

#include "engine/import/onnx/container.h"
#include "engine/import/onnx/model_proto.h"
#include "engine/import/onnx/weights.h"

namespace enginery {
namespace {

using TensorVisitor = std::function<Status(onnx::TensorProto&)>;

Status visit_graph(onnx::GraphProto& graph, const TensorVisitor& visit);

template <typename Nodes>
Status visit_nodes(Nodes& nodes, const TensorVisitor& visit) {
  for (auto& node : nodes) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) CHECK_OK(visit(*attribute.mutable_t()));
      for (auto& tensor : *attribute.mutable_tensors()) CHECK_OK(visit(tensor));
      if (attribute.has_g()) CHECK_OK(visit_graph(*attribute.mutable_g(), visit));
      for (auto& inner : *attribute.mutable_graphs()) CHECK_OK(visit_graph(inner, visit));
    }
  }
  return {};
}

Status visit_graph(onnx::GraphProto& graph, const TensorVisitor& visit) {
  for (auto& tensor : *graph.mutable_initializer()) CHECK_OK(visit(tensor));
  for (auto& sparse : *graph.mutable_sparse_initializer()) {
    CHECK_OK(visit(*sparse.mutable_values()));
    CHECK_OK(visit(*sparse.mutable_indices()));
  }
  return visit_nodes(*graph.mutable_node(), visit);
}

Status visit_model(onnx::ModelProto& model, const TensorVisitor& visit) {
  for (auto& function : *model.mutable_functions())
    CHECK_OK(visit_nodes(*function.mutable_node(), visit));
  return visit_graph(*model.mutable_graph(), visit);
}

// What lies outside of a model: each range once, and the bytes of all tensors that name one.
struct ExternalWeights {
  std::map<WeightReader::Range, uint64_t> places;  // in a container, once it is there
  uint64_t bytes = 0;                              // of all tensors
  uint64_t bytes_once = 0;                         // of the ranges, with their padding
};

Result<ExternalWeights> outside_of(onnx::ModelProto& model, WeightReader& weights) {
  ExternalWeights out;
  CHECK_OK(visit_model(model, [&](onnx::TensorProto& tensor) -> Status {
    TRY(const auto range, weights.outside(tensor));
    if (!range) return {};
    out.bytes += range->bytes;
    if (out.places.emplace(*range, 0).second) out.bytes_once += range->bytes + kWeightAlignment;
    return {};
  }));
  CHECK_OK(weights.check_total(out.bytes_once));
  return out;
}

Result<Bytes> serialized(const onnx::ModelProto& model) {
  Bytes out;
  if (!model.SerializeToString(&out))
    return Error{ErrorCode::internal, "protobuf could not write the model"};
  return out;
}

Result<Bytes> with_weights_inside(onnx::ModelProto& model, WeightReader& weights) {
  CHECK_OK(visit_model(model, [&](onnx::TensorProto& tensor) -> Status {
    TRY(const auto range, weights.outside(tensor));
    if (!range) return {};
    TRY(const Tensor elements, weights.read(tensor));
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.set_raw_data(raw_data_of(elements));
    return {};
  }));
  return serialized(model);
}

void set_entry(onnx::TensorProto& tensor, const std::string& key, const std::string& value) {
  auto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(value);
}

Result<Bytes> container_of(onnx::ModelProto& model, WeightReader& weights,
                           ExternalWeights outside) {
  ContainerWriter writer(outside.bytes_once);
  for (auto& [range, place] : outside.places) {
    const auto [begin, target] = writer.add(range.bytes);
    CHECK_OK(weights.read(range, target));
    place = begin;
  }
  CHECK_OK(visit_model(model, [&](onnx::TensorProto& tensor) -> Status {
    TRY(const auto range, weights.outside(tensor));
    if (!range) return {};
    tensor.clear_external_data();
    set_entry(tensor, "location", std::string(kContainedLocation));
    set_entry(tensor, "offset", std::to_string(outside.places.at(*range)));
    set_entry(tensor, "length", std::to_string(range->bytes));
    return {};
  }));
  TRY(const Bytes bytes, serialized(model));
  return std::move(writer).finish(bytes);
}

}  // namespace

Result<Bytes> pack_onnx(const ModelSource& source, uint64_t most_inlined) {
  TRY(const ModelParts parts, parts_of(source.bytes.view()));
  if (!parts.weights.empty()) return Bytes(source.bytes.view());  // packed already
  TRY(const ModelProtoPointer model, parse_model(parts.model));
  WeightReader weights(source.folder);
  TRY(ExternalWeights outside, outside_of(*model, weights));
  if (outside.places.empty()) return Bytes(source.bytes.view());
  if (model->ByteSizeLong() + outside.bytes <= most_inlined)
    return with_weights_inside(*model, weights);
  return container_of(*model, weights, std::move(outside));
}

Result<Bytes> inline_external_data(const ModelSource& source) {
  TRY(Bytes packed, pack_onnx(source));
  if (packed.starts_with(kContainerMagic))
    return Error{ErrorCode::unsupported,
                 "with its weights inside the model is larger than 2 GiB, which one ONNX file "
                 "cannot hold"};
  return packed;
}

}  // namespace enginery
