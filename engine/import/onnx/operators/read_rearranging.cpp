// Elements that change their places, as slices, gathers and scatters. ONNX ReverseSequence-10,
// CenterCropPad-18, Col2Im-18, MaxUnpool-22, Compress-11.
#include <algorithm>
#include <numeric>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

// Place t of a sequence of length n is read from n - 1 - t, the places behind it from themselves.
void read_reverse_sequence(NodeReader& node) {
  const ValueId x = node.input(0), lengths = as_int64(node, node.input(1));
  const int64_t batch_axis = node.integer("batch_axis", 1),
                time_axis = node.integer("time_axis", 0);
  if (batch_axis + time_axis != 1 || batch_axis * time_axis != 0 || node.rank(x) < 2)
    return node.reject("attributes batch_axis and time_axis are not 0 and 1");
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(node.rank(x), 2)));
  std::iota(order.begin(), order.end(), 0);
  if (time_axis == 0) std::swap(order[0], order[1]);
  const int64_t steps = node.size(x, time_axis, "the length of the sequences");
  const ValueId rows = time_axis == 0 ? node.add(Transpose{order}, {x}) : x;
  const ValueId t = counting(node, steps);
  const ValueId n = node.add(Unsqueeze{}, {lengths, node.ints_constant({1})});
  const ValueId last = node.add(Binary{BinaryKind::sub}, {n, node.ints_constant({1})});
  const ValueId turned = node.add(Where{}, {node.add(Binary{BinaryKind::less}, {t, n}),
                                            node.add(Binary{BinaryKind::sub}, {last, t}), t});
  const ValueId index = node.add(Unsqueeze{}, {turned, node.ints_constant({2})});
  const ValueId y = node.add(GatherNd{1}, {rows, index});
  node.result(time_axis == 0 ? node.add(Transpose{order}, {y}) : y);
}

void read_center_crop_pad(NodeReader& node) {
  const ValueId x = node.input(0);
  const auto shape = node.ints(node.input(1), "the shape");
  std::vector<int64_t> all(static_cast<size_t>(node.rank(x)));
  std::iota(all.begin(), all.end(), 0);
  const auto axes = node.integers("axes", all);
  if (node.ok() && axes.size() != shape.size())
    return node.reject("the shape has not one size for each axis");
  std::vector<int64_t> begins, ends;
  for (size_t i = 0; node.ok() && i < axes.size(); ++i) {
    const int64_t size = node.size(x, node.axis(axes[i], node.rank(x)), "the size of an axis");
    if (shape[i] < 0 || shape[i] > kMaxSize)
      return node.reject("a size of the shape is out of range");
    const bool crops = shape[i] < size;
    const int64_t change = crops ? size - shape[i] : shape[i] - size;
    begins.push_back(crops ? -(change / 2) : change / 2);
    ends.push_back(crops ? -(change - change / 2) : change - change / 2);
  }
  begins.insert(begins.end(), ends.begin(), ends.end());
  node.result(Pad{}, {x, node.ints_constant(begins), node.number_constant(0, node.type(x)),
                      node.ints_constant(axes)});
}

constexpr int64_t kMaxBlockWeights = int64_t{1} << 22;

// Weights [channels * places, 1, block...] that put each column's element to its place in the
// block.
ValueId block_weights(NodeReader& node, int64_t channels, const std::vector<int64_t>& block,
                      DataType type) {
  const int64_t places = volume(block);
  if (channels * places > kMaxBlockWeights / places) {
    node.refuse("blocks of this size and number are not supported");
    return kNoValue;
  }
  Tensor eye(DataType::float32, {places, places});
  auto data = eye.mutable_data<float>();
  std::ranges::fill(data, 0.0f);
  for (int64_t i = 0; i < places; ++i) data[static_cast<size_t>(i * (places + 1))] = 1;
  const ValueId one = node.constant(convert(eye, type));
  std::vector<int64_t> shape{channels * places, 1};
  shape.insert(shape.end(), block.begin(), block.end());
  const ValueId repeated = node.add(Tile{}, {one, node.ints_constant({channels, 1})});
  return node.add(Reshape{}, {repeated, node.ints_constant(shape)});
}

