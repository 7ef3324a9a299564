// Operators that read and write at computed places, and those that depend on order. ONNX
// GatherND-13, Scatter-9, ScatterElements-18, ScatterND-18, TopK-11, CumSum-14, NonZero-13,
// NonMaxSuppression-11.
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

ScatterKind read_scatter_kind(NodeReader& node) {
  const std::string reduction = node.text("reduction", "none");
  if (reduction == "add") return ScatterKind::add;
  if (reduction == "mul") return ScatterKind::mul;
  if (reduction == "min") return ScatterKind::min;
  if (reduction == "max") return ScatterKind::max;
  if (reduction != "none") node.reject("attribute reduction is '" + printable(reduction) + "'");
  return ScatterKind::replace;
}

void read_gather_nd(NodeReader& node) {
  node.result(GatherNd{node.integer("batch_dims", 0)},
              {node.input(0), as_int64(node, node.input(1))});
}

void read_scatter_elements(NodeReader& node) {
  ScatterElements op{read_scatter_kind(node), node.integer("axis", 0)};
  node.result(op, {node.input(0), as_int64(node, node.input(1)), node.input(2)});
}

void read_scatter_nd(NodeReader& node) {
  node.result(ScatterNd{read_scatter_kind(node)},
              {node.input(0), as_int64(node, node.input(1)), node.input(2)});
}

void read_top_k(NodeReader& node) {
  node.ignore({"sorted"});  // unsorted means any order, and sorted is one
  TopK op{node.integer("axis", -1), node.integer("largest", 1) != 0};
  const ValueId k = node.opset() < 10 ? node.ints_constant({node.integer("k", 0)})
                                      : as_int64(node, node.input(1));
  node.result(op, {node.input(0), k});
}

void read_cum_sum(NodeReader& node) {
  CumSum op{node.integer("exclusive", 0) != 0, node.integer("reverse", 0) != 0};
  node.result(op, {node.input(0), as_int64(node, node.input(1))});
}

void read_non_zero(NodeReader& node) {
  const ValueId x = node.input(0);
  if (node.constant(x)) return node.result(NonZero{}, {x});
  node.result(found_positions(node, x));
}

// A number that is one element, as int64.
ValueId one_int64(NodeReader& node, size_t input) {
  return node.has_input(input) ? as_int64(node, node.input(input)) : kNoValue;
}

void read_non_max_suppression(NodeReader& node) {
  NonMaxSuppression op{node.integer("center_point_box", 0) != 0};
  const ValueId boxes = node.input(0), scores = node.input(1);
  std::vector<ValueId> inputs = {boxes, scores, one_int64(node, 2), node.optional_input(3),
                                 node.optional_input(4)};
  OpenAxes& open = node.open_axes();
  const ValueId count = open.count(boxes, 1);
  if (count != open.count(scores, 2) || open.of(boxes).axes.size() > 1 ||
      open.of(scores).axes.size() > 1)
    return node.refuse("it takes boxes and scores of one number that a run tells, and no other");
  inputs.push_back(count);
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  const auto found = node.add_all(op, inputs);
  if (!node.ok()) return;
  open.add_count(found[1], node.dims(found[0])[0]);
  open.add(found[0], {{{0, found[1]}}, true});
  node.result(found[0]);
}

constexpr OperatorReader kScatteringReaders[] = {
    {"GatherND", read_gather_nd},
    {"Scatter", read_scatter_elements},
    {"ScatterElements", read_scatter_elements},
    {"ScatterND", read_scatter_nd},
    {"TopK", read_top_k},
    {"CumSum", read_cum_sum},
    {"NonZero", read_non_zero},
    {"NonMaxSuppression", read_non_max_suppression},
};

}  // namespace

std::span<const OperatorReader> scattering_readers() {
  return kScatteringReaders;
}

}  // namespace enginery
