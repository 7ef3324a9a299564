#include "engine/tactics/cuda/kernel/window_launch.h"

#include <algorithm>

namespace enginery {

gpu::WindowArgs window_args(const ConvShape& shape) {
  gpu::WindowArgs a{};
  a.n = to_int(shape.n);
  a.h = to_int(shape.h);
  a.width = to_int(shape.w);
  a.c = to_int(shape.c_pitch());
  a.channels = to_int(shape.c);
  a.p = to_int(shape.p);
  a.q = to_int(shape.q);
  a.r = to_int(shape.r);
  a.s = to_int(shape.s);
  a.stride_h = to_int(shape.stride_h);
  a.stride_w = to_int(shape.stride_w);
  a.pad_h = to_int(shape.pad_h);
  a.pad_w = to_int(shape.pad_w);
  a.pad_h_end = to_int(shape.pad_h_end);
  a.pad_w_end = to_int(shape.pad_w_end);
  a.dilation_h = to_int(shape.dilation_h);
  a.dilation_w = to_int(shape.dilation_w);
  a.by_p = make_divisor(shape.p);
  return a;
}

std::vector<PointerSlot> window_slots() {
  return {{offsetof(gpu::WindowArgs, x), PointerSource::input, 0},
          {offsetof(gpu::WindowArgs, y), PointerSource::output, 0}};
}

Result<LoweredEpilogue> lower_window_epilogue(const Problem& problem, const ConvShape& shape,
                                              DataType type) {
  TRY(LoweredEpilogue out, lower_conv_epilogue(problem, shape, type));
  const bool by_image = std::ranges::any_of(out.code.steps, [](const FusedStep& step) {
    return step.slot >= 0 && step.access == OperandAccess::image_channel;
  });
  if (by_image && shape.images != shape.n)
    return refusal("a factor for each image, where planes are images");
  return out;
}

double window_bytes(const ConvShape& s, DataType type) {
  return static_cast<double>((s.n * s.h * s.w + s.n * s.p * s.q) * s.c_pitch() *
                             element_bytes(type));
}

}  // namespace enginery
