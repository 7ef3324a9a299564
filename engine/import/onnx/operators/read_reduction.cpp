// Reductions and arg-max. ONNX Reduce*-18, ArgMax-13, ArgMin-13.
#include <algorithm>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

template <ReduceKind kind>
void read_reduce(NodeReader& node) {
  const ValueId x = node.input(0);
  Reduce op{kind};
  if (node.has_input(1))
    op.axes = node.ints(node.input(1), "the axes");
  else
    op.axes = node.integers("axes");
  op.keep_dims = node.integer("keepdims", 1) != 0;
  op.none_is_identity = node.integer("noop_with_empty_axes", 0) != 0;
  node.result(op, {x});
}

template <bool largest>
void read_arg_extreme(NodeReader& node) {
  ArgMinMax op{largest, node.integer("keepdims", 1) != 0,
               node.integer("select_last_index", 0) != 0};
  op.axis = node.integer("axis", 0);
  node.result(op, {node.input(0)});
}

constexpr OperatorReader kReductionReaders[] = {
    {"ReduceSum", read_reduce<ReduceKind::sum>},
    {"ReduceMean", read_reduce<ReduceKind::mean>},
    {"ReduceMax", read_reduce<ReduceKind::max>},
    {"ReduceMin", read_reduce<ReduceKind::min>},
    {"ReduceProd", read_reduce<ReduceKind::prod>},
    {"ReduceSumSquare", read_reduce<ReduceKind::sum_square>},
    {"ReduceL1", read_reduce<ReduceKind::l1>},
    {"ReduceL2", read_reduce<ReduceKind::l2>},
    {"ReduceLogSum", read_reduce<ReduceKind::log_sum>},
    {"ReduceLogSumExp", read_reduce<ReduceKind::log_sum_exp>},
    {"ArgMax", read_arg_extreme<true>},
    {"ArgMin", read_arg_extreme<false>},
};

}  // namespace

std::span<const OperatorReader> reduction_readers() {
  return kReductionReaders;
}

}  // namespace enginery
