// Problem: one node with its fused epilogue, or a region of a few nodes, as the tactic sources see
// it: types, sizes, no weights, no names. Its canonical text is the timing cache's problem key.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/device/format.h"
#include "engine/ops/op.h"

namespace enginery {

// One input or output of a problem.
struct TensorDesc {
  TensorType type;        // as the graph types it; a tactic may compute in another allowed type
  bool present = true;    // an optional input may be absent
  bool constant = false;  // a weight: its value comes at prepare time
  std::optional<Tensor>
      value;  // integer constants (axes, slices): their values select code, so they are in the key
  std::optional<Format> pinned;  // a reformat's source and target
};

enum class EpilogueKind { bias, activation, add, multiply };

// One step applied to the anchor's result v, in order. bias: v += operand[k] along dimension 1 (the
// last for matrix products); add, multiply: v op= operand, of v's dims or broadcast to them;
// activation: v = activate(v).
struct EpilogueStep {
  EpilogueKind kind = EpilogueKind::activation;
  Activation activation;
  int operand = -1;  // index into Problem::inputs
};

// An operator of a region behind the anchor (region.h). An operand k is an input of the problem
// where k < inputs.size(), and from there on the result of operator k - inputs.size(), of which the
// anchor is number 0; -1 where an optional one is absent.
struct RegionOp {
  Op op;
  std::vector<int> operands;
};

struct Problem {
  Op op;  // the anchor
  int anchor_inputs =
      0;  // inputs[0, anchor_inputs) are the anchor's, the others the epilogue's operands
  std::vector<TensorDesc> inputs, outputs;
  std::vector<EpilogueStep> epilogue;
  // Of a region the further operators, in order; the last one's result is the output. Empty for a
  // problem of one operator. A region has one output and no epilogue.
  std::vector<RegionOp> rest;
  std::vector<TensorType> inner;  // results of the operators but the last; as many as `rest`

  // "conv strides=[1,1] ... | float32[1x3x8x8] w:float32[4x3x3x3] -> float32[...] | act kind=relu
  // ..."; of a region also how it is wired: "... | region 2 | act(r0) kind=relu | pool(r1) ...".
  std::string key() const;
};

// Whether it is a region of several operators. What reads `op` alone then says nothing of it.
inline bool is_region(const Problem& problem) {
  return !problem.rest.empty();
}

// Dims of an input, and of the first output.
inline const Dims& input_dims(const Problem& problem, size_t i) {
  return problem.inputs[i].type.dims;
}
inline const Dims& output_dims(const Problem& problem) {
  return problem.outputs[0].type.dims;
}

// Whether the anchor is one of these operators.
template <typename... Ops>
bool is_one_of(const Problem& problem) {
  return (std::holds_alternative<Ops>(problem.op) || ...);
}

// Whether every tensor has static dims and at least one element, and there is an input and an
// output, as tactic sources of a CPU require. Errors: unsupported.
Status require_elements(const Problem& problem);

// Whether there is something to read at run time: the first input is no constant and no known
// value, or of a binary operator at least one is not. Constants are packed with a tactic and have
// no address when it runs, and passes fold what has nothing but constants; beyond the limits of
// folding such a problem is the reference's. Errors: unsupported.
Status require_run_time_data(const Problem& problem);

// An integer divided by zero is an error that kernels have no way to report: where the problem
// divides integers, every divisor must be known and none zero. Errors: unsupported.
Status require_safe_division(const Problem& problem);

// An output of the graph that is a constant, which is to be written at run time. (Passes fold what
// else has nothing but constants, and the identity of a computed value is a view.)
bool gives_a_constant(const Problem& problem);

// A problem that changes the format of one tensor: Identity with pinned input and output.
Problem reformat_problem(const TensorType& type, const Format& from, const Format& to);
bool is_reformat(const Problem& problem);

// The reading of a problem in floating-point operations and in bytes that must move at least once.
double flop_count(const Problem& problem);
double least_bytes(const Problem& problem);
// The share of the first input's elements that a convolution or pooling reads: below 1 where its
// strides pass over elements, as those of a strided 1x1 convolution do. `whole_rows`: the last
// dimension counts as read throughout, since its elements share memory transactions (they do where
// the layout is linear). 1 for every other operator, and for
// regions.
double share_read(const Problem& problem, bool whole_rows);

}  // namespace enginery
