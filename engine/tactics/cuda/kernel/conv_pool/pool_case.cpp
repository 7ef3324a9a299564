#include "engine/tactics/cuda/kernel/conv_pool/pool_case.h"

#include <algorithm>
#include <cmath>

#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

constexpr int64_t kPictureChannels = 4, kStepBytes = 32;  // along K, of one instruction
constexpr int64_t kPoolStride = 2;

// warps_q, wn, warps_k, strip
constexpr PoolingVariant kPoolingVariants[] = {
    {2, 32, 2, 28}, {2, 32, 2, 14}, {2, 32, 2, 7}, {2, 32, 2, 4},  {2, 32, 2, 2},
    {4, 32, 1, 28}, {4, 32, 1, 14}, {4, 32, 1, 4}, {4, 32, 2, 14}, {7, 32, 1, 14},
    {2, 16, 4, 28}, {2, 16, 4, 14}, {2, 16, 4, 7}, {2, 16, 4, 2},  {2, 16, 4, 1},
};

int64_t patch_pixels(const PoolCase& c) {
  return round_up((2 * c.pairs() - 1) * c.shape.stride_w + c.shape.s_pitch(), 4);
}

// The ring of the picture's rows.
int64_t ring_bytes(const PoolCase& c) {
  const int64_t rows = c.shape.r + 3 * c.shape.stride_h;
  return round_up(rows * patch_pixels(c) * c.pixel_bytes(), 128);
}

// The rows of float32 that the first step of a strip has.
int64_t picture_bytes(const PoolCase& c) {
  const int64_t rows = c.shape.r + 2 * c.shape.stride_h;
  return c.from_floats ? c.shape.c * rows * patch_pixels(c) * 4 : 0;
}

// From a pooled output to the first of its pair of rows or columns.
int64_t shift_of(const PooledPlane& pooled) {
  return pooled.window == 3 ? 1 - pooled.pad : 0;
}

// Warps that a quarter of an SM has registers for, each with `others` besides what it holds.
int64_t warps_of_quarter(const PoolCase& c, int64_t others) {
  constexpr int64_t kMost = 255, kOfQuarter = 16384 / 32;
  const int64_t registers = round_up(c.held_registers() + others, 8);
  return registers > kMost ? 0 : kOfQuarter / registers;
}

// Blocks of an SM at a time that the compiler is held to; most need 48 registers or fewer besides.
int64_t blocks_at_once(const PoolCase& c) {
  constexpr int64_t kOthers = 48;
  return std::max<int64_t>(1, warps_of_quarter(c, kOthers) / divide_up(c.variant.threads(), 128));
}

bool serves(const PoolCase& c, const KernelContext& context) {
  constexpr int64_t kLeastOthers = 30;
  const PoolingVariant& v = c.variant;
  if (divide_up(v.threads(), 128) > warps_of_quarter(c, kLeastOthers)) return false;
  if (c.from_floats && c.shape.r < c.shape.stride_h) return false;
  if (c.shared_bytes() > context.limits.shared_kib_per_block * 1024) return false;
  // Warps whose channels nobody wants.
  if (v.wn * (v.warps_k - 1) >= c.shape.k_pitch()) return false;
  return c.blocks() < (int64_t{1} << 31);
}

// What a step of two rows costs a block, in cycles of an SM: products, reads of shared memory, and
// instructions; the longest, and a part of the others.
double step_cycles(const PoolCase& c, const KernelContext& context) {
  constexpr double kMmaShare = 0.5, kResult = 9, kOther = 120, kIssued = 2, kBeside = 0.25;
  const PoolingVariant& v = c.variant;
  // Each quarter of an SM as many as the one with the most.
  const auto warps = static_cast<double>(round_up(v.warps_q * v.warps_k, 4));
  const double tiles = v.wn / 8.0;
  const auto steps = static_cast<double>(c.window_bytes() / kStepBytes);
  const auto rows = static_cast<double>(c.shape.r + c.shape.stride_h);
  const double products = 2 * static_cast<double>(c.shape.r) * steps * tiles * warps;
  // 16 rows by 8 columns by 32 bytes: of bytes twice the terms, at twice the rate.
  constexpr double kOfProduct = 2.0 * 16 * 8 * kStepBytes / 2;
  const double multiply =
      products * kOfProduct / (kMmaShare * context.limits.float16_flops_per_clock);
  const double read = rows * steps * 4 * warps;
  // Two pixels, a thread, that are rounded to 16 bits or quantised.
  const double kRounded = is_eight_bits(c.type) ? 290 : 80;
  const double settled =
      c.from_floats ? static_cast<double>(c.shape.stride_h * patch_pixels(c)) / 32 * kRounded : 0;
  const double issue =
      (products + settled + warps * (rows * steps * 2 + tiles * 2 * kResult + kOther)) / kIssued;
  const double longest = std::max({multiply, read, issue});
  return longest + kBeside * (multiply + read + issue - longest);
}

