#include "engine/tactics/cuda/kernel/conv_launch.h"

#include <algorithm>

namespace enginery {
namespace {

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

Tactic make_conv_tactic(const Problem& problem, const ConvShape& shape,
                        const LoweredEpilogue& epilogue, std::string id) {
  return make_conv_tactic(problem, shape, epilogue, "kernel", std::move(id));
}

gpu::ConvArgs conv_args(const ConvShape& shape) {
  gpu::ConvArgs a{};
  a.h = to_int(shape.h);
  a.width = to_int(shape.w);
  a.c = to_int(shape.c_pitch());
  a.r = to_int(shape.r);
  a.s = to_int(shape.s_pitch());
  a.m = to_int(shape.m());
  a.k = to_int(shape.k);
  a.ldy = to_int(shape.k_pitch());
  a.stride_h = to_int(shape.stride_h);
  a.stride_w = to_int(shape.stride_w);
  a.pad_h = to_int(shape.pad_h);
  a.pad_w = to_int(shape.pad_w + shape.s_front);
  a.dilation_h = to_int(shape.dilation_h);
  a.dilation_w = to_int(shape.dilation_w);
  a.split_k = 1;
  a.groups = to_int(shape.groups);
  a.group_c = to_int(shape.c / shape.groups);
  a.group_k = to_int(shape.k / shape.groups);
  a.by_c = make_divisor(a.c);
  a.by_s = make_divisor(shape.s_pitch());
  a.by_q = make_divisor(shape.q);
  a.by_p = make_divisor(shape.p);
  a.by_pixels = make_divisor(shape.pixels_of_an_image());
  return a;
}

Status keep_to_pitches(const ConvShape& shape, const Tactic& tactic, KernelProgram& program,
                       gpu::ConvArgs& args) {
  const Format &x = tactic.inputs[0], &y = tactic.outputs[0];
  const bool reads = has_pitch(x), writes = has_pitch(y);
  const bool foreign = (reads && without_pitch(x) != shape.x_format(x.type)) ||
                       (writes && without_pitch(y) != shape.y_format(y.type));
  if (foreign || (shape.gemm && (reads || writes))) return no_variant(tactic);
  if (reads) {
    program.define("READS_PITCHED", 1);
    args.x_pitch = x.layout.pitch;
  }
  if (writes) {
    program.define("PITCHED", 1);
    args.y_pitch = y.layout.pitch;
  }
  return {};
}

std::vector<PointerSlot> conv_slots(int weights) {
  return {{offsetof(gpu::ConvArgs, x), PointerSource::input, 0},
          {offsetof(gpu::ConvArgs, w), PointerSource::constant, weights},
          {offsetof(gpu::ConvArgs, y), PointerSource::output, 0}};
}

int64_t filter_steps(const ConvShape& shape, int64_t bk) {
  int64_t rs = shape.r * shape.s_pitch();
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
          const int64_t position = i / shape.s * shape.s_pitch() + shape.s_front + i % shape.s;
          int64_t at = flat ? position * shape.c_pitch() + c : (c / bk * rs + i) * bk + c % bk;
          out[static_cast<size_t>(k * pitch + at)] = round_to_tf32 ? rounded_to_tf32(v) : v;
        }
      }
    }
    return Bytes(as_text(convert(packed, type).byte_span()));
  };
}

PackConstant pack_for_lanes_of_k(const ConvShape& shape) {
  return [shape](Weights weights) {
    const std::vector<float> krsc = filter_krsc(shape, *weights[1]);
    const int64_t inner = shape.r * shape.s * (shape.c / shape.groups);
    std::vector<float> out(krsc.size());
    for (int64_t k = 0; k < shape.k; ++k) {
      for (int64_t i = 0; i < inner; ++i)
        out[static_cast<size_t>(i * shape.k + k)] = krsc[static_cast<size_t>(k * inner + i)];
    }
    return bytes_of_values(out);
  };
}

void add_untiled_launch(const ConvShape& shape, int64_t width, int threads, PackConstant weights,
                        const LoweredEpilogue& epilogue, KernelPlan& plan) {
  KernelLaunch launch = launch_of(conv_args(shape), shape.m() * shape.k_pitch() / width,
                                  static_cast<unsigned>(threads));
  launch.slots = conv_slots(plan.add_constant(std::move(weights)));
  attach_epilogue(epilogue, offsetof(gpu::ConvArgs, epilogue), plan, launch);
  plan.launches.push_back(std::move(launch));
}

int64_t partial_sum_bytes(const ConvShape& shape, int64_t split_k, int64_t bn) {
  return split_k == 1 ? 0 : 4 * split_k * shape.m() * round_up(shape.k_pitch(), bn);
}

void add_split_k(const ConvShape& shape, int64_t bytes, int64_t vector, KernelPlan& plan,
                 KernelLaunch& launch) {
  constexpr unsigned kThreads = 256;
  plan.workspace_bytes = bytes;
  launch.slots.push_back({offsetof(gpu::ConvArgs, partial_sums), PointerSource::workspace, 0});
  plan.launches.push_back(launch);
  launch.entry = "reduce_parts";  // the name in code that engine files hold
  launch.grid = grid_for(shape.m() * shape.k_pitch() / vector, kThreads);
  launch.threads = kThreads;
  launch.shared_bytes = 0;
}

}  // namespace enginery
