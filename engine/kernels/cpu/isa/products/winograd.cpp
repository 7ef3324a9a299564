// 3x3 convolution of stride 1 by Winograd's minimal filtering, channels-last or blocked on either
// side.
//
// A block of tiles at a time: every vector of input channels of every tile is transformed (B^T d B)
// into scratch that fits L2; then, panel by panel of output channels, one matrix product a point,
// whose results are transformed back (A^T m A) while they are still in L2. Bytes: input and output
// once, the weights once a block. The threads share a block's tiles, or its panels where the
// weights are larger than what they are multiplied with.
#include "engine/kernels/cpu/isa/products/winograd.h"

#include <omp.h>

#include "engine/kernels/cpu/isa/pointwise_steps.h"
#include "engine/kernels/cpu/isa/products/product_tile.h"

namespace enginery {
namespace {

// One dimension of the transforms, to and fro.
template <int kTile>
struct Transform;

template <>
struct Transform<2> {
  static void forward(const Vector (&d)[4], Vector (&out)[4]) {
    out[0] = d[0] - d[2];
    out[1] = d[1] + d[2];
    out[2] = d[2] - d[1];
    out[3] = d[3] - d[1];
  }
  static void backward(const Vector (&m)[4], Vector (&out)[2]) {
    out[0] = m[0] + m[1] + m[2];
    out[1] = m[1] - m[2] + m[3];
  }
};

template <>
struct Transform<4> {
  static constexpr float a = kWinogradNear, b = kWinogradFar;
  static constexpr float a2 = a * a, b2 = b * b;

  static void forward(const Vector (&d)[6], Vector (&out)[6]) {
    const Vector near_even = d[4] - b2 * d[2], near_odd = a * d[3] - (a * b2) * d[1];
    const Vector far_even = d[4] - a2 * d[2], far_odd = b * d[3] - (b * a2) * d[1];
    out[0] = (a2 * b2) * d[0] + (d[4] - (a2 + b2) * d[2]);
    out[1] = near_even + near_odd;
    out[2] = near_even - near_odd;
    out[3] = far_even + far_odd;
    out[4] = far_even - far_odd;
    out[5] = (a2 * b2) * d[1] + (d[5] - (a2 + b2) * d[3]);
  }
  static void backward(const Vector (&m)[6], Vector (&out)[4]) {
    const Vector near_sum = m[1] + m[2], near_difference = m[1] - m[2];
    const Vector far_sum = m[3] + m[4], far_difference = m[3] - m[4];
    out[0] = m[0] + near_sum + far_sum;
    out[1] = a * near_difference + b * far_difference;
    out[2] = a2 * near_sum + b2 * far_sum;
    out[3] = (a * a2) * near_difference + (b * b2 * far_difference + m[5]);
  }
};

// A tile's place: its image and the output pixel of its corner.
struct Place {
  int64_t image, y, x;
};

template <int kTile>
class Winograd {
 public:
  static constexpr int kSide = kTile + 2, kPoints = kSide * kSide;

  explicit Winograd(const WinogradArguments& arguments)
      : a(arguments),
        tiles_h((a.out_h + kTile - 1) / kTile),
        tiles_w((a.out_w + kTile - 1) / kTile),
        chunks((a.channels_in + kWidth - 1) / kWidth),
        panels((a.channels_out + kPanel - 1) / kPanel),
        scratch(winograd_scratch(kTile, a.block_tiles, a.channels_in, kWidth)) {}

  int64_t tiles() const { return a.images * tiles_h * tiles_w; }