// Overlapping blocks add up: a deconvolution whose weights are a 1 for each place of the block.
void read_col2im(NodeReader& node) {
  const ValueId x = node.input(0);
  const auto image = node.ints(node.input(1), "the picture's size"),
             block = node.ints(node.input(2), "the block's size");
  const size_t n = block.size();
  Deconvolution op;
  op.strides = node.integers("strides", std::vector<int64_t>(n, 1));
  op.dilations = node.integers("dilations", std::vector<int64_t>(n, 1));
  const auto pads = node.integers("pads", std::vector<int64_t>(2 * n, 0));
  if (!node.ok()) return;
  if (n < 1 || n > 3)
    return node.refuse("blocks of other than 1 to 3 dimensions are not supported");
  if (image.size() != n || op.strides.size() != n || op.dilations.size() != n ||
      pads.size() != 2 * n || node.rank(x) != 3)
    return node.reject("its sizes do not have one number for each dimension of the block");
  op.pads_begin.assign(pads.begin(), pads.begin() + static_cast<int64_t>(n));
  op.pads_end.assign(pads.begin() + static_cast<int64_t>(n), pads.end());
  int64_t places = 1;
  std::vector<int64_t> shape{0, 0};
  for (size_t i = 0; i < n; ++i) {
    for (const int64_t v : {image[i], block[i], op.strides[i], op.dilations[i]}) {
      if (v < 1 || v > kMaxBlockWeights) return node.reject("a size or stride is out of range");
    }
    if (op.pads_begin[i] < 0 || op.pads_end[i] < 0 || op.pads_begin[i] > kMaxSize ||
        op.pads_end[i] > kMaxSize || (places *= block[i]) > kMaxBlockWeights)
      return node.reject("a padding or the block is out of range");
    const int64_t reach = (block[i] - 1) * op.dilations[i] + 1;
    const int64_t room = image[i] + op.pads_begin[i] + op.pads_end[i] - reach;
    if (room < 0) return node.reject("the block does not fit into the picture");
    shape.push_back(room / op.strides[i] + 1);
    op.output_padding.push_back(room % op.strides[i]);
  }
  op.groups = node.size(x, 1, "the size of the columns") / places;
  if (!node.ok() || op.groups < 1) return node.reject("the columns are smaller than a block");
  const ValueId weights = block_weights(node, op.groups, block, node.type(x));
  node.result(op, {node.add(Reshape{}, {x, node.ints_constant(shape)}), weights});
}

// The output's shape before any padding: what the pooling's attributes make of x.
std::vector<int64_t> unpooled_shape(NodeReader& node, ValueId x) {
  const auto kernel = node.integers("kernel_shape");
  const size_t n = kernel.size();
  const auto strides = node.integers("strides", std::vector<int64_t>(n, 1)),
             pads = node.integers("pads", std::vector<int64_t>(2 * n, 0));
  if (strides.size() != n || pads.size() != 2 * n || node.rank(x) != static_cast<int64_t>(n) + 2)
    node.reject("its attributes do not fit the input's dimensions");
  std::vector<int64_t> shape;
  int64_t total = 1;
  for (int64_t d = 0; node.ok() && d < node.rank(x); ++d) {
    int64_t size = node.size(x, d, "the input's size");
    if (d >= 2) {
      const size_t i = static_cast<size_t>(d - 2);
      for (const int64_t v : {strides[i], kernel[i], pads[i], pads[i + n]}) {
        if (v < 0 || v > kMaxSize) node.reject("an attribute is out of range");
      }
      size = node.ok() ? (size - 1) * strides[i] + kernel[i] - pads[i] - pads[i + n] : 1;
    }
    shape.push_back(size);
    if (size < 1 || size > kMaxSize || (total *= size) > kMaxSize)
      node.reject("the output's shape is out of range");
  }
  return shape;
}

// The indices count through the unpadded output; a larger shape that is asked for has zeros behind
// it.
void read_max_unpool(NodeReader& node) {
  const ValueId x = node.input(0), indices = as_int64(node, node.input(1));
  const auto shape = unpooled_shape(node, x);
  if (!node.ok()) return;
  const auto flat = [&](ValueId v) { return node.add(Reshape{}, {v, node.ints_constant({-1})}); };
  const ValueId zeros =
      node.add(ConstantOfShape{node.type(x), 0}, {node.ints_constant({volume(shape)})});
  const ValueId all =
      node.add(ScatterElements{ScatterKind::replace, 0}, {zeros, flat(indices), flat(x)});
  const ValueId y = node.add(Reshape{}, {all, node.ints_constant(shape)});
  if (!node.has_input(2)) return node.result(y);
  const auto wanted = node.ints(node.input(2), "the output's shape");
  if (node.ok() && wanted.size() != shape.size())
    return node.reject("the output's shape has another number of dimensions");
  std::vector<int64_t> pads(shape.size(), 0);
  for (size_t d = 0; node.ok() && d < shape.size(); ++d) {
    if (wanted[d] < shape[d] || wanted[d] > kMaxSize)
      node.refuse("an output smaller than what is unpooled is not supported");
    pads.push_back(wanted[d] - shape[d]);
  }
  node.result(Pad{}, {y, node.ints_constant(pads)});
}

// The places where the condition holds; where it is known their number is, too.
ValueId chosen_places(NodeReader& node, ValueId condition) {
  if (!node.constant(condition)) {
    return node.add(Reshape{}, {found_positions(node, condition), node.ints_constant({-1})});
  }
  const auto chosen = node.ints(condition, "the condition");
  std::vector<int64_t> places;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] != 0) places.push_back(static_cast<int64_t>(i));
  }
  return node.ints_constant(places);
}

void read_compress(NodeReader& node) {
  ValueId x = node.input(0);
  const ValueId places = chosen_places(node, node.input(1));
  int64_t axis = 0;
  if (node.has("axis"))
    axis = node.axis(node.integer("axis", 0), node.rank(x));
  else
    x = node.add(Reshape{}, {x, node.ints_constant({-1})});
  node.result(Gather{axis}, {x, places});
}

constexpr OperatorReader kRearrangingReaders[] = {
    {"ReverseSequence", read_reverse_sequence},
    {"CenterCropPad", read_center_crop_pad},
    {"Col2Im", read_col2im},
    {"MaxUnpool", read_max_unpool},
    {"Compress", read_compress},
};

}  // namespace

std::span<const OperatorReader> rearranging_readers() {
  return kRearrangingReaders;
}

}  // namespace enginery
