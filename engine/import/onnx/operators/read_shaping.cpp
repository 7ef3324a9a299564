// Operators that move or describe elements. ONNX Reshape-21, Transpose-21, Flatten-21, Squeeze-21,
// Unsqueeze-21, Shape-21, Size-21, Expand-13, Identity-21, Dropout-13, DepthToSpace-13,
// SpaceToDepth-13.
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

void read_reshape(NodeReader& node) {
  node.ignore({"consumed_inputs"});
  const ValueId shape = ints_of_either(node, 1, "shape");
  if (shape == kNoValue) node.reject("the shape is missing");
  node.result(Reshape{node.integer("allowzero", 0) != 0}, {node.input(0), shape});
}

void read_transpose(NodeReader& node) {
  const ValueId x = node.input(0);
  std::vector<int64_t> reversed;
  for (int64_t i = node.rank(x); i-- > 0;) reversed.push_back(i);
  node.result(Transpose{node.integers("perm", reversed)}, {x});
}

void read_flatten(NodeReader& node) {
  node.result(Flatten{node.integer("axis", 1)}, {node.input(0)});
}

void read_squeeze(NodeReader& node) {
  node.result(Squeeze{}, {node.input(0), ints_of_either(node, 1, "axes")});
}

void read_unsqueeze(NodeReader& node) {
  const ValueId axes = ints_of_either(node, 1, "axes");
  if (axes == kNoValue) node.reject("the axes are missing");
  node.result(Unsqueeze{}, {node.input(0), axes});
}

void read_shape(NodeReader& node) {
  node.result(Shape{node.integer("start", 0), node.integer("end", INT64_MAX)}, {node.input(0)});
}

void read_size(NodeReader& node) {
  Reduce product{ReduceKind::prod, {0}};
  product.keep_dims = false;
  node.result(product, {node.add(Shape{}, {node.input(0)})});
}

void read_expand(NodeReader& node) {
  node.result(Expand{}, {node.input(0), as_int64(node, node.input(1))});
}

void read_identity(NodeReader& node) {
  if (node.has_list(0)) return node.result(node.source(0), 0);
  node.result(Identity{}, {node.input(0)});
}

// At inference nothing is dropped; the mask, where asked for, is true everywhere.
void read_dropout(NodeReader& node) {
  node.ignore({"ratio", "is_test", "seed", "consumed_inputs"});
  const ValueId x = node.input(0);
  node.optional_input(1);
  node.optional_input(2);
  if (node.has_input(2) && node.number(node.input(2), "training_mode") != 0) {
    // A ratio of 0 drops nothing either.
    const bool keeps_all = node.has_input(1) && node.number(node.input(1), "ratio") == 0;
    if (!keeps_all) return node.refuse("training_mode is true: it is for training");
  }
  node.result(x, 0);
  if (!node.has_output(1)) return;
  const bool boolean_mask = node.opset() >= 10;
  node.result(node.add(ConstantOfShape{boolean_mask ? DataType::boolean : node.type(x), 1},
                       {node.add(Shape{}, {x})}),
              1);
}

// [N, C, H, W] cut into blocks: reshape to six dimensions, reorder, reshape back.
struct Blocks {
  int64_t size, channels, height, width;
};
Blocks read_blocks(NodeReader& node, ValueId x) {
  if (node.rank(x) != 4)
    node.reject("the input has " + std::to_string(node.rank(x)) + " dimensions, four are expected");
  Blocks b{node.integer("blocksize", 0), node.size(x, 1, "the number of channels"),
           node.size(x, 2, "the height"), node.size(x, 3, "the width")};
  if (b.size < 1 || b.size > INT16_MAX) {
    node.reject("attribute blocksize is " + std::to_string(b.size));
    b.size = 1;
  }
  return b;
}

void result_blocks(NodeReader& node, ValueId x, std::vector<int64_t> cut,
                   std::vector<int64_t> order, std::vector<int64_t> joined) {
  const ValueId pieces = node.add(Reshape{}, {x, node.ints_constant(std::move(cut))});
  const ValueId ordered = node.add(Transpose{std::move(order)}, {pieces});
  node.result(Reshape{}, {ordered, node.ints_constant(std::move(joined))});
}

void read_depth_to_space(NodeReader& node) {
  const ValueId x = node.input(0);
  const auto [b, c, h, w] = read_blocks(node, x);
  const std::string mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") node.reject("attribute mode is '" + printable(mode) + "'");
  if (c % (b * b) != 0) return node.reject("blocksize squared does not divide the channels");
  const int64_t depth = c / (b * b);
  std::vector<int64_t> joined{0, depth, h * b, w * b};
  if (mode == "DCR")
    return result_blocks(node, x, {0, b, b, depth, h, w}, {0, 3, 4, 1, 5, 2}, joined);
  result_blocks(node, x, {0, depth, b, b, h, w}, {0, 1, 4, 2, 5, 3}, joined);
}

void read_space_to_depth(NodeReader& node) {
  const ValueId x = node.input(0);
  const auto [b, c, h, w] = read_blocks(node, x);
  if (h % b != 0 || w % b != 0)
    return node.reject("blocksize does not divide the height and the width");
  result_blocks(node, x, {0, c, h / b, b, w / b, b}, {0, 3, 5, 1, 2, 4},
                {0, c * b * b, h / b, w / b});
}

constexpr OperatorReader kShapingReaders[] = {
    {"Reshape", read_reshape},
    {"Transpose", read_transpose},
    {"Flatten", read_flatten},
    {"Squeeze", read_squeeze},
    {"Unsqueeze", read_unsqueeze},
    {"Shape", read_shape},
    {"Size", read_size},
    {"Expand", read_expand},
    {"Identity", read_identity},
    {"Dropout", read_dropout},
    {"DepthToSpace", read_depth_to_space},
    {"SpaceToDepth", read_space_to_depth},
};

}  // namespace

std::span<const OperatorReader> shaping_readers() {
  return kShapingReaders;
}

}  // namespace enginery
