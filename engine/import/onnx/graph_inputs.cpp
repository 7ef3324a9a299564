#include "engine/import/onnx/graph_inputs.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "engine/import/onnx/attributes.h"
#include "engine/import/onnx/onnx_types.h"
#include "engine/import/onnx/source_node.h"

namespace enginery {
namespace {

constexpr int kMaxRank = 16;

Error bad(const std::string& input, const std::string& reason,
          ErrorCode code = ErrorCode::invalid_argument) {
  return {code, "input '" + printable(input) + "': " + reason};
}

}  // namespace

Result<InputTypes::Input> InputTypes::declared(const onnx::ValueInfoProto& info) {
  CHECK_OK(check_name(info.name()));
  if (info.name().empty()) return Error{ErrorCode::invalid_argument, "an input has no name"};
  if (!info.type().has_tensor_type())
    return bad(info.name(), "it is not a tensor", ErrorCode::unsupported);
  const auto& tensor = info.type().tensor_type();
  const auto type = onnx_type(tensor.elem_type());
  if (!type) return bad(info.name(), type.error().message, type.error().code);
  Input input{info.name(), *type, tensor.has_shape(), {}};
  if (tensor.shape().dim_size() > kMaxRank) {
    return bad(info.name(), "it has " + std::to_string(tensor.shape().dim_size()) + " dimensions");
  }
  for (const auto& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() < 0) {
      return bad(info.name(), "a dimension is negative: " + std::to_string(dim.dim_value()));
    }
    CHECK_OK(check_name(dim.dim_param()));
    input.sizes.push_back(dim.has_dim_value() ? Size{dim.dim_value(), ""}
                                              : Size{kDynamic, dim.dim_param()});
  }
  return input;
}

Status InputTypes::bind(const Input& input, Size& size, int64_t value) {
  if (value < 0) return bad(input.name, "a given size is negative");
  size.value = value;
  if (size.symbol.empty()) return {};
  const auto [at, fresh] = bound_.emplace(size.symbol, value);
  if (fresh || at->second == value) return {};
  return bad(input.name, "dimension '" + printable(size.symbol) + "' is " + std::to_string(value) +
                             " here and " + std::to_string(at->second) + " elsewhere");
}

Status InputTypes::apply_shapes(const std::map<std::string, Dims>& shapes) {
  for (const auto& [name, dims] : shapes) {
    auto input = std::ranges::find(inputs_, name, &Input::name);
    if (input == inputs_.end()) {
      std::string known;
      for (const Input& i : inputs_) known += (known.empty() ? "" : ", ") + i.name;
      return Error{ErrorCode::invalid_argument,
                   "the model has no input '" + printable(name) + "' (it has: " + known + ")"};
    }
    if (!input->has_shape) {
      input->sizes.resize(dims.size());
      input->has_shape = true;
    }
    if (input->sizes.size() != dims.size()) {
      return bad(name, "it has " + std::to_string(input->sizes.size()) + " dimensions, the shape " +
                           to_string(dims) + " does not fit");
    }
    for (size_t i = 0; i < dims.size(); ++i) CHECK_OK(bind(*input, input->sizes[i], dims[i]));
  }
  return {};
}

Status InputTypes::close_open_sizes(bool default_to_one) {
  for (Input& input : inputs_) {
    if (!input.has_shape)
      return bad(input.name, "the model does not say its shape: give it (--shapes)",
                 ErrorCode::unsupported);
    for (Size& size : input.sizes) {
      if (size.value >= 0) continue;
      const auto bound = bound_.find(size.symbol);
      if (!size.symbol.empty() && bound != bound_.end()) size.value = bound->second;
      if (size.value >= 0 || !default_to_one) continue;
      size.value = 1;
      notes_.push_back(input.name + ": " + (size.symbol.empty() ? "?" : size.symbol) + " = 1");
    }
  }
  return {};
}

Status InputTypes::check_sizes() const {
  for (const Input& input : inputs_) {
    Dims known;
    for (const Size& size : input.sizes) {
      if (size.value > kMaxSize)
        return bad(input.name, "a dimension of " + std::to_string(size.value) + " is too large");
      if (size.value >= 0) known.push_back(size.value);
    }
    const auto n = checked_volume(known, element_bytes(input.type));
    if (!n) return bad(input.name, n.error().message);
  }
  return {};
}

Result<InputTypes> InputTypes::read(const std::vector<const onnx::ValueInfoProto*>& inputs,
                                    const ImportOptions& options) {
  InputTypes types;
  for (const auto* info : inputs) {
    TRY(Input input, declared(*info));
    types.inputs_.push_back(std::move(input));
  }
  CHECK_OK(types.apply_shapes(options.shapes));
  CHECK_OK(types.close_open_sizes(options.default_symbols_to_one));
  CHECK_OK(types.check_sizes());
  return types;
}

TensorType InputTypes::type(size_t i, Graph& graph) const {
  const Input& input = inputs_[i];
  TensorType type{input.type, {}};
  for (const Size& size : input.sizes) {
    const bool open = size.value < 0 && !size.symbol.empty();
    type.dims.push_back(open ? graph.symbol_size(size.symbol) : size.value);
  }
  return type;
}

}  // namespace enginery
