#include "engine/import/onnx/model_proto.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

namespace enginery {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr int kMaxDepth = 64;
constexpr uint64_t kMessageBytes = 256, kStringBytes = 48, kNumberBytes = 8;
constexpr uint64_t kBaseBytes = uint64_t{1} << 30;

Error damaged() {
  return {ErrorCode::invalid_argument, "it is not an ONNX model, or it is truncated or damaged"};
}

// Reads protobuf's wire format; `bytes` shrinks as it goes.
class WireWalk {
 public:
  explicit WireWalk(uint64_t most_bytes) : left_(most_bytes) {}

  Status message(const Descriptor* descriptor, std::string_view bytes, int depth) {
    if (depth > kMaxDepth)
      return Error{ErrorCode::invalid_argument, "it nests deeper than any real model"};
    while (!bytes.empty()) {
      uint64_t tag = 0;
      if (!varint(bytes, tag) || tag >> 3 == 0 || tag >> 32 != 0) return damaged();
      const FieldDescriptor* field = descriptor->FindFieldByNumber(static_cast<int>(tag >> 3));
      CHECK_OK(value(field, static_cast<int>(tag & 7), bytes, depth));
    }
    return {};
  }

 private:
  static bool varint(std::string_view& bytes, uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 70 && !bytes.empty(); shift += 7) {
      const uint64_t byte = static_cast<unsigned char>(bytes[0]);
      bytes.remove_prefix(1);
      if (shift < 64) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  static bool skip(std::string_view& bytes, uint64_t n) {
    if (n > bytes.size()) return false;
    bytes.remove_prefix(n);
    return true;
  }

  Status charge(uint64_t bytes) {
    if (bytes > left_)
      return Error{ErrorCode::unsupported, "it would take too much memory: too many small parts"};
    left_ -= bytes;
    return {};
  }

  Status value(const FieldDescriptor* field, int wire_type, std::string_view& bytes, int depth) {
    uint64_t number = 0;
    switch (wire_type) {
      case 0:
        return varint(bytes, number) ? charge(field ? kNumberBytes : kStringBytes) : damaged();
      case 1:
        return skip(bytes, 8) ? charge(field ? kNumberBytes : kStringBytes) : damaged();
      case 5:
        return skip(bytes, 4) ? charge(field ? kNumberBytes : kStringBytes) : damaged();
      case 2:
        break;
      default:
        return damaged();  // groups: ONNX has none
    }
    if (!varint(bytes, number) || number > bytes.size()) return damaged();
    const std::string_view part = bytes.substr(0, number);
    bytes.remove_prefix(number);
    return delimited(field, part, depth);
  }

  Status delimited(const FieldDescriptor* field, std::string_view part, int depth) {
    if (field && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      CHECK_OK(charge(kMessageBytes));
      return message(field->message_type(), part, depth + 1);
    }
    const bool numbers = field && field->is_packable();
    const bool is_float = numbers && (field->cpp_type() == FieldDescriptor::CPPTYPE_FLOAT ||
                                      field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE);
    return charge(kStringBytes + part.size() * (numbers && !is_float ? kNumberBytes : 1));
  }

  uint64_t left_;
};

}  // namespace

void DeleteModelProto::operator()(onnx::ModelProto* model) const {
  std::default_delete<onnx::ModelProto>()(model);
}

Status check_wire(std::string_view bytes) {
  WireWalk walk(2 * bytes.size() + kBaseBytes);
  return walk.message(onnx::ModelProto::descriptor(), bytes, 0);
}

Result<ModelProtoPointer> parse_model(std::string_view bytes) {
  if (bytes.size() > INT32_MAX)
    return Error{ErrorCode::unsupported, "models of more than 2 GiB in one file are not supported"};
  CHECK_OK(check_wire(bytes));
  google::protobuf::LogSilencer quiet;  // the error below says it once
  ModelProtoPointer model(new onnx::ModelProto);
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(INT32_MAX);
  stream.SetRecursionLimit(kMaxDepth + 2);
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) return damaged();
  if (!model->has_graph())
    return Error{ErrorCode::invalid_argument,
                 "it has no graph: it is not an ONNX model, or it is truncated"};
  if (model->opset_import_size() == 0) {
    return Error{ErrorCode::invalid_argument,
                 "it names no operator set: it is not an ONNX model, or it is truncated"};
  }
  return model;
}

}  // namespace enginery
