// Family reformat: changes of a tensor's layout and element type
// (engine/kernels/cuda/src/reformat.cuh).
#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {
namespace {

enum class Mode { gather = 0, to_channels_last = 1, to_linear = 2, rows = 3 };
constexpr const char* kNames[] = {"reformat/gather", "reformat/tile_to_nhwc",
                                  "reformat/tile_to_linear", "reformat/rows"};

struct ReformatShape {
  int64_t n = 1, c = 1, pixels = 1;
  Format from, to;
  int64_t pitch_of(const Format& f) const {
    return f.layout.block ? round_up(c, f.layout.block) : c;
  }
  bool last(const Format& f) const { return f.layout.kind == LayoutKind::channels_last; }
};

// Reformats, and casts between float types as reformats of linear tensors.
Result<ReformatShape> reformat_shape(const Problem& problem) {
  CHECK_OK(require_static(problem));
  ReformatShape s;
  const Dims& dims = problem.inputs[0].type.dims;
  if (is_reformat(problem)) {
    s.from = *problem.inputs[0].pinned, s.to = *problem.outputs[0].pinned;
  } else if (std::holds_alternative<Cast>(problem.op) && problem.epilogue.empty()) {
    s.from = {problem.inputs[0].type.type, {}}, s.to = {problem.outputs[0].type.type, {}};
  } else {
    return no_kernel("no change of format");
  }
  for (const Format& f : {s.from, s.to}) {
    if (f.type != DataType::float32 && f.type != DataType::float16)
      return no_kernel("formats of " + std::string(to_string(f.type)));
    if (f.layout.kind == LayoutKind::blocked) return no_kernel("blocked layouts");
    if (s.last(f) && dims.size() < 3) return no_kernel("channels-last tensors of rank below 3");
  }
  if (volume(dims) == 0) return no_kernel("no elements");
  if (!s.last(s.from) && !s.last(s.to)) {
    s.c = volume(dims);
  } else {
    s.n = dims[0], s.c = dims[1], s.pixels = volume(dims) / (dims[0] * dims[1]);
  }
  return s;
}

std::vector<Mode> modes_of(const ReformatShape& s) {
  if (s.last(s.from) == s.last(s.to)) return {Mode::rows};
  if (s.last(s.from)) return {Mode::to_linear};
  if (s.pitch_of(s.to) % 8) return {Mode::to_channels_last};
  return s.c <= 8 ? std::vector{Mode::gather, Mode::to_channels_last}
                  : std::vector{Mode::to_channels_last, Mode::gather};
}

gpu::ReformatArgs reformat_args(const ReformatShape& s, Mode mode) {
  gpu::ReformatArgs a{};
  int64_t pitch = s.pitch_of(mode == Mode::to_linear ? s.from : s.to);
  a.n = static_cast<int>(s.n), a.c = static_cast<int>(s.c), a.pixels = static_cast<int>(s.pixels);
  a.pitch = static_cast<int>(pitch);
  a.by_pixels = make_divisor(s.pixels);
  if (mode == Mode::gather) {
    a.total = static_cast<int>(s.n * s.pixels * pitch / 8);
    a.by_vectors = make_divisor(pitch / 8);
  }
  if (mode == Mode::rows) {
    a.total = static_cast<int>(s.n * s.pixels * pitch);
    a.by_vectors = make_divisor(pitch);
    a.pixels = static_cast<int>(s.pitch_of(s.from));
  }
  return a;
}

}  // namespace

Status offer_reformat(const Problem& problem, const KernelContext& context,
                      std::vector<Tactic>& out) {
  TRY(ReformatShape shape, reformat_shape(problem));
  double rank = 0;
  for (Mode mode : modes_of(shape)) {
    if (mode != Mode::gather && mode != Mode::rows && shape.n > 65535) continue;
    Tactic tactic = make_kernel_tactic(problem, kNames[static_cast<int>(mode)]);
    tactic.inputs[0] = shape.from, tactic.outputs[0] = shape.to;
    double elements = static_cast<double>(shape.n * shape.c * shape.pixels);
    double bytes = elements * static_cast<double>(element_bytes(shape.from.type) +
                                                  element_bytes(shape.to.type));
    tactic.estimated_us = context.memory_us(bytes * (1 + 0.2 * rank));
    rank += 1;
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_reformat(const Problem& problem, const Tactic& tactic,
                                 const KernelContext&) {
  TRY(ReformatShape shape, reformat_shape(problem));
  for (Mode mode : modes_of(shape)) {
    if (tactic.id != kNames[static_cast<int>(mode)]) continue;
    KernelPlan plan;
    define_types(plan.program, shape.from.type, shape.to.type);
    plan.program.define("MODE", static_cast<int>(mode)), plan.program.define("WIDTH", 8);
    plan.program.files = {"reformat.cuh"};
    gpu::ReformatArgs args = reformat_args(shape, mode);
    KernelLaunch launch;
    launch.threads = mode == Mode::gather ? 128 : 256;
    launch.grid = grid_for(args.total, launch.threads);
    if (mode == Mode::to_channels_last || mode == Mode::to_linear) {
      int64_t channels = mode == Mode::to_linear ? shape.c : args.pitch;
      launch.grid = {static_cast<unsigned>(divide_up(shape.pixels, 32)),
                     static_cast<unsigned>(divide_up(channels, 32)),
                     static_cast<unsigned>(shape.n)};
    }
    launch.arguments = argument_bytes(args);
    launch.slots = {{offsetof(gpu::ReformatArgs, x), PointerSource::input, 0},
                    {offsetof(gpu::ReformatArgs, y), PointerSource::output, 0}};
    plan.launches.push_back(std::move(launch));
    return plan;
  }
  return no_variant(tactic);
}

}  // namespace enginery
