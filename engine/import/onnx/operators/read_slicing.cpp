// Operators that take tensors apart and put them together. ONNX Concat-13, Split-18, Slice-13,
// Gather-13, GatherElements-13, Pad-21, Tile-13.
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

void read_concat(NodeReader& node) {
  if (!node.has("axis") && node.opset() >= 4) node.reject("attribute axis is missing");
  for (size_t i = 0; i < node.input_count(); ++i) node.input(i);
  node.result(Concat{node.integer("axis", 1)}, node.inputs());
}

// Equal parts; where they do not come out even the last is smaller (operator set 18).
std::vector<int64_t> equal_parts(NodeReader& node, int64_t size, int64_t parts) {
  if (parts < 1 || parts > static_cast<int64_t>(node.output_count())) {
    node.reject("it cannot be split into " + std::to_string(parts) + " parts");
    return {};
  }
  const int64_t part = (size + parts - 1) / parts;
  std::vector<int64_t> sizes(static_cast<size_t>(parts), part);
  sizes.back() = size - part * (parts - 1);
  if (sizes.back() < 0) node.reject("a size of " + std::to_string(size) + " is too small to split");
  return sizes;
}

// Sizes that a run tells, as of what each expert of a mixture gets: every part has room for all of
// x, its own elements in front.
void split_as_told(NodeReader& node, ValueId x, int64_t axis, ValueId sizes) {
  OpenAxes& open = node.open_axes();
  const auto parts = static_cast<int64_t>(node.output_count());
  const int64_t size = node.size(x, axis, "the size that is split");
  if (!open.of(x).axes.empty() || node.dims(sizes) != Dims{parts})
    return node.refuse("a run tells the sizes of the parts, and it has no rule for such an input");
  const ValueId zero = node.ints_constant({0}), most = node.ints_constant({size});
  sizes = node.add(Binary{BinaryKind::max}, {sizes, zero});
  sizes = node.add(Binary{BinaryKind::min}, {sizes, most});
  const ValueId ends = node.add(CumSum{}, {sizes, zero}),
                starts = node.add(Binary{BinaryKind::sub}, {ends, sizes}),
                last = node.ints_constant({size - 1}), places = counting(node, size);
  OpenAxes::Parts counts;
  for (int64_t i = 0; i < parts; ++i) {
    const ValueId which = node.constant(Tensor::scalar(i)),
                  start = node.add(Gather{0}, {starts, which}),
                  count = node.add(Gather{0}, {sizes, which});
    ValueId at = node.add(Binary{BinaryKind::add}, {places, start});
    at = node.add(Binary{BinaryKind::min}, {at, last});
    const ValueId part = node.add(Gather{axis}, {x, at});
    if (!node.ok()) return;
    open.add_count(count, size);
    open.add(part, {{{axis, count}}, false});
    counts.emplace_back(size, count);
    node.result(part, static_cast<size_t>(i));
  }
  open.splits[counts] = sizes;
}

void read_split(NodeReader& node) {
  const ValueId x = node.input(0);
  Split op{node.axis(node.integer("axis", 0), node.rank(x))};
  const int64_t parts = node.integer("num_outputs", static_cast<int64_t>(node.output_count()));
  if (node.has_input(1) && !node.constant(node.input(1)))
    return split_as_told(node, x, op.axis, as_int64(node, node.input(1)));
  if (node.has_input(1))
    op.sizes = node.ints(node.input(1), "the sizes of the parts");
  else if (node.has("split"))
    op.sizes = node.integers("split");
  else
    op.sizes = equal_parts(node, node.size(x, op.axis, "the size that is split"), parts);
  if (node.ok() && op.sizes.size() != node.output_count()) {
    return node.reject(std::to_string(op.sizes.size()) + " parts for " +
                       std::to_string(node.output_count()) + " outputs");
  }
  node.result(op, {x});
}

void read_slice(NodeReader& node) {
  const ValueId x = node.input(0);
  if (node.opset() >= 10) {
    const ValueId starts = as_int64(node, node.input(1)), ends = as_int64(node, node.input(2));
    const ValueId axes = as_int64(node, node.optional_input(3)),
                  steps = as_int64(node, node.optional_input(4));
    return node.result(Slice{}, {x, starts, ends, axes, steps});
  }
  const std::vector<int64_t> starts = node.integers("starts"), axes = node.integers("axes");
  const ValueId ends = node.ints_constant(node.integers("ends"));
  node.result(Slice{}, {x, node.ints_constant(starts), ends,
                        axes.empty() ? kNoValue : node.ints_constant(axes)});
}

void read_gather(NodeReader& node) {
  node.result(Gather{node.integer("axis", 0)}, {node.input(0), as_int64(node, node.input(1))});
}

void read_gather_elements(NodeReader& node) {
  node.result(GatherElements{node.integer("axis", 0)},
              {node.input(0), as_int64(node, node.input(1))});
}

PadMode read_pad_mode(NodeReader& node) {
  const std::string mode = node.text("mode", "constant");
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "edge") return PadMode::edge;
  if (mode == "wrap") return PadMode::wrap;
  if (mode != "constant") node.reject("attribute mode is '" + printable(mode) + "'");
  return PadMode::constant;
}

void read_pad(NodeReader& node) {
  const ValueId x = node.input(0);
  Pad op{read_pad_mode(node)};
  if (node.opset() < 11) {
    const ValueId pads = node.ints_constant(node.integers("pads"));
    return node.result(op, {x, pads, node.number_constant(node.real("value", 0), node.type(x))});
  }
  const ValueId pads = as_int64(node, node.input(1)), axes = as_int64(node, node.optional_input(3));
  node.result(op, {x, pads, node.optional_input(2), axes});
}

void read_tile(NodeReader& node) {
  if (node.opset() < 6) return node.refuse("its form before operator set 6 is not supported");
  node.result(Tile{}, {node.input(0), as_int64(node, node.input(1))});
}

constexpr OperatorReader kSlicingReaders[] = {
    {"Concat", read_concat},
    {"Split", read_split},
    {"Slice", read_slice},
    {"Gather", read_gather},
    {"GatherElements", read_gather_elements},
    {"Pad", read_pad},
    {"Tile", read_tile},
};

}  // namespace

std::span<const OperatorReader> slicing_readers() {
  return kSlicingReaders;
}

}  // namespace enginery
