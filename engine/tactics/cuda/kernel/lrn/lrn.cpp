// Family lrn: local response normalisation across channels, channels last by vectors (vectors.cuh)
// or, of windows that are wider, by elements (lrn.cuh); in order by runs of channels (planes.cuh).
#include <algorithm>
#include <limits>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/lrn/args.h"

namespace enginery {
namespace {

enum class LrnText { vectors, planes, channels };

struct LrnVariant {
  LrnText text;
  int threads;   // of a block
  int each = 1;  // vectors a thread, or channels of a plane's vector; elements
};

constexpr LrnVariant kLrnVariants[] = {
    {LrnText::vectors, 128},   {LrnText::vectors, 128, 2}, {LrnText::planes, 128, 8},
    {LrnText::planes, 128, 2}, {LrnText::channels, 256},
};

std::string id_of(const LrnVariant& v) {
  if (v.text == LrnText::channels) return id_by_threads("lrn/channels", v.threads, 256);
  const bool along_planes = v.text == LrnText::planes;
  std::string id = along_planes ? "lrn/planes_r" : "lrn/vectors_n";
  return id_by_threads(id + std::to_string(v.each), v.threads, 128);
}

// The problem's window, and the tensor as planes.
struct LrnShape {
  int64_t images = 1, channels = 1, inner = 1;
  int64_t low = 0, high = 0;  // channels of the window before and after an element; none outside
  bool has_pixels = false;    // so that there is a channels-last layout
};

Status require_lrn(const Problem& problem) {
  if (!std::holds_alternative<Lrn>(problem.op)) return refusal("no local response normalisation");
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  const TensorType& x = problem.inputs[0].type;
  if (!is_floating(x.type) || volume(x.dims) == 0) return refusal("no floats");
  return {};
}

Result<LrnShape> lrn_shape(const Problem& problem) {
  CHECK_OK(require_lrn(problem));
  const Dims& dims = problem.inputs[0].type.dims;
  const int64_t size = std::get<Lrn>(problem.op).size;
  LrnShape out;
  out.images = dims[0];
  out.channels = dims[1];
  out.inner = volume(dims) / (dims[0] * dims[1]);
  out.low = std::min((size - 1) / 2, dims[1] - 1);
  out.high = std::min(size / 2, dims[1] - 1);
  out.has_pixels = dims.size() > 2;
  return out;
}

// Elements of a vector: 16 bytes of channels; of pixels no more than what a thread's registers
// hold.
int64_t width_of(const LrnShape& shape, const LrnVariant& v, DataType type) {
  constexpr int64_t kVectorBytes = 16, kMaxHeld = 80;
  if (v.text == LrnText::vectors) return kVectorBytes / element_bytes(type);
  const int64_t held = shape.low + v.each + shape.high;
  for (const int64_t width : {4, 2}) {
    if (shape.inner % width == 0 && held * width <= kMaxHeld) return width;
  }
  return held <= kMaxHeld ? 1 : 0;
}

bool serves(const LrnShape& shape, const LrnVariant& v, DataType type) {
  if (v.text == LrnText::channels) return shape.has_pixels && shape.channels % 8 == 0;
  const int64_t width = width_of(shape, v, type);
  return width > 0 && (v.text == LrnText::planes || (shape.has_pixels && shape.high <= width));
}

// Elements one by one are for windows that vectors do not serve.
bool is_promising(const LrnShape& shape, const LrnVariant& v, DataType type) {
  return v.text != LrnText::channels || !serves(shape, kLrnVariants[0], type);
}

Format format_of(const LrnShape& shape, const LrnVariant& v, DataType type) {
  if (v.text == LrnText::planes) return {type, {}};
  return channels_last_format(type, shape.channels);
}

// Elements one by one reach a sixth of the bandwidth (GoogLeNet's two at batch 128 in run 49,
// tests/bench/results). What runs of channels share comes from the L2.
double estimate_us(const LrnShape& shape, const LrnVariant& v, double bytes,
                   const KernelContext& context) {
  constexpr double kElementsFactor = 5, kSharedFactor = 0.25, kEachUs = 0.1;
  const double latency = kEachUs * v.each;
  if (v.text == LrnText::channels) return kElementsFactor * context.memory_us(bytes);
  if (v.text == LrnText::vectors) return context.memory_us(bytes) + latency;
  const double shared = static_cast<double>(shape.low + shape.high) / v.each;
  return context.memory_us(bytes * (1 + kSharedFactor * shared)) + latency;
}

Status offer_lrn(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  TRY(const LrnShape shape, lrn_shape(problem));
  const size_t before = out.size();
  for (DataType type : context.storage_types()) {
    for (const LrnVariant& variant : kLrnVariants) {
      if (!serves(shape, variant, type) || !is_promising(shape, variant, type)) continue;
      const Format format = format_of(shape, variant, type);
      const int64_t bytes = 2 * physical_bytes(problem.inputs[0].type.dims, format);
      Tactic tactic = make_kernel_tactic(problem, id_of(variant));
      tactic.inputs[0] = tactic.outputs[0] = format;
      tactic.compute = precision_of_storage(type);
      tactic.estimated_us = estimate_us(shape, variant, static_cast<double>(bytes), context);
      out.push_back(std::move(tactic));
    }
  }
  if (out.size() > before) return {};
  return refusal("a window of " + std::to_string(shape.low + 1 + shape.high) + " channels");
}

// How vectors.cuh and planes.cuh take the power (power.cuh). No base is smaller than a bias to
// which nothing negative is added.
int power_of(const Lrn& op, DataType type) {
  const float quarters = 4 * op.beta;
  if (quarters == 4) return 4;
  if (op.bias < std::numeric_limits<float>::min() || op.alpha < 0) return 0;
  if (quarters == 3 || quarters == 2) return static_cast<int>(quarters);
  return type == DataType::float32 ? 0 : 1;
}

template <typename Args>
void add_launch(const Args& args, int64_t threads, const LrnVariant& v, KernelPlan& plan) {
  KernelLaunch launch = launch_of(args, threads, static_cast<unsigned>(v.threads));
  launch.slots = {{offsetof(Args, x), PointerSource::input, 0},
                  {offsetof(Args, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
}

void plan_elements(const Problem& problem, const LrnVariant& v, KernelPlan& plan) {
  const Lrn& op = std::get<Lrn>(problem.op);
  const Dims& dims = problem.inputs[0].type.dims;
  plan.program.files = {"lrn/args.h", "lrn/lrn.cuh"};
  gpu::LrnArgs args{};
  args.total = to_int(volume(dims));
  args.c = to_int(dims[1]);
  args.size = to_int(op.size);
  args.alpha = op.alpha;
  args.beta = op.beta;
  args.bias = op.bias;
  args.by_c = make_divisor(dims[1]);
  add_launch(args, args.total, v, plan);
}

void plan_windows(const LrnShape& shape, const Lrn& op, const LrnVariant& v, const Format& format,
                  KernelPlan& plan) {
  const bool along_planes = v.text == LrnText::planes;
  const int64_t width = width_of(shape, v, format.type);
  plan.program.define("WIDTH", width);
  plan.program.define("LOW", shape.low);
  plan.program.define("HIGH", shape.high);
  plan.program.define("POWER", power_of(op, format.type));
  plan.program.define(along_planes ? "RUN" : "ITEMS", v.each);
  plan.program.files = {"lrn/args.h", "lrn/power.cuh",
                        along_planes ? "lrn/planes.cuh" : "lrn/vectors.cuh"};
  const int64_t runs = along_planes ? divide_up(shape.channels, v.each) : 1;
  const int64_t row = (along_planes ? shape.inner : padded_to_8(shape.channels)) / width;
  const int64_t total = shape.images * (along_planes ? runs : shape.inner) * row;
  gpu::LrnWindowArgs args{};
  args.total = to_int(total);
  args.channels = to_int(shape.channels);
  args.inner = to_int(shape.inner);
  args.scale = op.alpha / static_cast<float>(op.size);
  args.bias = op.bias;
  args.beta = op.beta;
  args.by_row = make_divisor(row);
  args.by_runs = make_divisor(runs);
  add_launch(args, along_planes ? total : divide_up(total, v.each), v, plan);
}

Result<KernelPlan> plan_lrn(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  TRY(const LrnShape shape, lrn_shape(problem));
  const LrnVariant* variant = find_variant(kLrnVariants, tactic);
  const Format& format = tactic.inputs[0];
  if (!variant || !serves(shape, *variant, format.type)) return no_variant(tactic);
  KernelPlan plan;
  define_types(plan.program, format.type, tactic.outputs[0].type);
  plan.program.define("THREADS", variant->threads);
  if (variant->text == LrnText::channels)
    plan_elements(problem, *variant, plan);
  else
    plan_windows(shape, std::get<Lrn>(problem.op), *variant, format, plan);
  return plan;
}

}  // namespace

const KernelFamily kLrnFamily{"lrn", offer_lrn, plan_lrn};

}  // namespace enginery
