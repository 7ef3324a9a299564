// Signal processing, by constant matrices. ONNX HannWindow-17, HammingWindow-17, BlackmanWindow-17,
// DFT-20, STFT-17, MelWeightMatrix-17.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/import/onnx/onnx_types.h"
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

constexpr int64_t kMaxWindow = int64_t{1} << 22;
constexpr int64_t kMaxTransform = 2048;  // its matrices have the square of it

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n), where n is the size or one less.
void read_window_function(NodeReader& node, double a0, double a1, double a2) {
  const int64_t size = node.one_int(node.input(0), "the window's size");
  const bool is_periodic = node.integer("periodic", 1) != 0;
  const auto type = onnx_type(node.integer("output_datatype", 1));
  if (!type) return node.refuse("attribute output_datatype: " + type.error().message);
  if (node.ok() && (size < 0 || size > kMaxWindow)) node.refuse("a window of this size");
  if (!node.ok()) return;
  const double turn = 2 * std::numbers::pi /
                      static_cast<double>(std::max<int64_t>(is_periodic ? size : size - 1, 1));
  std::vector<double> window;
  for (int64_t i = 0; i < size; ++i) {
    const double at = turn * static_cast<double>(i);
    window.push_back(a0 - a1 * std::cos(at) + a2 * std::cos(2 * at));
  }
  node.result(convert(Tensor::of<double>({size}, window), *type));
}

void read_hann(NodeReader& node) {
  read_window_function(node, 0.5, 0.5, 0);
}
void read_hamming(NodeReader& node) {
  read_window_function(node, 25.0 / 46, 21.0 / 46, 0);
}
void read_blackman(NodeReader& node) {
  read_window_function(node, 0.42, 0.5, 0.08);
}

// A discrete Fourier transform of `size` elements, `made` of which are wanted.
struct Transform {
  int64_t size = 1, made = 1;
  bool is_inverse = false;
};

// cos or sin of 2 pi i k / size, [size, made]; divided by size for the inverse.
ValueId waves(NodeReader& node, const Transform& t, double (*wave)(double), DataType type) {
  if (!node.ok()) return kNoValue;
  std::vector<double> turn, values;  // one turn of the wave, which every row steps through
  for (int64_t i = 0; i < t.size; ++i) {
    const double at = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(t.size);
    turn.push_back(wave(at) / (t.is_inverse ? static_cast<double>(t.size) : 1));
  }
  for (int64_t i = 0; i < t.size; ++i) {
    for (int64_t k = 0; k < t.made; ++k)
      values.push_back(turn[static_cast<size_t>(i * k % t.size)]);
  }
  return node.constant(convert(Tensor::of<double>({t.size, t.made}, values), type));
}

// x = re + i im, [..., size]; `im` may be kNoValue. Output: [..., made, 2].
ValueId transform(NodeReader& node, const Transform& t, ValueId re, ValueId im) {
  if (node.ok() && (t.size < 1 || t.size > kMaxTransform))
    node.refuse("a transform of " + std::to_string(t.size) + " elements; at most " +
                std::to_string(kMaxTransform) + " are supported");
  const ValueId cosine = waves(node, t, std::cos, node.type(re)),
                sine = waves(node, t, std::sin, node.type(re));
  const auto product = [&](ValueId a, ValueId b) { return node.add(MatMul{}, {a, b}); };
  const auto both = [&](BinaryKind kind, ValueId a, ValueId b) {
    return node.add(Binary{kind}, {a, b});
  };
  const BinaryKind plus_kind = t.is_inverse ? BinaryKind::sub : BinaryKind::add;
  const BinaryKind minus_kind = t.is_inverse ? BinaryKind::add : BinaryKind::sub;
  ValueId real = product(re, cosine), imaginary = product(re, sine);
  if (!t.is_inverse) imaginary = node.add(Unary{UnaryKind::neg}, {imaginary});
  if (im != kNoValue) {
    real = both(plus_kind, real, product(im, sine));
    const ValueId straight = product(im, cosine), crossed = product(re, sine);
    imaginary = both(minus_kind, straight, crossed);
  }
  const ValueId last = node.ints_constant({node.rank(real)});
  return node.add(Concat{node.rank(real)},
                  {node.add(Unsqueeze{}, {real, last}), node.add(Unsqueeze{}, {imaginary, last})});
}

// x's parts along its last dimension, which has 1 or 2 elements and goes.
ValueId complex_part(NodeReader& node, ValueId x, int64_t part) {
  return node.add(Gather{node.rank(x) - 1}, {x, node.constant(Tensor::scalar(part))});
}

// The first `length` elements of the last dimension, zeros behind those that are there.
ValueId fit_length(NodeReader& node, ValueId x, int64_t size, int64_t length) {
  if (x == kNoValue || size == length) return x;
  return node.add(Pad{}, {x, node.ints_constant({0, length - size}),
                          node.number_constant(0, node.type(x)), node.ints_constant({-1})});
}

