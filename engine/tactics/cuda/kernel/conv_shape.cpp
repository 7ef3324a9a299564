#include "engine/tactics/cuda/kernel/conv_shape.h"

namespace enginery {
namespace {

Result<ConvShape> from_convolution(const Problem& problem, const Convolution& op) {
  const Dims &x = problem.inputs[0].type.dims, &w = problem.inputs[1].type.dims,
             &y = problem.outputs[0].type.dims;
  size_t spatial = x.size() - 2;
  if (spatial < 1 || spatial > 2)
    return no_kernel("a convolution of " + std::to_string(spatial) + " spatial dimensions");
  ConvShape s;
  s.n = x[0], s.c = x[1], s.k = w[0], s.groups = op.groups;
  s.w = x.back(), s.q = y.back(), s.s = w.back();
  size_t last = spatial - 1;
  s.stride_w = op.strides[last], s.dilation_w = op.dilations[last];
  s.pad_w = op.pads_begin[last], s.pad_w_end = op.pads_end[last];
  if (spatial == 2) {
    s.h = x[2], s.p = y[2], s.r = w[2];
    s.stride_h = op.strides[0], s.dilation_h = op.dilations[0];
    s.pad_h = op.pads_begin[0], s.pad_h_end = op.pads_end[0];
  }
  if (problem.anchor_inputs > 2 && problem.inputs[2].present) s.bias.input = 2;
  return s;
}

Result<ConvShape> from_product(const Problem& problem, bool transposed) {
  const Dims &a = problem.inputs[0].type.dims, &b = problem.inputs[1].type.dims;
  if (b.size() != 2 || a.empty())
    return no_kernel("a product by weights of rank " + std::to_string(b.size()));
  ConvShape s;
  s.product = true;
  s.transposed = transposed;
  s.c = a.back();
  s.n = s.c ? volume(a) / s.c : 0;
  s.k = b[transposed ? 0 : 1];
  return s;
}

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// To 10 bits of mantissa, to nearest, ties away from zero, as cvt.rna does.
float rounded_to_tf32(float value) {
  uint32_t bits = bits_of(value);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits = (bits + 0x1000u) & ~0x1fffu;
  float out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}

}  // namespace

Result<ConvShape> conv_shape(const Problem& problem) {
  CHECK_OK(require_static(problem));
  if (problem.outputs.size() != 1 || problem.inputs.size() < 2)
    return no_kernel("no convolution and no product");
  if (!is_floating(problem.inputs[0].type.type)) return no_kernel("integers");
  if (!problem.inputs[1].constant) return no_kernel("weights that are computed");
  if (volume(problem.outputs[0].type.dims) == 0 || volume(problem.inputs[0].type.dims) == 0)
    return no_kernel("no elements");
  if (const auto* op = std::get_if<Convolution>(&problem.op)) return from_convolution(problem, *op);
  if (std::holds_alternative<MatMul>(problem.op)) return from_product(problem, false);
  if (const auto* op = std::get_if<Gemm>(&problem.op)) {
    if (op->transpose_a) return no_kernel("a transposed input");
    TRY(ConvShape s, from_product(problem, op->transpose_b));
    s.alpha = op->alpha;
    if (problem.anchor_inputs > 2 && problem.inputs[2].present) s.bias = {2, op->beta};
    return s;
  }
  return no_kernel("no convolution and no product");
}

Result<LoweredEpilogue> lower_conv_epilogue(const Problem& problem, const ConvShape& shape,
                                            DataType type) {
  EpilogueFrame frame;
  frame.dims = problem.outputs[0].type.dims;
  frame.channel_axis = shape.product ? static_cast<int64_t>(frame.dims.size()) - 1 : 1;
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
        int64_t from =
            shape.product ? (shape.transposed ? k * c + j : j * shape.k + k) : (k * c + j) * rs + i;
        out[static_cast<size_t>((k * rs + i) * c + j)] =
            shape.alpha * data[static_cast<size_t>(from)];
      }
    }
  }
  return out;
}

