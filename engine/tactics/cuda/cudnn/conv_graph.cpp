#include "engine/tactics/cuda/cudnn/conv_graph.h"

namespace enginery {
namespace {

cudnnDataType_t data_type(DataType type) {
  if (type == DataType::bfloat16) return CUDNN_DATA_BFLOAT16;
  return type == DataType::float16 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
}

class Builder {
 public:
  Builder(const Cudnn& cudnn, const ConvShape& shape, DataType type)
      : cudnn_(cudnn), shape_(shape), type_(data_type(type)) {}

  Result<ConvGraph> build(cudnnHandle_t handle, const LoweredEpilogue& epilogue) {
    TRY(size_t x, tensor(kXId, type_, {shape_.n, shape_.c_pitch(), shape_.h, shape_.w}));
    TRY(size_t w, tensor(kWId, type_,
                         {shape_.k_pitch(), shape_.c_pitch() / shape_.groups, shape_.r, shape_.s}));
    TRY(size_t flowing, convolution(x, w, epilogue.code.steps.empty()));
    for (size_t i = 0; i < epilogue.code.steps.size(); ++i) {
      TRY(flowing,
          step(epilogue, epilogue.code.steps[i], flowing, i + 1 == epilogue.code.steps.size()));
    }
    std::vector<cudnnBackendDescriptor_t> operations;
    for (size_t i : operations_) operations.push_back(out_.parts[i].get());
    TRY(out_.graph, CudnnDescriptor::create(cudnn_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR));
    CHECK_OK(out_.graph.set_one(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle));
    CHECK_OK(out_.graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                            static_cast<int64_t>(operations.size()), operations.data()));
    CHECK_OK(out_.graph.finalize());
    return std::move(out_);
  }

 private:
  Result<size_t> keep(CudnnDescriptor descriptor) {
    CHECK_OK(descriptor.finalize());
    out_.parts.push_back(std::move(descriptor));
    return out_.parts.size() - 1;
  }

  // A tensor [N, C, H, W] with channels innermost. Strides of dimensions of size 1 as of any other:
  // cuDNN reads the layout from them.
  Result<size_t> tensor(int64_t id, cudnnDataType_t type, std::vector<int64_t> dims,
                        bool is_virtual = false) {
    TRY(CudnnDescriptor t, CudnnDescriptor::create(cudnn_, CUDNN_BACKEND_TENSOR_DESCRIPTOR));
    std::vector<int64_t> strides{dims[1] * dims[2] * dims[3], 1, dims[1] * dims[3], dims[1]};
    int64_t alignment = 16;
    CHECK_OK(t.set_one(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type));
    CHECK_OK(t.set_int64s(CUDNN_ATTR_TENSOR_DIMENSIONS, dims));
    CHECK_OK(t.set_int64s(CUDNN_ATTR_TENSOR_STRIDES, strides));
    CHECK_OK(t.set_one(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id));
    CHECK_OK(t.set_one(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment));
    CHECK_OK(t.set_one(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, is_virtual));
    return keep(std::move(t));
  }

  // The tensor that an operation writes: the output itself, or one that exists only inside the
  // graph.
  Result<size_t> result(bool last) {
    std::vector<int64_t> dims{shape_.n, shape_.k_pitch(), shape_.p, shape_.q};
    if (last) return tensor(kYId, type_, dims);
    return tensor(kVirtualIds + virtuals_++, CUDNN_DATA_FLOAT, dims, true);
  }

  Result<size_t> convolution(size_t x, size_t w, bool last) {
    TRY(CudnnDescriptor c, CudnnDescriptor::create(cudnn_, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
    CHECK_OK(c.set_one(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT));
    CHECK_OK(c.set_one(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                       CUDNN_CROSS_CORRELATION));
    CHECK_OK(c.set_one(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, int64_t{2}));
    CHECK_OK(c.set_int64s(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {shape_.pad_h, shape_.pad_w}));
    CHECK_OK(
        c.set_int64s(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {shape_.pad_h_end, shape_.pad_w_end}));
    CHECK_OK(
        c.set_int64s(CUDNN_ATTR_CONVOLUTION_DILATIONS, {shape_.dilation_h, shape_.dilation_w}));
    CHECK_OK(
        c.set_int64s(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {shape_.stride_h, shape_.stride_w}));
    TRY(size_t convolution, keep(std::move(c)));
    TRY(size_t y, result(last));
    TRY(CudnnDescriptor op,
        CudnnDescriptor::create(cudnn_, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR));
    CHECK_OK(op.set_descriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, out_.parts[x]));
    CHECK_OK(op.set_descriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, out_.parts[w]));
    CHECK_OK(op.set_descriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, out_.parts[y]));
    CHECK_OK(op.set_descriptor(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                               out_.parts[convolution]));
    CHECK_OK(op.set_one(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1.0f));
    CHECK_OK(op.set_one(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 0.0f));
    return operation(std::move(op), y);
  }

