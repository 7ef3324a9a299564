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
  // Steps of a node of a file are called as the importer calls them.
  void nms(const std::string& y, const std::string& boxes, const std::string& scores, int64_t most,
           float overlap, float least_score) override {
    counted_[y] = network_.add_nms(at(boxes), at(scores), most, overlap, least_score, false,
                                   step(y + "/non_max_suppression"));
  }
  void non_zero(const std::string& y, const std::string& x) override {
    counted_[y] = network_.add_non_zero(at(x), step(y + "/find_non_zero"));
  }
  void compress(const std::string& y, const std::string& x, const std::string& c) override {
    counted_[y] = network_.add_compress(at(x), network_.add_cast(at(c), "boolean", y + ".c"), 1, y);
  }
  void output(const std::string& name) override {
    const auto counted = counted_.find(name);
    if (counted == counted_.end())
      network_.mark_output(at(name));
    else
      network_.mark_output(counted->second, name);
  }
  std::string bytes() override { return network_.save(); }

 private:
  // A step's second result has no name of its own.
  static Layer step(const std::string& name) {
    Layer out(name);
    out.output_names = {name, "v"};
    return out;
  }
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
  std::map<std::string, CountedTensor> counted_;
};

}  // namespace

std::unique_ptr<LayerSink> make_network_sink() {
  return std::make_unique<NetworkSink>();
}

}  // namespace enginery::test
