#include "engine/import/onnx/functions.h"

#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "engine/import/onnx/attributes.h"

namespace enginery {
namespace {

// FunctionProto.attribute_proto, which the message classes of ONNX 1.12 do not know: attributes
// with a default.
constexpr int kDefaultsField = 11;
constexpr size_t kMaxDefaultBytes = size_t{1} << 20;

Error invalid_function(const std::string& name, const std::string& reason) {
  return {ErrorCode::invalid_argument, "function '" + printable(name) + "': " + reason};
}

Status read_defaults(const onnx::FunctionProto& proto, WeightReader& weights, Attributes& out) {
  const auto& unknown = proto.unknown_fields();
  size_t bytes = 0;
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    if (field.number() != kDefaultsField ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    bytes += field.length_delimited().size();
    onnx::AttributeProto attribute;
    if (bytes > kMaxDefaultBytes || !attribute.ParseFromString(field.length_delimited()))
      return invalid_function(proto.name(), "its attributes' defaults are damaged or too large");
    CHECK_OK(check_name(attribute.name()));
    TRY(AttributeValue value, to_attribute_value(attribute, weights));
    out.insert_or_assign(attribute.name(), std::move(value));
  }
  return {};
}

}  // namespace

bool is_standard_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

Function::Function() = default;
Function::Function(Function&&) noexcept = default;
Function::~Function() = default;

Status FunctionTable::read(onnx::ModelProto& model, WeightReader& weights) {
  for (auto& proto : *model.mutable_functions()) CHECK_OK(add(proto, weights));
  return {};
}

Status FunctionTable::add(onnx::FunctionProto& proto, WeightReader& weights) {
  CHECK_OK(check_name(proto.name()));
  CHECK_OK(check_name(proto.domain()));
  const std::string domain = is_standard_domain(proto.domain()) ? "" : proto.domain();
  Function function;
  for (const auto& set : proto.opset_import()) {
    if (is_standard_domain(set.domain())) function.opset = std::max(function.opset, set.version());
  }
  CHECK_OK(read_defaults(proto, weights, function.defaults));
  function.body = std::make_unique<onnx::GraphProto>();
  function.body->set_name(proto.name());
  for (const std::string& name : proto.input()) function.body->add_input()->set_name(name);
  for (const std::string& name : proto.output()) function.body->add_output()->set_name(name);
  function.body->mutable_node()->Swap(proto.mutable_node());
  const auto [entry, is_new] =
      functions_.emplace(std::pair(domain, proto.name()), std::move(function));
  if (!is_new) entry->second.is_ambiguous = true;
  return {};
}

const Function* FunctionTable::find(const std::string& domain, const std::string& name) const {
  const auto found = functions_.find({is_standard_domain(domain) ? "" : domain, name});
  return found == functions_.end() ? nullptr : &found->second;
}

}  // namespace enginery
