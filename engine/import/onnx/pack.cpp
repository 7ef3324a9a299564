#include "engine/import/onnx/pack.h"

#include <onnx/onnx_pb.h>

#include "engine/import/onnx/model_proto.h"
#include "engine/import/onnx/weights.h"

namespace enginery {
namespace {

class Packer {
 public:
  explicit Packer(const ModelSource& source) : weights_(source.folder) {}

  Status graph(onnx::GraphProto& graph) {
    for (auto& tensor : *graph.mutable_initializer()) CHECK_OK(inline_tensor(tensor));
    for (auto& sparse : *graph.mutable_sparse_initializer()) {
      CHECK_OK(inline_tensor(*sparse.mutable_values()));
      CHECK_OK(inline_tensor(*sparse.mutable_indices()));
    }
    for (auto& node : *graph.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute()) CHECK_OK(this->attribute(attribute));
    }
    return {};
  }
  bool changed() const { return changed_; }

 private:
  Status attribute(onnx::AttributeProto& attribute) {
    if (attribute.has_t()) CHECK_OK(inline_tensor(*attribute.mutable_t()));
    for (auto& tensor : *attribute.mutable_tensors()) CHECK_OK(inline_tensor(tensor));
    if (attribute.has_g()) CHECK_OK(graph(*attribute.mutable_g()));
    for (auto& inner : *attribute.mutable_graphs()) CHECK_OK(graph(inner));
    return {};
  }

  Status inline_tensor(onnx::TensorProto& proto) {
    if (proto.data_location() != onnx::TensorProto::EXTERNAL && proto.external_data_size() == 0)
      return {};
    TRY(const Tensor tensor, weights_.read(proto));
    proto.clear_external_data();
    proto.clear_data_location();
    proto.set_raw_data(raw_data_of(tensor));
    changed_ = true;
    return {};
  }

  WeightReader weights_;
  bool changed_ = false;
};

}  // namespace

Result<Bytes> inline_external_data(const ModelSource& source) {
  TRY(ModelProtoPointer model, parse_model(source.bytes));
  Packer packer(source);
  CHECK_OK(packer.graph(*model->mutable_graph()));
  if (!packer.changed()) return source.bytes;
  if (model->ByteSizeLong() > INT32_MAX) {
    return Error{ErrorCode::unsupported,
                 "with its weights inside the model is larger than 2 GiB, which cannot travel yet"};
  }
  Bytes out;
  if (!model->SerializeToString(&out))
    return Error{ErrorCode::internal, "protobuf could not write the model"};
  return out;
}

}  // namespace enginery
