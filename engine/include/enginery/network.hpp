// Networks made layer by layer: the first half of the C++ face of libenginery-build (build.hpp has
// the other), C++17, in this header alone.
//
//   enginery::Network network("classifier");
//   auto x = network.add_input("x", ENGINERY_FLOAT32, {1, 3, 32, 32});
//   auto w = network.add_constant({8, 3, 3, 3}, weights);
//   enginery::Window window{{3, 3}};
//   window.padding = {1, 1};
//   x = network.add_activation(network.add_convolution(x, w, {}, window), "relu");
//   network.mark_output(x, "y");
//
// Each add_ function adds one layer and gives its result; Layer says its name, its precision and
// its results' type. Errors are exceptions of the class Error (enginery.hpp) that name the layer;
// what a failed call was to add is not there. Threads: as in build.h.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "enginery/build.h"
#include "enginery/enginery.hpp"

namespace enginery {
inline namespace face {

// Throws where a call of build.h failed.
inline void check_build(enginery_status status) {
  if (status != ENGINERY_OK) throw Error(status, enginery_build_last_error());
}

// A value of a network; {} is an optional input that is absent.
struct NetworkTensor {
  enginery_tensor id = ENGINERY_NO_TENSOR;
};

using Sizes = std::vector<int64_t>;

// A result of which each run tells how much of it there is: along `axis` the first `count` (an
// int64 scalar), zeros behind them. mark_output gives it its actual size; layers that read `values`
// see all of it.
struct CountedTensor {
  NetworkTensor values, count;
  int64_t axis = 0;
};

// How a layer is called, and in what it computes; all as it comes by default.
struct Layer {
  Layer(std::string layer_name = "") : name(std::move(layer_name)) {}
  Layer(const char* layer_name) : name(layer_name) {}
  std::string name;
  std::vector<std::string> output_names;  // one for each result
  std::string precision, output_type;     // "float16", ...: enginery_layer
};

// An operator's attributes as text.
class Attributes {
 public:
  Attributes& set(const char* name, const std::string& word) {
    texts_.emplace_back(name, word);
    return *this;
  }
  Attributes& set(const char* name, const char* word) { return set(name, std::string(word)); }
  Attributes& set(const char* name, bool value) { return set(name, value ? "true" : "false"); }
  Attributes& set(const char* name, int64_t value) { return set(name, std::to_string(value)); }
  Attributes& set(const char* name, int value) { return set(name, std::to_string(value)); }
  Attributes& set(const char* name, double value) {
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, static_cast<float>(value)).ptr;
    return set(name, std::string(text, end));
  }
  Attributes& set(const char* name, const Sizes& values) {
    std::string text;
    for (const int64_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
    return set(name, "[" + text + "]");
  }
  const std::vector<std::pair<std::string, std::string>>& texts() const { return texts_; }

 private:
  std::vector<std::pair<std::string, std::string>> texts_;
};

// How a kernel goes over a picture's dimensions; what is empty is 1, and 0 for padding. `padding`
// is at both ends of each dimension, `padding_end` at the end where it is another one.
struct Window {
  Sizes size{}, strides{}, padding{}, padding_end{}, dilations{};

  void set(Attributes& out) const {
    const size_t n = size.size();
    out.set("strides", filled(strides, n, 1)).set("dilations", filled(dilations, n, 1));
    out.set("pads_begin", filled(padding, n, 0));
    out.set("pads_end", padding_end.empty() ? filled(padding, n, 0) : padding_end);
  }
  static Sizes filled(const Sizes& sizes, size_t n, int64_t otherwise) {
    return sizes.empty() ? Sizes(n, otherwise) : sizes;
  }
};

// A network that is put together. Movable; one that was moved from refuses every call (HANDLE).
class Network {
 public:
  explicit Network(const std::string& name = "network") {
    check_build(enginery_network_create(name.c_str(), &handle_));
  }
  Network(Network&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Network& operator=(Network&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Network() { enginery_network_destroy(handle_); }
  const enginery_network* handle() const { return handle_; }

  // A size of -1 is given when the network is built (BuildConfig::shapes).
  NetworkTensor add_input(const std::string& name, enginery_type type, const Sizes& dims) {
    NetworkTensor out;
    check_build(enginery_network_add_input(handle_, name.c_str(), type, dims.data(),
                                           static_cast<int32_t>(dims.size()), &out.id));
    return out;
  }
  NetworkTensor add_constant(enginery_type type, const Sizes& dims, const void* data, size_t bytes,
                             const std::string& name = "") {
    NetworkTensor out;
    check_build(enginery_network_add_constant(handle_, name.c_str(), type, dims.data(),
                                              static_cast<int32_t>(dims.size()), data, bytes,
                                              &out.id));
    return out;
  }
  NetworkTensor add_constant(const Sizes& dims, const std::vector<float>& values,
                             const std::string& name = "") {
    return add_constant(ENGINERY_FLOAT32, dims, values.data(), values.size() * sizeof(float), name);
  }
  // A vector of integers: a shape, axes, indices.
  NetworkTensor add_integers(const Sizes& values, const std::string& name = "") {
    return add_constant(ENGINERY_INT64, {static_cast<int64_t>(values.size())}, values.data(),
                        values.size() * sizeof(int64_t), name);
  }
  void mark_output(NetworkTensor tensor, const std::string& name = "") {
    check_build(
        enginery_network_mark_output(handle_, tensor.id, name.empty() ? nullptr : name.c_str()));
  }
  // An output whose size each run tells (Context::output_dims).
  void mark_output(const CountedTensor& tensor, const std::string& name = "") {
    const enginery_counted_axis axis{tensor.axis, tensor.count.id};
    check_build(enginery_network_mark_counted_output(
        handle_, tensor.values.id, name.empty() ? nullptr : name.c_str(), &axis, 1));
  }
  // What a tensor is (`bytes` 0 where a size is not known yet).
  Tensor tensor(NetworkTensor of) const {
    enginery_tensor_info t{};
    t.struct_size = sizeof t;
    check_build(enginery_network_get_tensor(handle_, of.id, &t));
    return {t.name, Sizes(t.dims, t.dims + t.rank), t.type, t.is_input != 0, t.bytes};
  }
  // The network as a file's bytes, which every verb of the command takes like a model.
  std::string save() const {
    std::string out;
    check_build(enginery_network_save(handle_, append_bytes, &out));
    return out;
  }

  // Any operator (enginery_build_operator) with all of its results.
  std::vector<NetworkTensor> add_layer(const char* op, const std::vector<NetworkTensor>& inputs,
                                       const Attributes& attributes = {}, const Layer& layer = {}) {
    std::vector<enginery_tensor> ids, made(64);
    for (const NetworkTensor input : inputs) ids.push_back(input.id);
    std::vector<enginery_attribute> texts;
    for (const auto& [name, value] : attributes.texts())
      texts.push_back({name.c_str(), value.c_str()});
    std::vector<const char*> names;
    for (const std::string& name : layer.output_names) names.push_back(name.c_str());
    enginery_layer all{};
    all.struct_size = sizeof all;
    all.op = op;
    all.name = text_or_null(layer.name);
    all.attributes = texts.data();
    all.attribute_count = static_cast<int32_t>(texts.size());
    all.inputs = ids.data();
    all.input_count = static_cast<int32_t>(ids.size());
    all.output_names = names.data();
    all.output_name_count = static_cast<int32_t>(names.size());
    all.precision = text_or_null(layer.precision);
    all.output_type = text_or_null(layer.output_type);
    int32_t count = 0;
    check_build(enginery_network_add_layer(handle_, &all, made.data(),
                                           static_cast<int32_t>(made.size()), &count));
    std::vector<NetworkTensor> out;
    for (int32_t i = 0; i < count; ++i) out.push_back({made[static_cast<size_t>(i)]});
    return out;
  }

  // x [N, C, spatial...], weights [K, C/groups, kernel...], bias [K] or {}. window.size counts the
  // spatial dimensions; its numbers are the weights'.
  NetworkTensor add_convolution(NetworkTensor x, NetworkTensor weights, NetworkTensor bias,
                                const Window& window, int64_t groups = 1, const Layer& layer = {}) {
    Attributes attributes;
    window.set(attributes);
    return add_one("conv", with_bias(x, weights, bias), attributes.set("groups", groups), layer);
  }
  // The transposed convolution, of weights [C, K/groups, kernel...].
  NetworkTensor add_deconvolution(NetworkTensor x, NetworkTensor weights, NetworkTensor bias,
                                  const Window& window, int64_t groups = 1,
                                  const Layer& layer = {}) {
    Attributes attributes;
    window.set(attributes);
    attributes.set("output_padding", Sizes(window.size.size(), 0)).set("groups", groups);
    return add_one("deconv", with_bias(x, weights, bias), attributes, layer);
  }
  // [..., M, K] * [..., K, N] with numpy's rules.
  NetworkTensor add_matrix_multiply(NetworkTensor a, NetworkTensor b, const Layer& layer = {}) {
    return add_one("matmul", {a, b}, {}, layer);
  }
  // x [M, K] * weights [N, K]^T + bias [N].
  NetworkTensor add_fully_connected(NetworkTensor x, NetworkTensor weights, NetworkTensor bias,
                                    const Layer& layer = {}) {
    return add_one("gemm", with_bias(x, weights, bias), Attributes().set("transpose_b", true),
                   layer);
  }
  // "add", "sub", "mul", "div", "pow", "min", "max", "equal", "less", ...: BinaryKind.
  NetworkTensor add_elementwise(NetworkTensor a, NetworkTensor b, const char* kind,
                                const Layer& layer = {}) {
    return add_one("binary", {a, b}, Attributes().set("kind", kind), layer);
  }
  // "relu", "sigmoid", "tanh", "gelu_erf", "clip" from alpha to beta, ...: ActivationKind.
  NetworkTensor add_activation(NetworkTensor x, const char* kind, const Layer& layer = {},
                               float alpha = 0, float beta = 0) {
    const Attributes attributes =
        Attributes().set("kind", kind).set("alpha", alpha).set("beta", beta);
    return add_one("act", {x}, attributes, layer);
  }
  // "exp", "sqrt", "erf", "neg", ...: UnaryKind.
  NetworkTensor add_unary(NetworkTensor x, const char* kind, const Layer& layer = {}) {
    return add_one("unary", {x}, Attributes().set("kind", kind), layer);
  }
  // "max" or "average" over windows.
  NetworkTensor add_pooling(NetworkTensor x, const char* kind, const Window& window,
                            const Layer& layer = {}) {
    Attributes attributes;
    window.set(attributes);
    return add_one("pool", {x}, attributes.set("kind", kind).set("kernel", window.size), layer);
  }
  // "max" or "average" over whole planes.
  NetworkTensor add_global_pooling(NetworkTensor x, const char* kind, const Layer& layer = {}) {
    return add_one("global_pool", {x}, Attributes().set("kind", kind), layer);
  }
  // Over the dimensions from `axis` on; scale, and bias or {}, of their dims.
  NetworkTensor add_normalization(NetworkTensor x, NetworkTensor scale, NetworkTensor bias,
                                  int64_t axis = -1, float epsilon = 1e-5f,
                                  const Layer& layer = {}) {
    return add_one("layer_norm", with_bias(x, scale, bias),
                   Attributes().set("axis", axis).set("epsilon", epsilon), layer);
  }
  // A trained one: each of scale, bias, mean and variance [C].
  NetworkTensor add_batch_normalization(NetworkTensor x, NetworkTensor scale, NetworkTensor bias,
                                        NetworkTensor mean, NetworkTensor variance,
                                        float epsilon = 1e-5f, const Layer& layer = {}) {
    return add_one("batch_norm", {x, scale, bias, mean, variance},
                   Attributes().set("epsilon", epsilon), layer);
  }
  NetworkTensor add_softmax(NetworkTensor x, int64_t axis = -1, const Layer& layer = {}) {
    return add_one("softmax", {x}, Attributes().set("axis", axis), layer);
  }
  // 0 keeps the input's size, one -1 is what is left.
  NetworkTensor add_reshape(NetworkTensor x, const Sizes& dims, const Layer& layer = {}) {
    return add_one("reshape", {x, add_integers(dims)}, {}, layer);
  }
  // Dimension i of the result is permutation[i] of x.
  NetworkTensor add_transpose(NetworkTensor x, const Sizes& permutation, const Layer& layer = {}) {
    return add_one("transpose", {x}, Attributes().set("permutation", permutation), layer);
  }
  // A transposition, then a reshape, as a shuffle layer does.
  NetworkTensor add_shuffle(NetworkTensor x, const Sizes& permutation, const Sizes& dims,
                            const Layer& layer = {}) {
    return add_reshape(add_transpose(x, permutation), dims, layer);
  }
  NetworkTensor add_concatenation(const std::vector<NetworkTensor>& inputs, int64_t axis = 1,
                                  const Layer& layer = {}) {
    return add_one("concat", inputs, Attributes().set("axis", axis), layer);
  }
  // Of every dimension the elements start, start + step, ... before end, as in Python.
  NetworkTensor add_slice(NetworkTensor x, const Sizes& starts, const Sizes& ends,
                          const Sizes& steps = {}, const Layer& layer = {}) {
    Sizes axes;
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    const Sizes all_steps = Window::filled(steps, starts.size(), 1);
    return add_one(
        "slice",
        {x, add_integers(starts), add_integers(ends), add_integers(axes), add_integers(all_steps)},
        {}, layer);
  }
  // "sum", "mean", "max", "min", "prod", ...: ReduceKind. No axes: over all of them.
  NetworkTensor add_reduce(NetworkTensor x, const char* kind, const Sizes& axes,
                           bool keep_dims = true, const Layer& layer = {}) {
    const Attributes attributes =
        Attributes().set("kind", kind).set("axes", axes).set("keep_dims", keep_dims);
    return add_one("reduce", {x}, attributes, layer);
  }
  NetworkTensor add_gather(NetworkTensor data, NetworkTensor indices, int64_t axis = 0,
                           const Layer& layer = {}) {
    return add_one("gather", {data, indices}, Attributes().set("axis", axis), layer);
  }
  // To `sizes`, one for each dimension; "nearest", "linear" or "cubic"; coordinates as ONNX calls
  // them ("half_pixel", "align_corners", "asymmetric").
  NetworkTensor add_resize(NetworkTensor x, const Sizes& sizes, const char* mode = "linear",
                           const char* coordinates = "half_pixel", const Layer& layer = {}) {
    return add_one("resize", {x, {}, add_integers(sizes)},
                   Attributes().set("mode", mode).set("coordinates", coordinates), layer);
  }
  // softmax(scale * q k^T) v; q [N, heads, queries, depth], k [N, heads, keys, depth] and v [N,
  // heads, keys, width], result [N, heads, queries, width]; `causal` hides later keys.
  NetworkTensor add_attention(NetworkTensor q, NetworkTensor k, NetworkTensor v, float scale,
                              bool causal = false, const Layer& layer = {}) {
    const Sizes of_q = tensor(q).dims, of_k = tensor(k).dims, of_v = tensor(v).dims;
    if (of_q.size() != 4 || of_k.size() != 4 || of_v.size() != 4)
      throw Error(ENGINERY_ERROR_INVALID_ARGUMENT, "add_attention: q, k and v have 4 dimensions");
    const bool is_fit = of_k[0] == of_q[0] && of_v[0] == of_q[0] && of_k[1] == of_q[1] &&
                        of_v[1] == of_q[1] && of_k[3] == of_q[3] && of_v[2] == of_k[2];
    if (!is_fit)
      throw Error(ENGINERY_ERROR_INVALID_ARGUMENT, "add_attention: sizes of q, k and v differ");
    const Sizes result{of_q[0], of_q[1], of_q[2], of_v[3]};
    Attributes attributes;
    attributes.set("batch", Sizes{of_q[0], of_q[1]}).set("queries", of_q[2]).set("keys", of_k[2]);
    attributes.set("depth", of_q[3]).set("width", of_v[3]).set("output", result);
    attributes.set("q", places(of_q)).set("k", places(of_k)).set("v", places(of_v));
    attributes.set("y", places(result)).set("scale", scale).set("causal", causal);
    return add_one("attention", {q, k, v}, attributes, layer);
  }
  // Converted to another type: "float16", "int64", ...
  NetworkTensor add_cast(NetworkTensor x, const char* type, const Layer& layer = {}) {
    return add_one("cast", {x}, Attributes().set("to", type), layer);
  }
  // condition ? a : b, element by element.
  NetworkTensor add_select(NetworkTensor condition, NetworkTensor a, NetworkTensor b,
                           const Layer& layer = {}) {
    return add_one("select", {condition, a, b}, {}, layer);
  }
  // The positions of the elements that are not zero, int64 [rank, elements of x], in row-major
  // order; counted along axis 1.
  CountedTensor add_non_zero(NetworkTensor x, const Layer& layer = {}) {
    const auto found = add_layer("find_non_zero", {x}, {}, layer);
    return {found.at(0), found.at(1), 1};
  }
  // Non-maximum suppression of boxes [N, B, 4] with scores [N, C, B]: rows (picture, class, box) of
  // the chosen ones, counted along axis 0. Boxes are two opposite corners (y, x, y, x), or with
  // `centers` centre and size (x, y, width, height).
  CountedTensor add_nms(NetworkTensor boxes, NetworkTensor scores, int64_t max_boxes_per_class,
                        float iou_threshold = 0, std::optional<float> score_threshold = {},
                        bool centers = false, const Layer& layer = {}) {
    std::vector<NetworkTensor> inputs{boxes, scores, add_integers({max_boxes_per_class}),
                                      add_constant({1}, {iou_threshold})};
    if (score_threshold) inputs.push_back(add_constant({1}, {*score_threshold}));
    const auto chosen =
        add_layer("non_max_suppression", inputs, Attributes().set("centers", centers), layer);
    return {chosen.at(0), chosen.at(1), 0};
  }
  // Along `axis` the elements at which the vector `condition` is not zero, counted along it.
  CountedTensor add_compress(NetworkTensor x, NetworkTensor condition, int64_t axis = 0,
                             const Layer& layer = {}) {
    const std::string begin = layer.name.empty() ? "" : layer.name + "/";
    const CountedTensor places = add_non_zero(condition, begin + "find_non_zero");
    const NetworkTensor flat = add_one(
        "reshape", {places.values, add_integers({-1}, begin + "constant")}, {}, begin + "reshape");
    if (axis < 0) axis += static_cast<int64_t>(tensor(x).dims.size());
    return {add_gather(x, flat, axis, layer), places.count, axis};
  }

 private:
  friend class Builder;
  static int32_t append_bytes(void* user, const void* data, size_t bytes) try {
    static_cast<std::string*>(user)->assign(static_cast<const char*>(data), bytes);
    return 0;
  } catch (...) {
    return 1;  // out of memory
  }
  static const char* text_or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
  }
  static std::vector<NetworkTensor> with_bias(NetworkTensor x, NetworkTensor weights,
                                              NetworkTensor bias) {
    if (bias.id == ENGINERY_NO_TENSOR) return {x, weights};
    return {x, weights, bias};
  }
  // Where the elements of a dense tensor of these four sizes lie (engine/ops/attention.h).
  static Sizes places(const Sizes& dims) {
    return {0, dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
  }
  NetworkTensor add_one(const char* op, const std::vector<NetworkTensor>& inputs,
                        const Attributes& attributes, const Layer& layer) {
    return add_layer(op, inputs, attributes, layer).at(0);
  }

  enginery_network* handle_ = nullptr;
};

}  // namespace face
}  // namespace enginery
