#include "tests/fuzz/onnx_mutator.h"

#include <google/protobuf/descriptor.h>
#include <onnx/onnx_pb.h>

#include <cmath>

namespace enginery::test {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Besides every other text of the model.
constexpr const char* kWords[] = {"",
                                  "x",
                                  "y",
                                  "N",
                                  "0",
                                  "-1",
                                  "axis",
                                  "axes",
                                  "to",
                                  "mode",
                                  "perm",
                                  "pads",
                                  "strides",
                                  "group",
                                  "dims",
                                  "shape",
                                  "SAME_UPPER",
                                  "VALID",
                                  "linear",
                                  "nearest",
                                  "cubic",
                                  "reflect",
                                  "ij,jk->",
                                  "ai.onnx",
                                  "Add",
                                  "Identity",
                                  "Reshape",
                                  "Transpose",
                                  "Concat",
                                  "Split",
                                  "Slice",
                                  "Gather",
                                  "Pad",
                                  "Resize",
                                  "Expand",
                                  "Tile",
                                  "Where",
                                  "Cast",
                                  "Range",
                                  "Shape",
                                  "Conv",
                                  "MatMul",
                                  "Gemm",
                                  "Einsum",
                                  "Constant",
                                  "TopK",
                                  "CumSum",
                                  "OneHot",
                                  "ReduceSum",
                                  "Softmax",
                                  "Squeeze",
                                  "Unsqueeze",
                                  "ScatterND",
                                  "NonZero",
                                  "Loop",
                                  "If",
                                  "GatherND",
                                  "Size",
                                  "Flatten",
                                  "EyeLike",
                                  "ConstantOfShape"};

// A field of a message, somewhere in a model.
struct Field {
  Message* message;
  const FieldDescriptor* descriptor;
};

// Every field that is set, and every short text.
class Fields {
 public:
  explicit Fields(Message& model) { walk(model); }
  std::vector<Field> all;
  std::vector<std::string> texts;

 private:
  void walk(Message& message) {
    std::vector<const FieldDescriptor*> set;
    const auto* reflection = message.GetReflection();
    reflection->ListFields(message, &set);
    for (const FieldDescriptor* field : set) {
      all.push_back({&message, field});
      const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
      const bool is_text = field->type() == FieldDescriptor::TYPE_STRING;
      if (!field->is_repeated()) {
        if (is_message) walk(*reflection->MutableMessage(&message, field));
        if (is_text) texts.push_back(reflection->GetString(message, field));
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
        if (is_message) walk(*reflection->MutableRepeatedMessage(&message, field, i));
        if (is_text) texts.push_back(reflection->GetRepeatedString(message, field, i));
      }
    }
  }
};

// A text of the model's own words; of raw data other bytes.
std::string edited_string(const FieldDescriptor& field, const std::string& text,
                          const Fields& fields, Random& random) {
  return field.type() == FieldDescriptor::TYPE_BYTES && random() % 4
             ? with_other_bytes(text, random)
             : edited_text(text, kWords, fields.texts, random);
}

float edited_float(Random& random) {
  constexpr float kFloats[] = {0.0f, -1.0f, 0.5f, 1e-30f, 1e30f, INFINITY, -INFINITY, NAN, 3.0f};
  return any_of(kFloats, random);
}

void edit_single(const Field& at, const Fields& fields, Random& random) {
  Message* const m = at.message;
  const FieldDescriptor* const f = at.descriptor;
  const auto* r = m->GetReflection();
  if (random() % 8 == 0) return r->ClearField(m, f);
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->SetInt32(m, f, static_cast<int>(edited_number(r->GetInt32(*m, f), random)));
    case FieldDescriptor::CPPTYPE_INT64:
      return r->SetInt64(m, f, edited_number(r->GetInt64(*m, f), random));
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->SetEnumValue(m, f, static_cast<int>(random() % 24));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->SetFloat(m, f, edited_float(random));
    case FieldDescriptor::CPPTYPE_STRING:
      return r->SetString(m, f, edited_string(*f, r->GetString(*m, f), fields, random));
    default:
      return;
  }
}

void edit_element(const Field& at, int i, const Fields& fields, Random& random) {
  Message* const m = at.message;
  const FieldDescriptor* const f = at.descriptor;
  const auto* r = m->GetReflection();
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->SetRepeatedInt32(
          m, f, i, static_cast<int>(edited_number(r->GetRepeatedInt32(*m, f, i), random)));
    case FieldDescriptor::CPPTYPE_INT64:
      return r->SetRepeatedInt64(m, f, i, edited_number(r->GetRepeatedInt64(*m, f, i), random));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->SetRepeatedFloat(m, f, i, edited_float(random));
    case FieldDescriptor::CPPTYPE_STRING:
      return r->SetRepeatedString(
          m, f, i, edited_string(*f, r->GetRepeatedString(*m, f, i), fields, random));
    default:
      return;
  }
}

// The last element again.
void repeat_last(const Field& at) {
  Message* const m = at.message;
  const FieldDescriptor* const f = at.descriptor;
  const auto* r = m->GetReflection();
  const int last = r->FieldSize(*m, f) - 1;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const Message& element = r->GetRepeatedMessage(*m, f, last);
      return r->AddMessage(m, f)->CopyFrom(element);
    }
    case FieldDescriptor::CPPTYPE_INT64:
      return r->AddInt64(m, f, r->GetRepeatedInt64(*m, f, last));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->AddFloat(m, f, r->GetRepeatedFloat(*m, f, last));
    case FieldDescriptor::CPPTYPE_STRING:
      return r->AddString(m, f, r->GetRepeatedString(*m, f, last));
    default:
      return;
  }
}

void edit_list(const Field& at, const Fields& fields, Random& random) {
  const auto* r = at.message->GetReflection();
  const int size = r->FieldSize(*at.message, at.descriptor);
  const int i = static_cast<int>(random() % static_cast<unsigned>(size));
  const bool of_messages = at.descriptor->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  switch (random() % (of_messages ? 3 : 6)) {
    case 0:
      r->SwapElements(at.message, at.descriptor, i, size - 1);
      return r->RemoveLast(at.message, at.descriptor);
    case 1:
      return repeat_last(at);
    case 2:
      return r->SwapElements(at.message, at.descriptor, i,
                             static_cast<int>(random() % static_cast<unsigned>(size)));
    default:
      return edit_element(at, i, fields, random);
  }
}

}  // namespace

Bytes edited_model(const Bytes& model, Random& random) {
  onnx::ModelProto message;
  if (random() % 8 == 0 || !message.ParseFromString(model)) return damaged(model, random);
  for (auto edits = random() % 4 + 1; edits > 0; --edits) {
    const Fields fields(message);
    if (fields.all.empty()) break;
    const Field& at = any_of(fields.all, random);
    if (at.descriptor->is_repeated())
      edit_list(at, fields, random);
    else
      edit_single(at, fields, random);
  }
  return message.SerializePartialAsString();
}

}  // namespace enginery::test
