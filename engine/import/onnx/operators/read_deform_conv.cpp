// Deformable convolution: samples at offset places, then a matrix product for each group. ONNX
// DeformConv-22.
#include <algorithm>
#include <numeric>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"
#include "engine/import/onnx/operators/sampling.h"

namespace enginery {
namespace {

constexpr int64_t kMaxOffsets = int64_t{1} << 24;

// The sizes of a deformable convolution in two dimensions.
struct DeformForm {
  int64_t channels, height, width, outputs, groups, offset_groups;
  int64_t kernel[2], out[2], strides[2], dilations[2], pads[2];
  int64_t taps() const { return kernel[0] * kernel[1]; }
  int64_t places() const { return out[0] * out[1]; }
};

DeformForm read_deform_form(NodeReader& node, ValueId x, ValueId weights, ValueId offset) {
  DeformForm f{};
  f.channels = node.size(x, 1, "the number of channels");
  f.height = node.size(x, 2, "the height");
  f.width = node.size(x, 3, "the width");
  f.outputs = node.size(weights, 0, "the number of outputs");
  f.groups = node.integer("group", 1);
  f.offset_groups = node.integer("offset_group", 1);
  const auto strides = node.integers("strides", {1, 1}), pads = node.integers("pads", {0, 0, 0, 0}),
             dilations = node.integers("dilations", {1, 1});
  if (node.ok() && (strides.size() != 2 || dilations.size() != 2 || pads.size() != 4))
    node.refuse("a deformable convolution of other than two dimensions is not supported");
  for (int d = 0; node.ok() && d < 2; ++d) {
    const size_t i = static_cast<size_t>(d);
    f.kernel[d] = node.size(weights, d + 2, "the kernel's size");
    f.out[d] = node.size(offset, d + 2, "the output's size");
    f.strides[d] = strides[i];
    f.dilations[d] = dilations[i];
    f.pads[d] = pads[i];
    for (const int64_t v : {f.strides[d], f.dilations[d], f.pads[d]}) {
      if (v < 0 || v > kMaxSize) node.reject("an attribute is out of range");
    }
  }
  const auto shape = node.integers("kernel_shape", {f.kernel[0], f.kernel[1]});
  if (node.ok() && shape != std::vector<int64_t>{f.kernel[0], f.kernel[1]})
    node.reject("attribute kernel_shape differs from the weights");
  if (node.ok() &&
      (f.groups < 1 || f.offset_groups < 1 || f.channels % f.groups != 0 ||
       f.outputs % f.groups != 0 || f.channels % f.offset_groups != 0 || f.height < 1 ||
       f.width < 1 || f.taps() < 1 || f.taps() > 4096 || f.places() > kMaxOffsets / f.taps()))
    node.reject("its groups or sizes do not fit");
  return f;
}

// Where the kernel's elements lie without an offset along dimension d: [taps, places].
ValueId straight_places(NodeReader& node, const DeformForm& f, int d, DataType type) {
  if (!node.ok()) return kNoValue;
  std::vector<double> at;
  for (int64_t tap = 0; tap < f.taps(); ++tap) {
    const int64_t k = d == 0 ? tap / f.kernel[1] : tap % f.kernel[1];
    for (int64_t p = 0; p < f.places(); ++p) {
      const int64_t o = d == 0 ? p / f.out[1] : p % f.out[1];
      at.push_back(static_cast<double>(o * f.strides[d] - f.pads[d] + k * f.dilations[d]));
    }
  }
  return node.constant(convert(Tensor::of<double>({f.taps(), f.places()}, at), type));
}

// x at the offset places, [N * offset_groups, taps, places, channels of an offset group].
ValueId deformed_samples(NodeReader& node, const DeformForm& f, ValueId x, ValueId offset) {
  const int64_t part = f.channels / f.offset_groups;
  const ValueId flat =
      node.add(Transpose{{0, 2, 1}},
               {node.add(Reshape{}, {x, node.ints_constant({-1, part, f.height * f.width})})});
  const ValueId offsets =
      node.add(Reshape{}, {offset, node.ints_constant({-1, f.taps(), 2, f.places()})});
  std::vector<std::vector<Tap>> taps;
  for (int d = 0; d < 2; ++d) {
    const ValueId moved =
        node.add(Binary{BinaryKind::add},
                 {node.add(Gather{2}, {offsets, node.constant(Tensor::scalar(int64_t{d}))}),
                  straight_places(node, f, d, node.type(offset))});
    taps.push_back(linear_taps(node, moved, d == 0 ? f.height : f.width));
  }
  return interpolate(node, flat, 1, taps, {f.width, 1});
}

void read_deform_conv(NodeReader& node) {
  const ValueId x = node.input(0), weights = node.input(1), offset = node.input(2);
  const ValueId bias = node.optional_input(3), mask = node.optional_input(4);
  const DeformForm f = read_deform_form(node, x, weights, offset);
  if (!node.ok()) return;
  ValueId samples = deformed_samples(node, f, x, offset);
  if (mask != kNoValue) {
    const ValueId factors =
        node.add(Reshape{}, {mask, node.ints_constant({-1, f.taps(), f.places(), 1})});
    samples = node.add(Binary{BinaryKind::mul}, {samples, factors});
  }
  const int64_t inner = f.channels / f.groups * f.taps();
  const ValueId columns =
      node.add(Reshape{}, {node.add(Transpose{{0, 3, 1, 2}}, {samples}),
                           node.ints_constant({-1, f.groups, inner, f.places()})});
  const ValueId matrix =
      node.add(Reshape{}, {weights, node.ints_constant({f.groups, f.outputs / f.groups, inner})});
  const ValueId y = node.add(Reshape{}, {node.add(MatMul{}, {matrix, columns}),
                                         node.ints_constant({-1, f.outputs, f.out[0], f.out[1]})});
  if (bias == kNoValue) return node.result(y);
  node.result(Binary{BinaryKind::add}, {y, per_channel(node, bias, 4)});
}

constexpr OperatorReader kDeformReaders[] = {{"DeformConv", read_deform_conv}};

}  // namespace

std::span<const OperatorReader> deform_readers() {
  return kDeformReaders;
}

}  // namespace enginery
