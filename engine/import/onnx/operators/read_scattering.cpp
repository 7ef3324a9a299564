// Operators that read and write at computed places, and those that depend on order. ONNX
// GatherND-13, Scatter-9, ScatterElements-18, ScatterND-18, TopK-11, CumSum-14, NonZero-13.
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
  node.result(NonZero{}, {node.input(0)});
}

constexpr OperatorReader kScatteringReaders[] = {
    {"GatherND", read_gather_nd},
    {"Scatter", read_scatter_elements},
    {"ScatterElements", read_scatter_elements},
    {"ScatterND", read_scatter_nd},
    {"TopK", read_top_k},
    {"CumSum", read_cum_sum},
    {"NonZero", read_non_zero},
};

}  // namespace

std::span<const OperatorReader> scattering_readers() {
  return kScatteringReaders;
}

}  // namespace enginery
