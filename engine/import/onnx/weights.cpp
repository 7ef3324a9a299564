#include "engine/import/onnx/weights.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "engine/import/onnx/onnx_types.h"
#include "engine/import/onnx/source_node.h"
#include "engine/ops/attributes.h"
#include "engine/tensor/storage_types.h"

namespace enginery {
namespace {

constexpr int64_t kMaxDenseBytes = int64_t{1} << 26;
// All tensors together: what one protobuf message can hold, and what is on disk besides, which a
// file system may have compressed.
constexpr uint64_t kMaxInsideBytes = uint64_t{1} << 31, kMaxWeightBytes = uint64_t{64} << 30;
constexpr uint64_t kMostCompressed = 2;
// Elements are used where they lie from here on; malloc's own.
constexpr uintptr_t kPlaceAlignment = 16;

Error bad(const onnx::TensorProto& proto, const std::string& reason) {
  return {ErrorCode::invalid_argument, "tensor '" + printable(proto.name()) + "': " + reason};
}

Result<TensorType> declared_type(const onnx::TensorProto& proto) {
  const auto type = onnx_type(proto.data_type());
  if (!type) return type.error().within("tensor '" + printable(proto.name()) + "'");
  Dims dims(proto.dims().begin(), proto.dims().end());
  if (dims.size() > 64) return bad(proto, "it has " + std::to_string(dims.size()) + " dimensions");
  for (const int64_t d : dims) {
    if (d < 0 || d > kMaxSize) return bad(proto, "a dimension is " + std::to_string(d));
  }
  const auto n = checked_volume(dims, element_bytes(*type));
  if (!n) return bad(proto, n.error().message);
  return TensorType{*type, std::move(dims)};
}

// Elements as the file has them: 4-bit integers are two in a byte, the first one in the low bits.
int64_t stored_elements(const TensorType& type) {
  const int64_t n = volume(type.dims);
  return is_4_bit_integer(type.type) ? n / 2 + n % 2 : n;
}

int64_t stored_bytes(const TensorType& type) {
  return stored_elements(type) * element_bytes(type.type);
}

// Pairs of 4-bit integers at the start of `tensor` become its elements. From the end, so that none
// is written over before it is read.
void unpack_pairs(Tensor& tensor) {
  if (!is_4_bit_integer(tensor.type())) return;
  auto* bytes = static_cast<uint8_t*>(tensor.mutable_bytes());
  for (int64_t i = tensor.size(); i-- > 0;)
    bytes[i] = low_4_bits(bytes[i / 2] >> (i % 2 * 4), tensor.type());
}

// Elements outside raw_data: how many there are in the field that the type belongs to.
int64_t typed_elements(const onnx::TensorProto& proto, DataType type) {
  switch (type) {
    case DataType::float32:
      return proto.float_data_size();
    case DataType::float64:
      return proto.double_data_size();
    case DataType::int64:
      return proto.int64_data_size();
    case DataType::uint32:
    case DataType::uint64:
      return proto.uint64_data_size();
    default:
      return proto.int32_data_size();
  }
}

// Smaller integers, booleans and the bits of 16-bit floats travel as int32.
void copy_int32s(const onnx::TensorProto& proto, Tensor& out) {
  const int64_t width = element_bytes(out.type());
  char* target = static_cast<char*>(out.mutable_bytes());
  for (int32_t v : proto.int32_data()) {
    std::memcpy(target, &v, static_cast<size_t>(width));  // little-endian: the low bytes
    target += width;
  }
}

template <typename To, typename Field>
void copy_numbers(const Field& field, Tensor& out) {
  std::transform(field.begin(), field.end(), out.mutable_data<To>().begin(),
                 [](auto v) { return static_cast<To>(v); });
}

void copy_typed(const onnx::TensorProto& proto, Tensor& out) {
  switch (out.type()) {
    case DataType::float32:
      return copy_numbers<float>(proto.float_data(), out);
    case DataType::float64:
      return copy_numbers<double>(proto.double_data(), out);
    case DataType::int64:
      return copy_numbers<int64_t>(proto.int64_data(), out);
    case DataType::uint32:
      return copy_numbers<uint32_t>(proto.uint64_data(), out);
    case DataType::uint64:
      return copy_numbers<uint64_t>(proto.uint64_data(), out);
    default:
      return copy_int32s(proto, out);
  }
}

// Any byte other than 0 and 1 in a bool is undefined behaviour.
void normalize_booleans(Tensor& tensor) {
  if (tensor.type() != DataType::boolean) return;
  auto* bytes = static_cast<unsigned char*>(tensor.mutable_bytes());
  for (int64_t i = 0; i < tensor.size(); ++i) bytes[i] = bytes[i] != 0;
}

struct ExternalRange {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<ExternalRange> external_range(const onnx::TensorProto& proto) {
  ExternalRange range;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") range.location = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const auto number = parse_int(entry.value());
    if (!number || *number < 0) {
      return bad(proto, "external data: " + entry.key() + " is '" + printable(entry.value()) + "'");
    }
    if (entry.key() == "offset")
      range.offset = static_cast<uint64_t>(*number);
    else
      range.length = static_cast<uint64_t>(*number);
  }
  if (range.location.empty()) return bad(proto, "external data without a location");
  return range;
}

Status check_external(const onnx::TensorProto& proto, uint64_t bytes, ExternalFiles& files) {
  TRY(ExternalRange range, external_range(proto));
  if (range.length && *range.length != bytes) {
    return bad(proto, "external data has " + std::to_string(*range.length) +
                          " bytes, its type and dims need " + std::to_string(bytes));
  }
  const auto size = files.size(range.location);
  if (!size) return size.error().within("tensor '" + printable(proto.name()) + "'");
  if (range.offset > *size || bytes > *size - range.offset) {
    return bad(proto, "external data ends at byte " + std::to_string(range.offset) + " + " +
                          std::to_string(bytes) + ", '" + printable(range.location) + "' has " +
                          std::to_string(*size));
  }
  return {};
}

bool is_external(const onnx::TensorProto& proto) {
  return proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0;
}

Status check_inside(const onnx::TensorProto& proto, const TensorType& type) {
  const int64_t elements = typed_elements(proto, type.type);
  if (proto.has_raw_data() && !proto.raw_data().empty()) {
    if (elements > 0) return bad(proto, "its elements are stored twice");
    const int64_t bytes = static_cast<int64_t>(proto.raw_data().size());
    if (bytes == stored_bytes(type)) return {};
    return bad(proto, "it holds " + std::to_string(bytes) + " bytes, " + to_string(type) +
                          " needs " + std::to_string(stored_bytes(type)));
  }
  if (elements == stored_elements(type)) return {};
  return bad(proto, "it holds " + std::to_string(elements) + " elements, " + to_string(type) +
                        " needs " + std::to_string(stored_elements(type)));
}

}  // namespace

Status WeightReader::check(const onnx::TensorProto& proto) {
  TRY(const TensorType type, declared_type(proto));
  if (proto.has_segment())
    return Error{ErrorCode::unsupported,
                 "tensor '" + printable(proto.name()) + "' is stored in segments"};
  if (is_external(proto))
    return check_external(proto, static_cast<uint64_t>(stored_bytes(type)), files_);
  return check_inside(proto, type);
}

Status WeightReader::check_total(uint64_t bytes) const {
  const uint64_t most =
      std::min(kMaxInsideBytes + kMostCompressed * files_.present_bytes(), kMaxWeightBytes);
  if (bytes <= most) return {};
  return Error{ErrorCode::unsupported, "its weights take more than " + std::to_string(most >> 20) +
                                           " MiB in all, far more than the files that hold them"};
}

Status WeightReader::charge(int64_t bytes) {
  bytes_read_ += static_cast<uint64_t>(bytes);
  return check_total(bytes_read_);
}

Result<std::optional<WeightReader::Range>> WeightReader::outside(const onnx::TensorProto& proto) {
  CHECK_OK(check(proto));
  if (!is_external(proto)) return std::optional<Range>();
  TRY(const TensorType type, declared_type(proto));
  TRY(ExternalRange range, external_range(proto));
  return std::optional<Range>(
      {std::move(range.location), range.offset, static_cast<uint64_t>(stored_bytes(type))});
}

Result<Tensor> WeightReader::read_outside(const Range& range, const TensorType& type) {
  auto place = files_.in_memory(range.location, range.offset);
  const bool as_it_is = !is_4_bit_integer(type.type) && type.type != DataType::boolean;
  if (place && as_it_is && reinterpret_cast<uintptr_t>(place.get()) % kPlaceAlignment == 0)
    return Tensor::borrow(type.type, type.dims, std::move(place));
  Tensor out(type.type, type.dims);
  CHECK_OK(read(range, static_cast<char*>(out.mutable_bytes())));
  normalize_booleans(out);
  unpack_pairs(out);
  return out;
}

Result<Tensor> WeightReader::read(const onnx::TensorProto& proto) {
  TRY(const std::optional<Range> range, outside(proto));
  TRY(const TensorType type, declared_type(proto));
  CHECK_OK(charge(bytes_of(type)));
  if (range) return read_outside(*range, type);
  Tensor out(type.type, type.dims);
  if (!proto.raw_data().empty()) {
    std::memcpy(out.mutable_bytes(), proto.raw_data().data(), proto.raw_data().size());
  } else {
    copy_typed(proto, out);
  }
  normalize_booleans(out);
  unpack_pairs(out);
  return out;
}

Result<Tensor> WeightReader::read(const onnx::SparseTensorProto& proto) {
  TRY(const Tensor values, read(proto.values()));
  TRY(const Tensor indices, read(proto.indices()));
  const Dims dims(proto.dims().begin(), proto.dims().end());
  for (const int64_t d : dims) {
    if (d < 0 || d > kMaxSize) return bad(proto.values(), "a dimension is " + std::to_string(d));
  }
  const auto elements = checked_volume(dims, element_bytes(values.type()));
  if (!elements) return bad(proto.values(), elements.error().message);
  const int64_t width = element_bytes(values.type()), rank = static_cast<int64_t>(dims.size()),
                count = values.size();
  if (*elements * width > kMaxDenseBytes) {
    return Error{ErrorCode::unsupported, "tensor '" + printable(proto.values().name()) +
                                             "': a sparse tensor of " + to_string(dims)};
  }
  CHECK_OK(charge(*elements * width));
  const bool linear = indices.dims() == Dims{count};
  if (indices.type() != DataType::int64 || (!linear && indices.dims() != Dims{count, rank})) {
    return bad(proto.values(), "sparse indices are " + to_string(indices.tensor_type()));
  }
  Tensor out(values.type(), dims);
  std::memset(out.mutable_bytes(), 0, static_cast<size_t>(out.bytes()));
  const Dims strides = strides_of(dims);
  const auto index = indices.data<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = linear ? index[static_cast<size_t>(i)] : 0;
    for (int64_t d = 0; !linear && d < rank; ++d) {
      const int64_t coordinate = index[static_cast<size_t>(i * rank + d)];
      if (coordinate < 0 || coordinate >= dims[static_cast<size_t>(d)])
        return bad(proto.values(), "a sparse index is out of range");
      at += coordinate * strides[static_cast<size_t>(d)];
    }
    if (at < 0 || at >= out.size()) return bad(proto.values(), "a sparse index is out of range");
    std::memcpy(static_cast<char*>(out.mutable_bytes()) + at * width,
                static_cast<const char*>(values.raw()) + i * width, static_cast<size_t>(width));
  }
  return out;
}

Bytes raw_data_of(const Tensor& tensor) {
  if (!is_4_bit_integer(tensor.type())) return Bytes(as_text(tensor.byte_span()));
  Bytes out(static_cast<size_t>(stored_bytes(tensor.tensor_type())), '\0');
  const auto* values = static_cast<const uint8_t*>(tensor.raw());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    char& pair = out[static_cast<size_t>(i / 2)];
    pair = static_cast<char>(pair | (values[i] & 15) << (i % 2 * 4));
  }
  return out;
}

}  // namespace enginery
