// Family reformat: changes of a tensor's layout and element type (reformat.cuh).
#include <algorithm>
#include <numeric>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/reformat/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

// The values are MODE in reformat.cuh.
enum class ReformatMode { gather = 0, to_channels_last = 1, to_linear = 2, rows = 3, pixels = 4 };
constexpr int64_t kPixelsAtOnce = 4;  // a thread's, of mode pixels, and the channels of one

struct ReformatVariant {
  ReformatMode mode;
  int threads;  // of a block
};

// Likely best first; `gather` before the tiles where channels are few (see modes_of).
constexpr ReformatVariant kReformatVariants[] = {{ReformatMode::gather, 128},
                                                 {ReformatMode::to_channels_last, 256},
                                                 {ReformatMode::to_linear, 256},
                                                 {ReformatMode::rows, 256},
                                                 {ReformatMode::pixels, 128}};

std::string id_of(const ReformatVariant& v) {
  switch (v.mode) {
    case ReformatMode::gather:
      return id_by_threads("reformat/gather", v.threads, 128);
    case ReformatMode::to_channels_last:
      return "reformat/tile_to_nhwc";
    case ReformatMode::to_linear:
      return "reformat/tile_to_linear";
    case ReformatMode::rows:
      return id_by_threads("reformat/rows", v.threads, 256);
    case ReformatMode::pixels:
      return id_by_threads("reformat/pixels", v.threads, 128);
  }
  return {};
}

bool is_tiled(ReformatMode mode) {
  return mode == ReformatMode::to_channels_last || mode == ReformatMode::to_linear;
}

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
    s.from = *problem.inputs[0].pinned;
    s.to = *problem.outputs[0].pinned;
  } else if (std::holds_alternative<Cast>(problem.op) && problem.epilogue.empty()) {
    s.from = {problem.inputs[0].type.type, {}};
    s.to = {problem.outputs[0].type.type, {}};
  } else {
    return refusal("no change of format");
  }
  for (const Format& f : {s.from, s.to}) {
    const bool is_byte = is_eight_bits(f.type) && s.from.type == s.to.type;
    if (storage_type_text(f.type).empty() && !is_byte)
      return refusal("formats of " + std::string(to_string(f.type)));
    if (f.layout.kind == LayoutKind::blocked) return refusal("blocked layouts");
    if (has_pitch(f)) return refusal("pitches");
    if (s.last(f) && dims.size() < 3) return refusal("channels-last tensors of rank below 3");
  }
  if (volume(dims) == 0) return refusal("no elements");
  if (!s.last(s.from) && !s.last(s.to)) {
    s.c = volume(dims);
  } else {
    s.n = dims[0];
    s.c = dims[1];
    s.pixels = volume(dims) / (dims[0] * dims[1]);
  }
  return s;
}

// The modes that serve, likely best first.
std::vector<ReformatMode> modes_of(const ReformatShape& s) {
  using enum ReformatMode;
  if (s.last(s.from) == s.last(s.to)) return {rows};
  if (s.last(s.from)) return {to_linear};
  if (s.pitch_of(s.to) % 4) return {to_channels_last};
  if (s.pitch_of(s.to) == kPixelsAtOnce && s.pixels % kPixelsAtOnce == 0) return {pixels, gather};
  return s.c <= 8 ? std::vector{gather, to_channels_last} : std::vector{to_channels_last, gather};
}

// Channels of a thread: those that it gathers, or those of a row that it copies.
int64_t width_of(const ReformatShape& s, ReformatMode mode) {
  if (mode != ReformatMode::rows) return s.pitch_of(s.to) % 8 ? 4 : 8;
  const int64_t both = std::gcd(s.pitch_of(s.from), s.pitch_of(s.to));
  return both % 8 == 0 ? 8 : both % 4 == 0 ? 4 : 1;
}

gpu::ReformatArgs reformat_args(const ReformatShape& s, ReformatMode mode) {
  const int64_t pitch = s.pitch_of(mode == ReformatMode::to_linear ? s.from : s.to);
  gpu::ReformatArgs a{};
  a.n = to_int(s.n);
  a.c = to_int(s.c);
  a.pixels = to_int(s.pixels);
  a.pitch = to_int(pitch);
  a.by_pixels = make_divisor(s.pixels);
  const int64_t width = width_of(s, mode);
  if (mode == ReformatMode::gather || mode == ReformatMode::rows) {
    a.total = to_int(s.n * s.pixels * (pitch / width));
    a.by_vectors = make_divisor(pitch / width);
  }
  if (mode == ReformatMode::pixels) {
    a.total = to_int(s.n * s.pixels / kPixelsAtOnce);
    a.by_pixels = make_divisor(s.pixels / kPixelsAtOnce);
  }
  if (mode == ReformatMode::rows) a.pixels = to_int(s.pitch_of(s.from));
  return a;
}

Status offer_reformat(const Problem& problem, const KernelContext& context,
                      std::vector<Tactic>& out) {
  constexpr int64_t kMaxTiledImages = 65535;  // gridDim.z
  TRY(const ReformatShape shape, reformat_shape(problem));
  const double bytes =
      static_cast<double>(shape.n * shape.c * shape.pixels) *
      static_cast<double>(element_bytes(shape.from.type) + element_bytes(shape.to.type));
  double rank = 0;
  for (ReformatMode mode : modes_of(shape)) {
    if (is_tiled(mode) && shape.n > kMaxTiledImages) continue;
    for (const ReformatVariant& variant : kReformatVariants) {
      if (variant.mode != mode) continue;
      Tactic tactic = make_kernel_tactic(problem, id_of(variant));
      tactic.inputs[0] = shape.from;
      tactic.outputs[0] = shape.to;
      tactic.estimated_us = context.memory_us(bytes * (1 + 0.2 * rank));
      out.push_back(std::move(tactic));
    }
    rank += 1;
  }
  return {};
}

Result<KernelPlan> plan_reformat(const Problem& problem, const Tactic& tactic,
                                 const KernelContext&) {
  TRY(const ReformatShape shape, reformat_shape(problem));
  const ReformatVariant* variant = find_variant(kReformatVariants, tactic);
  if (!variant) return no_variant(tactic);
  const std::vector<ReformatMode> modes = modes_of(shape);
  if (std::find(modes.begin(), modes.end(), variant->mode) == modes.end())
    return no_variant(tactic);
  KernelPlan plan;
  define_types(plan.program, shape.from.type, shape.to.type);
  plan.program.define("MODE", static_cast<int>(variant->mode));
  plan.program.define("WIDTH", width_of(shape, variant->mode));
  plan.program.define("THREADS", variant->threads);
  plan.program.files = {"text/pixels.cuh", "reformat/args.h", "reformat/reformat.cuh"};
  if (is_eight_bits(shape.to.type))
    plan.program.files.insert(plan.program.files.begin(), "text/bytes.cuh");
  const gpu::ReformatArgs args = reformat_args(shape, variant->mode);
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  if (is_tiled(variant->mode)) {
    const int64_t channels = variant->mode == ReformatMode::to_linear ? shape.c : args.pitch;
    launch.grid = {static_cast<unsigned>(divide_up(shape.pixels, 32)),
                   static_cast<unsigned>(divide_up(channels, 32)), static_cast<unsigned>(shape.n)};
  }
  launch.slots = {{offsetof(gpu::ReformatArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::ReformatArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kReformatFamily{"reformat", offer_reformat, plan_reformat};

}  // namespace enginery
