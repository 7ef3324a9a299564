#include <onnx/onnx_pb.h>

#include "tests/builder/layer_sink.h"
#include "tests/engine/import/model_builder.h"

namespace enginery::test {
namespace {

constexpr int64_t kOpset = 20;

class OnnxSink final : public LayerSink {
 public:
  void input(const std::string& name, const Shape& dims) override {
    model_.input(name, std::vector<Size>(dims.begin(), dims.end()));
  }
  void weights(const std::string& name, const Shape& dims,
               const std::vector<float>& values) override {
    model_.weights(name, dims, values);
  }
  void convolution(const std::string& y, const std::string& x, const std::string& w,
                   const Window& window) override {
    node("Conv", {x, w}, y, attributes_of(window));
  }
  void max_pool(const std::string& y, const std::string& x, const Window& window) override {
    node("MaxPool", {x}, y, attributes_of(window));
  }
  void batch_norm(const std::string& y, const std::string& x) override {
    node("BatchNormalization", {x, y + ".s", y + ".b", y + ".m", y + ".v"}, y);
  }
  void average_planes(const std::string& y, const std::string& x) override {
    node("GlobalAveragePool", {x}, y);
  }
  void flatten(const std::string& y, const std::string& x) override { node("Flatten", {x}, y); }
  void fully_connected(const std::string& y, const std::string& x, const std::string& w,
                       const std::string& b) override {
    node("Gemm", {x, w, b}, y, {{"transB", 1}});
  }
  void relu(const std::string& y, const std::string& x) override { node("Relu", {x}, y); }
  void gelu(const std::string& y, const std::string& x) override { node("Gelu", {x}, y); }
  void add(const std::string& y, const std::string& a, const std::string& b) override {
    node("Add", {a, b}, y);
  }
  void multiply(const std::string& y, const std::string& a, const std::string& b) override {
    node("Mul", {a, b}, y);
  }
  void product(const std::string& y, const std::string& a, const std::string& b) override {
    node("MatMul", {a, b}, y);
  }
  void reshape(const std::string& y, const std::string& x, const Shape& dims) override {
    model_.ints(y + ".dims", dims);
    node("Reshape", {x, y + ".dims"}, y);
  }
  void transpose(const std::string& y, const std::string& x, const Shape& permutation) override {
    node("Transpose", {x}, y, {{"perm", permutation}});
  }
  void softmax(const std::string& y, const std::string& x) override { node("Softmax", {x}, y); }
  void layer_norm(const std::string& y, const std::string& x) override {
    node("LayerNormalization", {x, y + ".s", y + ".b"}, y);
  }
  void nms(const std::string& y, const std::string& boxes, const std::string& scores, int64_t most,
           float overlap, float least_score) override {
    // What a network calls constants that are given no name.
    model_.ints("constant", {most}).weights("constant.1", {1}, {overlap});
    model_.weights("constant.2", {1}, {least_score});
    node("NonMaxSuppression", {boxes, scores, "constant", "constant.1", "constant.2"}, y);
  }
  void non_zero(const std::string& y, const std::string& x) override { node("NonZero", {x}, y); }
  void compress(const std::string& y, const std::string& x, const std::string& c) override {
    node("Cast", {c}, y + ".c", {{"to", int64_t{kBool}}});
    node("Compress", {x, y + ".c"}, y, {{"axis", 1}});
  }
  void output(const std::string& name) override { model_.output(name); }
  std::string bytes() override { return model_.bytes(); }

 private:
  // Called as what it gives is.
  void node(const char* op, const std::vector<std::string>& inputs, const std::string& output,
            const std::vector<Attr>& attributes = {}) {
    model_.node(op, inputs, {output}, attributes);
    model_.graph().mutable_node(model_.graph().node_size() - 1)->set_name(output);
  }
  static std::vector<Attr> attributes_of(const Window& w) {
    return {{"kernel_shape", Shape{w.size, w.size}},
            {"strides", Shape{w.stride, w.stride}},
            {"pads", Shape(4, w.padding)}};
  }

  ModelBuilder model_{kOpset};
};

}  // namespace

std::unique_ptr<LayerSink> make_onnx_sink() {
  return std::make_unique<OnnxSink>();
}

}  // namespace enginery::test