// The padding of the filter's columns in front: so that as much as possible is copied at a time.
void choose_front(PoolCase& c) {
  ConvShape best = c.shape;
  int64_t most = c.copy_bytes();
  const int64_t room = c.shape.s_pitch() - c.shape.s;
  for (int64_t front = 1; front <= room; ++front) {
    c.shape.s_front = front;
    if (c.copy_bytes() <= most) continue;
    most = c.copy_bytes();
    best = c.shape;
  }
  c.shape = best;
}

}  // namespace

bool PoolCase::has_halo() const {
  return pooled.window == 3 && (pooled.pad == 0 || pooled.q > pairs());
}

int64_t PoolCase::across() const {
  return divide_up(pooled.q, pairs() - (has_halo() ? 1 : 0));
}

int64_t PoolCase::strips() const {
  return divide_up(pooled.p, variant.strip);
}

int64_t PoolCase::first_x(int64_t block) const {
  const int64_t halo = has_halo() ? 1 : 0, column = block * (pairs() - halo) - halo;
  return (kPoolStride * column + shift_of(pooled)) * shape.stride_w - shape.pad_w - shape.s_front;
}

int64_t PoolCase::copy_bytes() const {
  const int64_t each = from_floats ? element_bytes(DataType::float32) : pixel_bytes();
  for (const int64_t bytes : {16, 8}) {
    const int64_t pixels = bytes / each;
    if (pixels > 0 && first_x(0) % pixels == 0 && first_x(1) % pixels == 0 && shape.w % pixels == 0)
      return bytes;
  }
  return each;
}

int64_t PoolCase::shared_bytes() const {
  return ring_bytes(*this) + int64_t{variant.threads()} / 8 * variant.wn / 4 * 4 +
         picture_bytes(*this);
}

int64_t PoolCase::held_registers() const {
  const int64_t tiles = variant.wn / 8;
  return tiles * (shape.r * window_bytes() / kStepBytes * 2 + 3 * 4);
}

Result<PooledPlane> pooled_plane(const PooledConv& region, ConvShape& shape, DataType type) {
  const Pooling& pool = region.pool;
  const Dims& conv = output_dims(region.conv);
  const auto both = [](const std::vector<int64_t>& v, int64_t value) {
    return std::ranges::all_of(v, [&](int64_t x) { return x == value; });
  };
  PooledPlane out;
  out.window = pool.kernel[0];
  out.pad = pool.pads_begin[0];
  if (out.window < 2 || out.window > 3 || !both(pool.kernel, out.window) ||
      !both(pool.strides, kPoolStride) || !both(pool.dilations, 1) ||
      !both(pool.pads_begin, out.pad) || out.pad > (out.window == 3 ? 1 : 0))
    return refusal("a pooling other than 3x3 and 2x2 with stride 2");
  if (shape.gemm || conv.size() != 4 || shape.groups != 1 || shape.c > kPictureChannels)
    return refusal("no convolution of a picture");
  if (shape.pointwise() || shape.dilation_h != 1 || shape.dilation_w != 1 || shape.r > 16 ||
      shape.s > 32)
    return refusal("a filter of one element, with gaps, or a large one");
  shape.c_block = kPictureChannels;
  shape.s_block = kStepBytes / (kPictureChannels * element_bytes(type));
  // A lane reads 8 bytes of a window.
  if (is_eight_bits(type) && shape.stride_w % 2)
    return refusal("windows of bytes that begin at every pixel");
  return out;
}

std::vector<PoolCase> pool_cases(const ConvShape& shape, const PooledPlane& pooled, DataType type,
                                 bool from_floats, const KernelContext& context) {
  std::vector<PoolCase> out;
  for (const PoolingVariant& variant : kPoolingVariants) {
    PoolCase c{shape, pooled, variant, type, from_floats};
    choose_front(c);
    if (serves(c, context)) out.push_back(c);
  }
  return out;
}

std::string id_of(const PoolCase& c) {
  const PoolingVariant& v = c.variant;
  return "conv_pool/" + std::string(arithmetic_of(c.type)) + std::to_string(2 * c.pairs()) + "x" +
         std::to_string(v.channels()) + "x" + std::to_string(v.wn) + "_h" + std::to_string(v.strip);
}