void read_dft(NodeReader& node) {
  const ValueId x = node.input(0);
  const int64_t rank = node.rank(x), parts = node.size(x, rank - 1, "real or complex");
  int64_t axis = node.opset() < 20 ? 1 : -2;
  if (node.opset() < 20)
    axis = node.integer("axis", 1);
  else if (node.has_input(2))
    axis = node.one_int(node.input(2), "the axis");
  axis = node.axis(axis, rank);
  if (node.ok() && (parts < 1 || parts > 2 || axis == rank - 1))
    return node.reject("the axis or the last dimension does not fit");
  const int64_t size = node.size(x, axis, "the size of the axis");
  const int64_t length =
      node.has_input(1) ? node.one_int(node.input(1), "the transform's length") : size;
  Transform t{length, length, node.integer("inverse", 0) != 0};
  if (node.integer("onesided", 0) != 0) t.made = length / 2 + 1;
  if (t.is_inverse && t.made != length)
    return node.refuse("a one-sided inverse transform is not supported");
  if (!node.ok()) return;
  std::vector<int64_t> order(static_cast<size_t>(rank - 1)), back;
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + axis);
  order.push_back(axis);
  for (int64_t d = 0; d < rank - 1; ++d)
    back.push_back(std::find(order.begin(), order.end(), d) - order.begin());
  back.push_back(rank - 1);
  const auto part = [&](int64_t i) {
    const ValueId turned = node.add(Transpose{order}, {complex_part(node, x, i)});
    return fit_length(node, turned, size, length);
  };
  const ValueId real = part(0), imaginary = parts == 2 ? part(1) : kNoValue;
  node.result(Transpose{back}, {transform(node, t, real, imaginary)});
}

// Frames of the signal, weighted by the window, each transformed.
void read_stft(NodeReader& node) {
  const ValueId x = node.input(0), window = node.optional_input(2);
  const int64_t step = node.one_int(node.input(1), "the step between frames");
  const int64_t samples = node.size(x, 1, "the length of the signal");
  int64_t length = window == kNoValue ? 0 : node.size(window, 0, "the length of the window");
  if (node.has_input(3)) length = node.one_int(node.input(3), "the length of a frame");
  if (node.rank(x) == 3 && node.size(x, 2, "real or complex") != 1)
    return node.refuse("a complex signal is not supported");
  if (node.ok() && (step < 1 || length < 1 || length > samples || length > kMaxTransform))
    return node.reject("the step or the length of a frame does not fit the signal");
  if (!node.ok()) return;
  const int64_t frames = (samples - length) / step + 1;
  if (frames * length > kMaxWindow) return node.refuse("so many frames are not supported");
  std::vector<int64_t> places;
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t i = 0; i < length; ++i) places.push_back(f * step + i);
  }
  const ValueId index = node.constant(Tensor::of<int64_t>({frames, length}, places));
  const ValueId signal = node.rank(x) == 3 ? complex_part(node, x, 0) : x;
  ValueId cut = node.add(Gather{1}, {signal, index});
  if (window != kNoValue) cut = node.add(Binary{BinaryKind::mul}, {cut, window});
  const bool is_onesided = node.integer("onesided", 1) != 0;
  const Transform t{length, is_onesided ? length / 2 + 1 : length, false};
  node.result(transform(node, t, cut, kNoValue));
}

// The triangular filters of the mel scale over a spectrum's bins: [bins, filters].
Tensor mel_filters(int64_t bins, const std::vector<int64_t>& edges) {
  const int64_t filters = std::ssize(edges) - 2;
  Tensor out(DataType::float64, {bins, filters});
  auto to = out.mutable_data<double>();
  std::ranges::fill(to, 0);
  for (int64_t f = 0; f < filters; ++f) {
    const auto at = [&](int64_t bin) -> double& {
      return to[static_cast<size_t>(std::clamp<int64_t>(bin, 0, bins - 1) * filters + f)];
    };
    const size_t i = static_cast<size_t>(f);
    const int64_t low = edges[i], center = edges[i + 1], high = edges[i + 2];
    for (int64_t bin = low; bin <= center; ++bin)
      at(bin) =
          center == low ? 1 : static_cast<double>(bin - low) / static_cast<double>(center - low);
    for (int64_t bin = center; bin < high; ++bin)
      at(bin) = static_cast<double>(high - bin) / static_cast<double>(high - center);
  }
  return out;
}

void read_mel_weight_matrix(NodeReader& node) {
  const int64_t filters = node.one_int(node.input(0), "the number of mel filters"),
                length = node.one_int(node.input(1), "the transform's length"),
                rate = node.one_int(node.input(2), "the sample rate");
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(node.number(node.input(3), "the lowest frequency")),
               high = mel(node.number(node.input(4), "the highest frequency"));
  const auto type = onnx_type(node.integer("output_datatype", 1));
  if (!type) return node.refuse("attribute output_datatype: " + type.error().message);
  if (node.ok() && (filters < 1 || length < 1 || rate < 1 || !(high >= low) ||
                    filters > kMaxWindow / (length / 2 + 1)))
    node.refuse("filters of these numbers");
  if (!node.ok()) return;
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < filters + 2; ++i) {
    const double at =
        low + static_cast<double>(i) * (high - low) / static_cast<double>(filters + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    const double bin = static_cast<double>(length + 1) * hertz / static_cast<double>(rate);
    edges.push_back(static_cast<int64_t>(std::clamp(std::floor(bin), 0.0, 1e9)));
  }
  if (edges.back() > length / 2 + 1)
    return node.reject("the highest frequency lies beyond the spectrum");
  node.result(convert(mel_filters(length / 2 + 1, edges), *type));
}

constexpr OperatorReader kSignalReaders[] = {
    {"MelWeightMatrix", read_mel_weight_matrix},
    {"HannWindow", read_hann},
    {"HammingWindow", read_hamming},
    {"BlackmanWindow", read_blackman},
    {"DFT", read_dft},
    {"STFT", read_stft},
};

}  // namespace

std::span<const OperatorReader> signal_readers() {
  return kSignalReaders;
}

}  // namespace enginery