  void run() const {
    int64_t work = tiles() * kPoints * a.channels_in * a.channels_out;
#pragma omp parallel if (work > 8 * kMinParallelWork)
    {
      const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
      const bool many_weights = a.channels_out > 2 * tiles();
      const ProductCut cut =
          choose_cut((tiles() + kRows - 1) / kRows, panels, threads, many_weights);
      const int64_t part = thread / cut.by_panel, member = thread % cut.by_panel;
      const Share rows = share_of(tiles(), cut.by_row, part);
      const int64_t largest = (tiles() + cut.by_row - 1) / cut.by_row;
      const int64_t blocks = (largest + a.block_tiles - 1) / a.block_tiles;
      float* transformed = a.scratch + part * cut.by_panel * a.transformed_floats;
      float* product = a.scratch + threads * a.transformed_floats + thread * a.product_floats;
      // Every thread has as many blocks, if empty ones: they wait for each other.
      for (int64_t block = 0; block < blocks; ++block) {
        const Share of_block = share_of(rows.end - rows.begin, blocks, block);
        const Share mine{rows.begin + of_block.begin, rows.begin + of_block.end};
        transform(mine, share_of(chunks, cut.by_panel, member), transformed);
        if (cut.by_panel > 1) {
#pragma omp barrier
        }
        const Share own_panels = share_of(panels, cut.by_panel, member);
        for (int64_t panel = own_panels.begin; panel < own_panels.end; ++panel) {
          multiply_panel(mine, panel, panel + 1 < own_panels.end, transformed, product);
          finish(mine, panel, product);
        }
        if (cut.by_panel > 1) {
#pragma omp barrier
        }
      }
    }
  }

 private:
  Place place_of(int64_t tile) const {
    const int64_t of_image = tile % (tiles_h * tiles_w);
    return {tile / (tiles_h * tiles_w), of_image / tiles_w * kTile, of_image % tiles_w * kTile};
  }

  // The transformed input of tiles and of vectors of channels: [point][chunk][tile][lane].
  void transform(Share tiles, Share of_chunks, float* to) const {
    const int64_t count = tiles.end - tiles.begin;
    for (int64_t chunk = of_chunks.begin; chunk < of_chunks.end; ++chunk) {
      const int64_t lanes = a.channels_in - chunk * kWidth;
      float* chunk_to = to + chunk * count * kWidth;
      for (int64_t t = 0; t < count; ++t) {
        Place at = place_of(tiles.begin + t);
        at.y -= a.pad_h;
        at.x -= a.pad_w;
        const float* from = a.in + at.image * a.in_image + chunk * a.in_chunk;
        const bool inside = at.y >= 0 && at.x >= 0 && at.y + kSide <= a.in_h &&
                            at.x + kSide <= a.in_w && lanes >= kWidth;
        if (inside) {
          from += at.y * a.in_row + at.x * a.in_pixel;
          transform_tile(from, a.in_row, a.in_pixel, chunk_to + t * kWidth);
        } else {
          float patch[kPoints * kWidth];
          gather(from, at, lanes, patch);
          transform_tile(patch, kSide * kWidth, kWidth, chunk_to + t * kWidth);
        }
      }
    }
  }

  // A tile's input pixels with zeros for what lies outside of the image.
  void gather(const float* image, const Place& at, int64_t lanes, float* patch) const {
    for (int64_t i = 0; i < kSide; ++i) {
      for (int64_t j = 0; j < kSide; ++j, patch += kWidth) {
        const int64_t y = at.y + i, x = at.x + j;
        const bool inside = y >= 0 && x >= 0 && y < a.in_h && x < a.in_w;
        store(patch, inside ? load_lanes(image + y * a.in_row + x * a.in_pixel, lanes) : Vector{});
      }
    }
  }

