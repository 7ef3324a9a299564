#include "engine/tactics/shapes/window_sides.h"

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

// Of two dimensions along which the window does not reach, one inside of the other.
WindowSide one_long(const WindowSide& outer, const WindowSide& inner) {
  WindowSide out;
  out.in = outer.in * inner.in;
  out.out = outer.out * inner.out;
  return out;
}

template <typename Window>
WindowSide side_of(const Window& op, size_t i, int64_t in, int64_t out, int64_t taps) {
  return {in, out, taps, op.strides[i], op.dilations[i], op.pads_begin[i], op.pads_end[i]};
}

}  // namespace

std::vector<WindowSide> window_sides(const Convolution& op, const Dims& x, const Dims& w,
                                     const Dims& y) {
  std::vector<WindowSide> out;
  for (size_t i = 0; i + 2 < x.size(); ++i)
    out.push_back(side_of(op, i, x[i + 2], y[i + 2], w[i + 2]));
  return out;
}

std::vector<WindowSide> window_sides(const Pooling& op, const Dims& x, const Dims& y) {
  std::vector<WindowSide> out;
  for (size_t i = 0; i + 2 < x.size(); ++i)
    out.push_back(side_of(op, i, x[i + 2], y[i + 2], op.kernel[i]));
  return out;
}

Result<PlaneWindow> plane_window(int64_t images, const std::vector<WindowSide>& sides) {
  if (sides.size() == 1) return PlaneWindow{images, {}, sides[0]};
  if (sides.size() == 2) return PlaneWindow{images, sides[0], sides[1]};
  if (sides.size() == 3 && sides[1].is_plain() && sides[2].is_plain())
    return PlaneWindow{images, sides[0], one_long(sides[1], sides[2])};
  if (sides.size() == 3 && sides[0].is_plain())
    return PlaneWindow{images * sides[0].in, sides[1], sides[2]};
  return refusal("a window along " + std::to_string(sides.size()) + " dimensions");
}

}  // namespace enginery
