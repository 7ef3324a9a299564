#include "tests/engine/import/model_builder.h"

#include <onnx/onnx_pb.h>

namespace enginery::test {

Attr::Attr(std::string n, int64_t v)
    : name(std::move(n)),
      fill([v](onnx::AttributeProto& a) { a.set_type(onnx::AttributeProto::INT), a.set_i(v); }) {}
Attr::Attr(std::string n, int v) : Attr(std::move(n), static_cast<int64_t>(v)) {}
Attr::Attr(std::string n, float v)
    : name(std::move(n)),
      fill([v](onnx::AttributeProto& a) { a.set_type(onnx::AttributeProto::FLOAT), a.set_f(v); }) {}
Attr::Attr(std::string n, const char* v)
    : name(std::move(n)), fill([v = std::string(v)](onnx::AttributeProto& a) {
        a.set_type(onnx::AttributeProto::STRING), a.set_s(v);
      }) {}
Attr::Attr(std::string n, std::vector<int64_t> v)
    : name(std::move(n)), fill([v](onnx::AttributeProto& a) {
        a.set_type(onnx::AttributeProto::INTS);
        for (int64_t i : v) a.add_ints(i);
      }) {}
Attr::Attr(std::string n, std::vector<float> v)
    : name(std::move(n)), fill([v](onnx::AttributeProto& a) {
        a.set_type(onnx::AttributeProto::FLOATS);
        for (float f : v) a.add_floats(f);
      }) {}
Attr::Attr(std::string n, const onnx::TensorProto& v)
    : name(std::move(n)), fill([v](onnx::AttributeProto& a) {
        a.set_type(onnx::AttributeProto::TENSOR);
        *a.mutable_t() = v;
      }) {}
Attr::Attr(std::string n, const onnx::GraphProto& v)
    : name(std::move(n)), fill([v](onnx::AttributeProto& a) {
        a.set_type(onnx::AttributeProto::GRAPH);
        *a.mutable_g() = v;
      }) {}

Attr Attr::reference(std::string n, std::string of_call) {
  Attr attr(std::move(n), 0);
  attr.fill = [of_call](onnx::AttributeProto& a) {
    a.set_type(onnx::AttributeProto::INT), a.set_ref_attr_name(of_call);
  };
  return attr;
}

namespace {

void fill(onnx::ValueInfoProto& info, const std::string& name, const std::vector<Size>& sizes,
          int type) {
  info.set_name(name);
  auto* tensor = info.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  auto* shape = tensor->mutable_shape();
  for (const Size& size : sizes) {
    auto* dim = shape->add_dim();
    if (size.unknown) continue;
    if (!size.symbol.empty())
      dim->set_dim_param(size.symbol);
    else
      dim->set_dim_value(size.value);
  }
}

}  // namespace

ModelBuilder::ModelBuilder(int64_t opset) : model_(std::make_unique<onnx::ModelProto>()) {
  model_->set_ir_version(7);
  model_->add_opset_import()->set_version(opset);
  graph().set_name("test");
}

ModelBuilder::ModelBuilder(ModelBuilder&&) noexcept = default;
ModelBuilder::~ModelBuilder() = default;

onnx::GraphProto& ModelBuilder::graph() {
  return *model_->mutable_graph();
}

ModelBuilder& ModelBuilder::input(const std::string& name, const std::vector<Size>& sizes,
                                  int type) {
  fill(*graph().add_input(), name, sizes, type);
  return *this;
}

ModelBuilder& ModelBuilder::output(const std::string& name) {
  fill(*graph().add_output(), name, {}, kFloat);
  return *this;
}

ModelBuilder& ModelBuilder::weights(const std::string& name, const std::vector<int64_t>& dims,
                                    const std::vector<float>& values) {
  onnx::TensorProto& t = *graph().add_initializer();
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t d : dims) t.add_dims(d);
  for (float v : values) t.add_float_data(v);
  return *this;
}

ModelBuilder& ModelBuilder::ints(const std::string& name, const std::vector<int64_t>& values) {
  onnx::TensorProto& t = *graph().add_initializer();
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::INT64);
  t.add_dims(static_cast<int64_t>(values.size()));
  for (int64_t v : values) t.add_int64_data(v);
  return *this;
}

ModelBuilder& ModelBuilder::node(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs,
                                 const std::vector<Attr>& attributes) {
  onnx::NodeProto& n = *graph().add_node();
  n.set_op_type(op);
  n.set_name(op + "_" + std::to_string(graph().node_size()));
  for (const auto& i : inputs) n.add_input(i);
  for (const auto& o : outputs) n.add_output(o);
  for (const Attr& a : attributes) {
    onnx::AttributeProto& proto = *n.add_attribute();
    proto.set_name(a.name);
    a.fill(proto);
  }
  return *this;
}

ModelBuilder& ModelBuilder::function(const std::string& name, ModelBuilder body,
                                     const std::vector<std::string>& attributes) {
  onnx::FunctionProto& f = *model_->add_functions();
  f.set_name(name);
  f.set_domain("local");
  *f.mutable_opset_import() = body.model_->opset_import();
  for (const auto& input : body.graph().input()) f.add_input(input.name());
  for (const auto& output : body.graph().output()) f.add_output(output.name());
  for (const std::string& attribute : attributes) f.add_attribute(attribute);
  *f.mutable_node() = body.graph().node();
  return *this;
}

ModelBuilder& ModelBuilder::call(const std::string& function,
                                 const std::vector<std::string>& inputs,
                                 const std::vector<std::string>& outputs,
                                 const std::vector<Attr>& attributes) {
  node(function, inputs, outputs, attributes);
  graph().mutable_node(graph().node_size() - 1)->set_domain("local");
  return *this;
}

Bytes ModelBuilder::bytes() const {
  return model_->SerializeAsString();
}

ModelBuilder small_convolution() {
  ModelBuilder b;
  std::vector<float> weights;
  for (int i = 0; i < 3 * 2 * 3 * 3; ++i)
    weights.push_back(0.1f * static_cast<float>(i % 7) - 0.3f);
  b.input("x", {1, 2, 4, 4})
      .output("y")
      .weights("w", {3, 2, 3, 3}, weights)
      .weights("b", {3}, {0.1f, 0.2f, 0.3f});
  b.node("Conv", {"x", "w", "b"}, {"c"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}})
      .node("Relu", {"c"}, {"y"});
  return b;
}

}  // namespace enginery::test