  void transform_tile(const float* from, int64_t row, int64_t pixel, float* to) const {
    Vector columns[kSide][kSide];  // [point][column]
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) {
      Vector d[kSide], out[kSide];
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) d[i] = load(from + i * row + j * pixel);
      Transform<kTile>::forward(d, out);
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) columns[i][j] = out[i];
    }
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) {
      Vector out[kSide];
      Transform<kTile>::forward(columns[i], out);
#pragma GCC unroll 6
      for (int j = 0; j < kSide; ++j)
        store(to + (i * kSide + j) * scratch.transformed_point, out[j]);
    }
  }

  // One panel of output channels at every point: [point][tile][kPanel].
  void multiply_panel(Share tiles, int64_t panel, bool another, const float* from,
                      float* to) const {
    const int64_t count = tiles.end - tiles.begin, groups = (count + kRows - 1) / kRows;
    const int64_t matrix = a.channels_in * kPanel;
    const int64_t parts = fetching_tiles(groups), share = kWidth * kPanel / parts;
    const bool wide = a.channels_out - panel * kPanel > kWidth;
    const float* weights = a.weights + panel * kPoints * matrix;
    for (int64_t point = 0; point < kPoints; ++point, weights += matrix) {
      const bool fetches = another || point + 1 < kPoints;
      for (int64_t group = 0; group < groups; ++group) {
        const Share rows = share_of(count, groups, group);
        const float* next = fetches && group < parts ? weights + matrix + group * share : nullptr;
        const ProductOperands operands{
            .in = from + point * scratch.transformed_point + rows.begin * kWidth,
            .chunk_stride = count * kWidth,
            .weights = weights,
            .next = next,
            .next_floats = share,
            .depth = a.channels_in};
        float* out = to + point * scratch.product_point + rows.begin * kPanel;
        if (wide)
          multiply_rows<kRows, 2>(operands, rows.end - rows.begin, out);
        else
          multiply_rows<kRows, 1>(operands, rows.end - rows.begin, out);
      }
    }
  }

  template <int kR, int kV>
  static void multiply_rows(const ProductOperands& operands, int64_t rows, float* out) {
    if constexpr (kR > 0) {
      if (rows != kR) return multiply_rows<kR - 1, kV>(operands, rows, out);
      Vector acc[kR][kV] = {};
      multiply(operands, acc);
#pragma GCC unroll 16
      for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < kV; ++v) store(out + r * kPanel + v * kWidth, acc[r][v]);
      }
    }
  }

  // The output pixels of one panel's channels.
  void finish(Share tiles, int64_t panel, const float* product) const {
    for (int64_t v = 0; v < 2; ++v) {
      const int64_t channel = panel * kPanel + v * kWidth, lanes = a.channels_out - channel;
      if (lanes <= 0) return;
      const Vector bias = load(a.bias + channel);
      for (int64_t t = 0; t < tiles.end - tiles.begin; ++t) {
        const Place at = place_of(tiles.begin + t);
        const int64_t offset = at.image * a.out_image + at.y * a.out_row + at.x * a.out_pixel +
                               (2 * panel + v) * a.out_vector;
        finish_tile(product + t * kPanel + v * kWidth, bias, at, offset, lanes);
      }
    }
  }

  void finish_tile(const float* from, Vector bias, const Place& at, int64_t offset,
                   int64_t lanes) const {
    Vector columns[kTile][kSide];
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) {
      Vector m[kSide], out[kTile];
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) m[i] = load(from + (i * kSide + j) * scratch.product_point);
      Transform<kTile>::backward(m, out);
#pragma GCC unroll 4
      for (int i = 0; i < kTile; ++i) columns[i][j] = out[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < kTile; ++i) {
      if (at.y + i >= a.out_h) return;
      Vector out[kTile];
      Transform<kTile>::backward(columns[i], out);
#pragma GCC unroll 4
      for (int j = 0; j < kTile; ++j) out[j] += bias;
      if (a.steps > 0) run_steps(out);
#pragma GCC unroll 4
      for (int j = 0; j < kTile; ++j) {
        if (at.x + j >= a.out_w) break;
        const int64_t place = offset + i * a.out_row + j * a.out_pixel;
        Vector value = out[j];
        if (a.residual) value += load_lanes(a.residual + place, lanes);
        store_lanes(a.out + place, clip(value, a.low, a.high), lanes);
      }
    }
  }

  // Where there are steps, there is neither a residual nor a clip.
  void run_steps(Vector (&row)[kTile]) const {
    float values[kTile * kWidth];
    for (int j = 0; j < kTile; ++j) store(values + j * kWidth, row[j]);
    for (int s = 0; s < a.steps; ++s) apply(a.step[s], values, values, kTile * kWidth);
    for (int j = 0; j < kTile; ++j) row[j] = load(values + j * kWidth);
  }

  const WinogradArguments& a;
  const int64_t tiles_h, tiles_w, chunks, panels;
  const WinogradScratch scratch;
};

}  // namespace

void ENGINERY_KERNEL(winograd)(const WinogradArguments& a) {
  if (a.tile == 2)
    Winograd<2>(a).run();
  else
    Winograd<4>(a).run();
}

}  // namespace enginery
