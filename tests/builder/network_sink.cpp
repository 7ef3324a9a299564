// The public C++ header alone, as a program of somebody else has it.
#include <map>

#include "enginery/build.hpp"
#include "tests/builder/layer_sink.h"

namespace enginery::test {
namespace {

class NetworkSink final : public LayerSink {
 public:
  void input(const std::string& name, const Shape& dims) override {
    tensors_[name] = network_.add_input(name, ENGINERY_FLOAT32, dims);
  }
  void weights(const std::string& name, const Shape& dims,
               const std::vector<float>& values) override {
    tensors_[name] = network_.add_constant(dims, values, name);
  }
  void convolution(const std::string& y, const std::string& x, const std::string& w,
                   const Window& window) override {
    tensors_[y] = network_.add_convolution(at(x), at(w), {}, in_two(window), 1, y);
  }
  void max_pool(const std::string& y, const std::string& x, const Window& window) override {
    tensors_[y] = network_.add_pooling(at(x), "max", in_two(window), y);
  }
  void batch_norm(const std::string& y, const std::string& x) override {
    tensors_[y] = network_.add_batch_normalization(at(x), at(y + ".s"), at(y + ".b"), at(y + ".m"),
                                                   at(y + ".v"), 1e-5f, y);
  }
  void average_planes(const std::string& y, const std::string& x) override {
    tensors_[y] = network_.add_global_pooling(at(x), "average", y);
  }
  void flatten(const std::string& y, const std::string& x) override {
    tensors_[y] = network_.add_layer("flatten", {at(x)}, {}, y).at(0);
  }
  void fully_connected(const std::string& y, const std::string& x, const std::string& w,
                       const std::string& b) override {
    tensors_[y] = network_.add_fully_connected(at(x), at(w), at(b), y);
  }
  void relu(const std::string& y, const std::string& x) override {
    tensors_[y] = network_.add_activation(at(x), "relu", y);
  }
  void gelu(const std::string& y, const std::string& x) override {
    tensors_[y] = network_.add_activation(at(x), "gelu_erf", y);
  }
  void add(const std::string& y, const std::string& a, const std::string& b) override {
    tensors_[y] = network_.add_elementwise(at(a), at(b), "add", y);
  }
  void multiply(const std::string& y, const std::string& a, const std::string& b) override {
    tensors_[y] = network_.add_elementwise(at(a), at(b), "mul", y);
  }
  void product(const std::string& y, const std::string& a, const std::string& b) override {
    tensors_[y] = network_.add_matrix_multiply(at(a), at(b), y);
  }
  void reshape(const std::string& y, const std::string& x, const Shape& dims) override {
    tensors_[y] = network_.add_reshape(at(x), dims, y);
  }
  void transpose(const std::string& y, const std::string& x, const Shape& permutation) override {
    tensors_[y] = network_.add_transpose(at(x), permutation, y);
  }
  void softmax(const std::string& y, const std::string& x) override {
    tensors_[y] = network_.add_softmax(at(x), -1, y);
  }
  void layer_norm(const std::string& y, const std::string& x) override {
    tensors_[y] = network_.add_normalization(at(x), at(y + ".s"), at(y + ".b"), -1, 1e-5f, y);
  }
  void output(const std::string& name) override { network_.mark_output(at(name)); }
  std::string bytes() override { return network_.save(); }

 private:
  NetworkTensor at(const std::string& name) const { return tensors_.at(name); }
  static enginery::Window in_two(const Window& window) {
    enginery::Window out;
    out.size = {window.size, window.size};
    out.strides = {window.stride, window.stride};
    out.padding = {window.padding, window.padding};
    return out;
  }

  Network network_{"net"};
  std::map<std::string, NetworkTensor> tensors_;
};

}  // namespace

std::unique_ptr<LayerSink> make_network_sink() {
  return std::make_unique<NetworkSink>();
}

}  // namespace enginery::test
