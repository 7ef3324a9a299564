#include "engine/tactics/shapes/conv_shape.h"

namespace enginery {
namespace {

Result<ConvShape> from_convolution(const Problem& problem, const Convolution& op) {
  const Dims &x = problem.inputs[0].type.dims, &w = problem.inputs[1].type.dims,
             &y = problem.outputs[0].type.dims;
  ConvShape s;
  s.c = x[1];
  s.k = w[0];
  s.groups = op.groups;
  CHECK_OK(set_window(s, x[0], window_sides(op, x, w, y)));
  if (problem.anchor_inputs > 2 && problem.inputs[2].present) s.bias.input = 2;
  return s;
}

Result<ConvShape> from_gemm(const Problem& problem, bool transposed) {
  const Dims &a = problem.inputs[0].type.dims, &b = problem.inputs[1].type.dims;
  if (b.size() != 2 || a.empty())
    return refusal("a matrix product by weights of rank " + std::to_string(b.size()));
  ConvShape s;
  s.gemm = true;
  s.weights_are_kc = transposed;
  s.c = a.back();
  s.n = s.images = s.c ? volume(a) / s.c : 0;
  s.k = b[transposed ? 0 : 1];
  return s;
}

}  // namespace

Status require_product(const Problem& problem) {
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  if (problem.outputs.size() != 1 || problem.inputs.size() < 2)
    return refusal("no convolution and no matrix product");
  if (!is_floating(problem.inputs[0].type.type)) return refusal("integers");
  if (!problem.inputs[1].constant) return refusal("weights that are computed");
  if (volume(problem.outputs[0].type.dims) == 0 || volume(problem.inputs[0].type.dims) == 0)
    return refusal("no elements");
  return {};
}

Status set_window(ConvShape& s, int64_t images, const std::vector<WindowSide>& sides) {
  TRY(const PlaneWindow window, plane_window(images, sides));
  const WindowSide &rows = window.rows, &columns = window.columns;
  s.n = window.images;
  s.images = images;
  s.h = rows.in, s.p = rows.out, s.r = rows.taps;
  s.stride_h = rows.stride, s.dilation_h = rows.dilation;
  s.pad_h = rows.pad, s.pad_h_end = rows.pad_end;
  s.w = columns.in, s.q = columns.out, s.s = columns.taps;
  s.stride_w = columns.stride, s.dilation_w = columns.dilation;
  s.pad_w = columns.pad, s.pad_w_end = columns.pad_end;
  return {};
}

Result<ConvShape> conv_shape(const Problem& problem) {
  CHECK_OK(require_product(problem));
  if (const auto* op = std::get_if<Convolution>(&problem.op)) return from_convolution(problem, *op);
  if (std::holds_alternative<MatMul>(problem.op)) return from_gemm(problem, false);
  if (const auto* op = std::get_if<Gemm>(&problem.op)) {
    if (op->transpose_a) return refusal("a transposed input");
    TRY(ConvShape s, from_gemm(problem, op->transpose_b));
    s.alpha = op->alpha;
    if (problem.anchor_inputs > 2 && problem.inputs[2].present) s.bias = {2, op->beta};
    return s;
  }
  return refusal("no convolution and no matrix product");
}

Result<ConvShape> deconv_shape(const Problem& problem) {
  const auto* op = std::get_if<Deconvolution>(&problem.op);
  if (!op) return refusal("no transposed convolution");
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  const Dims &x = problem.inputs[0].type.dims, &w = problem.inputs[1].type.dims,
             &y = problem.outputs[0].type.dims;
  if (x.size() < 3 || x.size() > 4) return refusal("a transposed convolution over " + to_string(x));
  if (!problem.inputs[1].constant || !is_floating(problem.inputs[0].type.type))
    return refusal("weights that are computed, or integers");
  if (volume(x) == 0 || volume(y) == 0 || volume(w) == 0) return refusal("no elements");
  ConvShape s;
  s.n = s.images = x[0];
  s.c = x[1];
  s.k = y[1];
  s.groups = op->groups;
  s.w = x.back();
  s.q = y.back();
  s.s = w.back();
  s.stride_w = op->strides.back();
  s.dilation_w = op->dilations.back();
  s.pad_w = op->pads_begin.back();
  if (x.size() == 4) {
    s.h = x[2];
    s.p = y[2];
    s.r = w[2];
    s.stride_h = op->strides[0];
    s.dilation_h = op->dilations[0];
    s.pad_h = op->pads_begin[0];
  }
  if (problem.anchor_inputs > 2 && problem.inputs[2].present) s.bias.input = 2;
  return s;
}

Result<LoweredEpilogue> lower_conv_epilogue(const Problem& problem, const ConvShape& shape,
                                            DataType type) {
  EpilogueFrame frame;
  frame.dims = problem.outputs[0].type.dims;
  frame.channel_axis = shape.gemm ? static_cast<int64_t>(frame.dims.size()) - 1 : 1;
  frame.padded = shape.k_pitch();
  frame.format = shape.y_format(type);
  return lower_epilogue(problem, frame, shape.bias);
}

std::vector<float> filter_krsc(const ConvShape& shape, const Tensor& weights) {
  Tensor values = convert(weights, DataType::float32);
  auto data = values.data<float>();
  int64_t c = shape.c / shape.groups, rs = shape.r * shape.s;
  std::vector<float> out(static_cast<size_t>(shape.k * rs * c));
  for (int64_t k = 0; k < shape.k; ++k) {
    for (int64_t i = 0; i < rs; ++i) {
      for (int64_t j = 0; j < c; ++j) {
        int64_t from = shape.gemm ? (shape.weights_are_kc ? k * c + j : j * shape.k + k)
                                  : (k * c + j) * rs + i;
        out[static_cast<size_t>((k * rs + i) * c + j)] =
            shape.alpha * data[static_cast<size_t>(from)];
      }
    }
  }
  return out;
}

double conv_bytes(const ConvShape& shape, DataType type) {
  int64_t elements = shape.n * shape.h * shape.w * shape.c_pitch() + shape.m() * shape.k_pitch() +
                     shape.k * shape.r * shape.s * shape.c / shape.groups;
  return static_cast<double>(elements * element_bytes(type));
}

}  // namespace enginery
