// One description of a network, made twice: as an ONNX model that is imported, and through the
// network interface, layer by layer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace enginery::test {

using Shape = std::vector<int64_t>;

// Takes a network's layers in order. Tensors go by their names, which are their layers' names, too;
// pictures have two dimensions and square windows.
class LayerSink {
 public:
  virtual ~LayerSink() = default;
  virtual void input(const std::string& name, const Shape& dims) = 0;
  virtual void weights(const std::string& name, const Shape& dims,
                       const std::vector<float>& values) = 0;
  struct Window {
    int64_t size, stride, padding;
  };
  virtual void convolution(const std::string& y, const std::string& x, const std::string& w,
                           const Window& window) = 0;
  virtual void max_pool(const std::string& y, const std::string& x, const Window& window) = 0;
  // scale, bias, mean and variance are called y.s, y.b, y.m and y.v.
  virtual void batch_norm(const std::string& y, const std::string& x) = 0;
  virtual void average_planes(const std::string& y, const std::string& x) = 0;
  virtual void flatten(const std::string& y, const std::string& x) = 0;
  virtual void fully_connected(const std::string& y, const std::string& x, const std::string& w,
                               const std::string& b) = 0;
  virtual void relu(const std::string& y, const std::string& x) = 0;
  virtual void gelu(const std::string& y, const std::string& x) = 0;
  virtual void add(const std::string& y, const std::string& a, const std::string& b) = 0;
  virtual void multiply(const std::string& y, const std::string& a, const std::string& b) = 0;
  virtual void product(const std::string& y, const std::string& a, const std::string& b) = 0;
  virtual void reshape(const std::string& y, const std::string& x, const Shape& dims) = 0;
  virtual void transpose(const std::string& y, const std::string& x, const Shape& permutation) = 0;
  virtual void softmax(const std::string& y, const std::string& x) = 0;
  // Over the last dimension; scale and bias are called y.s and y.b.
  virtual void layer_norm(const std::string& y, const std::string& x) = 0;
  // Of the three that follow each run tells how much there is. Rows of the most boxes of a class.
  virtual void nms(const std::string& y, const std::string& boxes, const std::string& scores,
                   int64_t most, float overlap, float least_score) = 0;
  virtual void non_zero(const std::string& y, const std::string& x) = 0;
  // Columns of x at which the vector c is not zero; c as booleans is called y.c.
  virtual void compress(const std::string& y, const std::string& x, const std::string& c) = 0;
  virtual void output(const std::string& name) = 0;
  // A model file's bytes.
  virtual std::string bytes() = 0;
};

// Through enginery/network.hpp, which shares names with the engine's own headers: no test includes
// both.
std::unique_ptr<LayerSink> make_network_sink();
std::unique_ptr<LayerSink> make_onnx_sink();

// ResNet-50 (He et al., "Deep residual learning for image recognition", 2015, table 1), all of its
// layers, with an eighth of their channels, on 64x64 pictures.
void describe_resnet50(LayerSink& net);
// An encoder block: attention of four heads and a network of two products, each with its residual.
void describe_transformer(LayerSink& net);
// Everything whose size a run alone tells, each once.
void describe_selection(LayerSink& net);

}  // namespace enginery::test