  Result<size_t> operation(CudnnDescriptor op, size_t result) {
    TRY(size_t index, keep(std::move(op)));
    operations_.push_back(index);
    return result;
  }

  Status set_mode(CudnnDescriptor& pointwise, const FusedStep& step) {
    auto mode = [&](cudnnPointwiseMode_t m) {
      return pointwise.set_one(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, m);
    };
    auto number = [&](cudnnBackendAttributeName_t name, double v) {
      return pointwise.set_one(name, CUDNN_TYPE_DOUBLE, v);
    };
    if (step.kind == FusedStepKind::add) return mode(CUDNN_POINTWISE_ADD);
    if (step.kind == FusedStepKind::multiply) return mode(CUDNN_POINTWISE_MUL);
    const Activation& a = step.activation;
    switch (a.kind) {
      case ActivationKind::relu:
        return mode(CUDNN_POINTWISE_RELU_FWD);
      case ActivationKind::clip:
        CHECK_OK(mode(CUDNN_POINTWISE_RELU_FWD));
        CHECK_OK(number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, static_cast<double>(a.alpha)));
        return number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, static_cast<double>(a.beta));
      case ActivationKind::leaky_relu:
        CHECK_OK(mode(CUDNN_POINTWISE_RELU_FWD));
        return number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, static_cast<double>(a.alpha));
      case ActivationKind::sigmoid:
        return mode(CUDNN_POINTWISE_SIGMOID_FWD);
      case ActivationKind::tanh:
        return mode(CUDNN_POINTWISE_TANH_FWD);
      case ActivationKind::swish:
        return mode(CUDNN_POINTWISE_SWISH_FWD);
      case ActivationKind::gelu_erf:
        return mode(CUDNN_POINTWISE_GELU_FWD);
      default:
        return refusal("cuDNN has no such activation");
    }
  }

  Result<size_t> operand(const LoweredEpilogue& epilogue, const FusedStep& step) {
    int64_t id = kOperandIds + step.slot, k = shape_.k_pitch();
    switch (step.access) {
      case OperandAccess::channel:
        return tensor(id, CUDNN_DATA_FLOAT, {1, k, 1, 1});
      case OperandAccess::same:
        return tensor(id, type_, {shape_.n, k, shape_.p, shape_.q});
      default:
        return refusal(
            "an epilogue operand that is neither a bias nor of the output's size, in slot " +
            std::to_string(epilogue.sources.size()));
    }
  }

  Result<size_t> step(const LoweredEpilogue& epilogue, const FusedStep& step, size_t x, bool last) {
    TRY(CudnnDescriptor pointwise,
        CudnnDescriptor::create(cudnn_, CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
    CHECK_OK(set_mode(pointwise, step));
    CHECK_OK(
        pointwise.set_one(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT));
    TRY(size_t mode, keep(std::move(pointwise)));
    TRY(CudnnDescriptor op,
        CudnnDescriptor::create(cudnn_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR));
    CHECK_OK(op.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, out_.parts[mode]));
    CHECK_OK(op.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, out_.parts[x]));
    if (step.kind != FusedStepKind::activation) {
      TRY(size_t b, operand(epilogue, step));
      CHECK_OK(op.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, out_.parts[b]));
    }
    TRY(size_t y, result(last));
    CHECK_OK(op.set_descriptor(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, out_.parts[y]));
    return operation(std::move(op), y);
  }

  const Cudnn& cudnn_;
  const ConvShape& shape_;
  const cudnnDataType_t type_;
  ConvGraph out_;
  std::vector<size_t> operations_;
  int64_t virtuals_ = 0;
};

}  // namespace

Result<ConvGraph> make_conv_graph(const Cudnn& cudnn, cudnnHandle_t handle, const ConvShape& shape,
                                  const LoweredEpilogue& epilogue) {
  return Builder(cudnn, shape, epilogue.code.output).build(handle, epilogue);
}

}  // namespace enginery
