// Matrix products. ONNX MatMul-13, Gemm-13, Einsum-12.
#include <algorithm>

#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

void read_matmul(NodeReader& node) {
  node.result(MatMul{}, {node.input(0), node.input(1)});
}

void read_gemm(NodeReader& node) {
  node.ignore({"broadcast"});  // opset 6: its form is numpy's
  Gemm op{node.real("alpha", 1), node.real("beta", 1), node.integer("transA", 0) != 0,
          node.integer("transB", 0) != 0};
  node.input(0);
  node.input(1);
  node.result(op, node.inputs());
}

void read_einsum(NodeReader& node) {
  Einsum op{node.text("equation", "")};
  std::erase(op.equation, ' ');
  for (size_t i = 0; i < node.input_count(); ++i) node.input(i);
  node.result(op, node.inputs());
}

constexpr OperatorReader kMatrixReaders[] = {
    {"MatMul", read_matmul},
    {"Gemm", read_gemm},
    {"Einsum", read_einsum},
};

}  // namespace

std::span<const OperatorReader> matrix_readers() {
  return kMatrixReaders;
}

}  // namespace enginery
