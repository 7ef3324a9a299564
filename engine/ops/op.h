// Op: the closed variant of all operators, and what can be asked of any of them.
//
// Between tensors below and graphs above: importers and passes make operators, tactics ask them for
// their attributes. Values; free functions without state, safe from many threads.
//
// Adding an operator: its struct (kName, kMovesElements, fields), ENGINERY_OPERATOR and the two
// functions that it declares in a family's pair of files, one row in Op below, one row in each
// importer that reads it. Whatever a struct lacks does not compile.
#pragma once

#include <variant>

#include "engine/ops/activation.h"
#include "engine/ops/attention.h"
#include "engine/ops/convolution.h"
#include "engine/ops/einsum.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/filling.h"
#include "engine/ops/matmul.h"
#include "engine/ops/normalization.h"
#include "engine/ops/ordering.h"
#include "engine/ops/pooling.h"
#include "engine/ops/quantization.h"
#include "engine/ops/reduction.h"
#include "engine/ops/resize.h"
#include "engine/ops/scattering.h"
#include "engine/ops/selecting.h"
#include "engine/ops/shaping.h"
#include "engine/ops/slicing.h"

namespace enginery {

// The list of all operators; a row's place is not stored, its kName is.
using AnyOperator = std::variant<
    // convolution.h, matmul.h, pooling.h
    Convolution, Deconvolution, MatMul, Gemm, Pooling, GlobalPooling,
    // activation.h, elementwise.h
    Activation, Unary, PRelu, Binary, Where, Cast,
    // normalization.h
    BatchNorm, Lrn, InstanceNorm, LayerNorm, Softmax,
    // shaping.h
    Reshape, Transpose, Flatten, Squeeze, Unsqueeze, Shape, Expand, Identity,
    // slicing.h, filling.h
    Concat, Split, Slice, Gather, GatherElements, Pad, Tile, ConstantOfShape, Range,
    // reduction.h, resize.h
    Reduce, ArgMinMax, Resize,
    // scattering.h, ordering.h, quantization.h, einsum.h
    GatherNd, ScatterElements, ScatterNd, TopK, CumSum, NonZero, Quantize, Dequantize, Einsum,
    // normalization.h, attention.h
    RmsNorm, GroupNorm, Attention,
    // selecting.h
    FindNonZero, NonMaxSuppression, Compact>;

// A variant of all operators (std::visit, std::get and the like take it as one). What copies, moves
// and destroys it is compiled once, in op.cpp, not in every file.
class Op : public AnyOperator {
 public:
  using AnyOperator::AnyOperator;
  using AnyOperator::operator=;
  Op();
  ~Op();
  Op(const Op&);
  Op(Op&&) noexcept;
  Op& operator=(const Op&);
  Op& operator=(Op&&) noexcept;
};

std::string_view op_name(const Op& op);  // "conv"
// The operator's attributes as "name=value" joined by spaces, in their fixed order.
std::string attributes_text(const Op& op);
// The operator called `name` with `attributes` over its defaults. Errors: invalid_argument.
Result<Op> parse_op(std::string_view name, const std::map<std::string, std::string>& attributes);

// The types of the outputs. Errors: invalid_argument (the operator's own rules), unsupported (its
// result depends on data that is not known at build time).
InferredTypes infer_types(const Op& op, Operands in);

// Computes the outputs on the CPU with the operator's reference, the oracle of every other
// implementation. float64 is computed in double; float16 and bfloat16 go through float32 and are
// rounded once at the end, except in operators that only move elements (kMovesElements), which keep
// every bit of every type.
// `in` holds null for absent inputs. Errors: those of infer_types; unsupported where an output's
// shape depends on data; invalid_argument for data that the operator refuses.
Result<std::vector<Tensor>> run_reference(const Op& op, ReferenceInputs in);

}  // namespace enginery