gpu::ConvArgs conv_args(const ConvShape& shape) {
  gpu::ConvArgs a{};
  auto narrow = [](int64_t v) { return static_cast<int>(v); };
  a.h = narrow(shape.h), a.width = narrow(shape.w), a.c = narrow(shape.c_pitch());
  a.r = narrow(shape.r), a.s = narrow(shape.s);
  a.m = narrow(shape.m()), a.k = narrow(shape.k), a.ldy = narrow(shape.k_pitch());
  a.stride_h = narrow(shape.stride_h), a.stride_w = narrow(shape.stride_w);
  a.pad_h = narrow(shape.pad_h), a.pad_w = narrow(shape.pad_w);
  a.dilation_h = narrow(shape.dilation_h), a.dilation_w = narrow(shape.dilation_w);
  a.slices = 1;
  a.groups = narrow(shape.groups), a.group_c = narrow(shape.c / shape.groups),
  a.group_k = narrow(shape.k / shape.groups);
  a.by_c = make_divisor(a.c), a.by_s = make_divisor(shape.s);
  a.by_q = make_divisor(shape.q), a.by_p = make_divisor(shape.p),
  a.by_pixels = make_divisor(shape.p * shape.q);
  return a;
}

std::vector<PointerSlot> conv_slots(int weights) {
  return {{offsetof(gpu::ConvArgs, x), PointerSource::input, 0},
          {offsetof(gpu::ConvArgs, w), PointerSource::constant, weights},
          {offsetof(gpu::ConvArgs, y), PointerSource::output, 0}};
}

double conv_bytes(const ConvShape& shape, DataType type) {
  int64_t elements = shape.n * shape.h * shape.w * shape.c_pitch() + shape.m() * shape.k_pitch() +
                     shape.k * shape.r * shape.s * shape.c / shape.groups;
  return static_cast<double>(elements * element_bytes(type));
}

int64_t filter_steps(const ConvShape& shape, int64_t bk) {
  int64_t rs = shape.r * shape.s;
  return shape.flat(bk) ? divide_up(rs * shape.c_pitch(), bk) : divide_up(shape.c_pitch(), bk) * rs;
}

PackConstant pack_filter(const ConvShape& shape, DataType type, int64_t bk, int64_t bn,
                         bool round_to_tf32) {
  return [=](Weights weights) {
    std::vector<float> krsc = filter_krsc(shape, *weights[1]);
    int64_t steps = filter_steps(shape, bk), rs = shape.r * shape.s, pitch = steps * bk;
    bool flat = shape.flat(bk);
    Tensor packed(DataType::float32, {round_up(shape.k, bn) * pitch});
    auto out = packed.mutable_data<float>();
    std::fill(out.begin(), out.end(), 0.0f);
    for (int64_t k = 0; k < shape.k; ++k) {
      for (int64_t i = 0; i < rs; ++i) {
        for (int64_t c = 0; c < shape.c; ++c) {
          float v = krsc[static_cast<size_t>((k * rs + i) * shape.c + c)];
          int64_t at = flat ? i * shape.c_pitch() + c : (c / bk * rs + i) * bk + c % bk;
          out[static_cast<size_t>(k * pitch + at)] = round_to_tf32 ? rounded_to_tf32(v) : v;
        }
      }
    }
    return Bytes(as_text(convert(packed, type).byte_span()));
  };
}

void add_untiled_launch(const ConvShape& shape, int64_t width, PackConstant weights,
                        const LoweredEpilogue& epilogue, KernelPlan& plan) {
  KernelLaunch launch;
  launch.grid = grid_for(shape.m() * shape.k_pitch() / width, 256);
  launch.threads = 256;
  launch.arguments = argument_bytes(conv_args(shape));
  launch.slots = conv_slots(plan.add_constant(std::move(weights)));
  attach_epilogue(epilogue, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
}

void add_parts(const ConvShape& shape, int64_t bytes, int64_t vector, KernelPlan& plan,
               KernelLaunch& launch) {
  plan.workspace_bytes = bytes;
  launch.slots.push_back({offsetof(gpu::ConvArgs, partial), PointerSource::workspace, 0});
  plan.launches.push_back(launch);
  launch.entry = "reduce_parts";
  launch.grid = grid_for(shape.m() * shape.k_pitch() / vector, 256);
  launch.threads = 256, launch.shared_bytes = 0;
}

Tactic make_conv_tactic(const Problem& problem, const ConvShape& shape,
                        const LoweredEpilogue& epilogue, std::string id) {
  Tactic tactic = make_kernel_tactic(problem, std::move(id));
  DataType type = epilogue.code.output;
  tactic.inputs[0] = shape.x_format(type);
  tactic.outputs[0] = shape.y_format(type);
  tactic.compute = precision_of_storage(type);
  want_operands(epilogue, tactic);
  return tactic;
}

}  // namespace enginery