double estimate_us(const PoolCase& c, const KernelContext& context) {
  constexpr double kStartUs = 3, kHidden = 0.3, kStartSteps = 2;
  const ConvShape& s = c.shape;
  const DeviceInfo& info = context.info;
  const int64_t at_once = blocks_at_once(c);
  const auto each = static_cast<double>(divide_up(c.blocks(), info.compute_units));
  const double rounds = std::ceil(each / static_cast<double>(at_once));
  const double clock = info.float16_flops / (static_cast<double>(info.compute_units) *
                                             context.limits.float16_flops_per_clock);
  // A step of its own takes as long as its waits; what a strip begins with, weights and the row
  // above it, is a step and a half. Constants as of ResNet-50's stem on an H200 (h200-stem.csv).
  constexpr double kStepUs = 0.45;
  const double steps = static_cast<double>(std::min<int64_t>(c.variant.strip, c.pooled.p)) +
                       (c.pooled.window == 3 && c.strips() > 1 ? 1.2 : 0.7);
  const double compute = std::max(each * steps * 1e6 * step_cycles(c, context) / clock,
                                  rounds * (steps + kStartSteps) * kStepUs);
  const int64_t pixel = c.from_floats ? 4 * s.c : c.pixel_bytes();
  const double moved =
      static_cast<double>(s.n * s.h * s.w * pixel) +
      static_cast<double>(s.n * c.pooled.p * c.pooled.q * s.k_pitch() * element_bytes(c.type));
  const double memory = context.memory_us(moved, 0);
  return kStartUs + std::max(compute, memory) + kHidden * std::min(compute, memory);
}

KernelProgram pool_program(const PoolCase& c, DataType result, const FusedEpilogue& epilogue) {
  const PoolingVariant& v = c.variant;
  const ConvShape& s = c.shape;
  const bool bytes = is_eight_bits(c.type);
  KernelProgram program;
  define_types(program, c.type, result);
  program.define("TSUM", bytes ? "int" : "float");
  program.define("BYTES", bytes);
  program.define("PICTURE", c.from_floats);
  program.define("CHANNELS", s.c);
  program.define("WARPS_Q", v.warps_q);
  program.define("WARPS_K", v.warps_k);
  program.define("WN", v.wn);
  program.define("VECTOR", std::min(v.wn / 4, 8));
  program.define("STRIP", v.strip);
  program.define("AT_ONCE", blocks_at_once(c));
  program.define("FILTER_R", s.r);
  program.define("WINDOW_BYTES", c.window_bytes());
  program.define("STRIDE_H", s.stride_h);
  program.define("STRIDE_W", s.stride_w);
  program.define("PAD_H", s.pad_h);
  program.define("FIRST_X", "(" + std::to_string(-s.pad_w - s.s_front) + ")");
  program.define("OUT_P", s.p);
  program.define("OUT_Q", s.q);
  program.define("POOL", c.pooled.window);
  program.define("POOL_PAD", c.pooled.pad);
  program.define("POOL_P", c.pooled.p);
  program.define("POOL_Q", c.pooled.q);
  program.define("HALO", c.has_halo());
  program.define("COPY_BYTES", c.copy_bytes());
  program.define("SHARED_BYTES", c.shared_bytes());
  if (bytes) program.types.push_back("text/bytes.cuh");
  program.types.push_back("text/warp.cuh");
  program.functions = early_epilogue_text(epilogue);
  program.files = {"conv_pool/args.h", "text/columns.cuh", "conv_pool/conv_pool.cuh"};
  return program;
}

KernelLaunch pool_launch(const PoolCase& c, PackConstant weights, KernelPlan& plan) {
  gpu::ConvPoolArgs args{};
  args.h = to_int(c.shape.h);
  args.width = to_int(c.shape.w);
  args.k = to_int(c.shape.k);
  args.ldy = to_int(c.shape.k_pitch());
  args.by_tiles_k = make_divisor(c.tiles_k());
  args.by_across = make_divisor(c.across());
  args.by_strips = make_divisor(c.strips());
  KernelLaunch launch;
  launch.grid = {static_cast<unsigned>(c.blocks()), 1, 1};
  launch.threads = static_cast<unsigned>(c.variant.threads());
  launch.shared_bytes = static_cast<unsigned>(c.shared_bytes());
  launch.arguments = argument_bytes(args);
  launch.slots = {{offsetof(gpu::ConvPoolArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::ConvPoolArgs, w), PointerSource::constant,
                   plan.add_constant(std::move(weights))},
                  {offsetof(gpu::ConvPoolArgs, y), PointerSource::output, 0}};
  return launch;
}

int64_t packed_k(const PoolCase& c) {
  return kStepBytes / element_bytes(c.type);
}

}  // namespace enginery
