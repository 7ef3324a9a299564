#include "tuner/gate/shrink.h"

#include <algorithm>
#include <numeric>

#include "engine/tactics/region.h"
#include "engine/tactics/shapes/attention_shape.h"
#include "tuner/gate/domain.h"
#include "tuner/gate/sampled_region.h"

namespace enginery {
namespace {

constexpr int64_t kTile = 256;          // the largest tile, and a multiple of the others
constexpr int64_t kTerms = 128;         // the longest chunk of a sum
constexpr int64_t kFewElements = 4096;  // compared in full anyway
constexpr int64_t kMaxTerms = int64_t{1} << 24;

// The least size above `tile` with the same remainder; the size itself where that is no less.
int64_t cut(int64_t size, int64_t tile) {
  return std::min(size, tile + size % tile);
}

// As many of `count` as keep count * each the same modulo a tile, at least `least`.
int64_t cut_rows(int64_t count, int64_t each, int64_t least) {
  const int64_t step = kTile / std::gcd(each, kTile);
  const int64_t enough = std::max(least, (kTile + each - 1) / each);
  return count <= enough ? count : count - (count - enough) / step * step;
}

void set_dim(TensorDesc& desc, size_t dimension, int64_t size) {
  desc.type.dims[dimension] = size;
}

// Filter rows with what lies between them.
int64_t extent_of(const Convolution& op, const Problem& p) {
  return (p.inputs[1].type.dims[2] - 1) * op.dilations[0] + 1;
}

// `extent`: of the largest filter among products that are added.
void shrink_convolution(const Convolution& op, int64_t extent, Problem& p) {
  TensorDesc &x = p.inputs[0], &w = p.inputs[1];
  const Dims& out = p.outputs[0].type.dims;
  const int64_t plane = volume(Dims(out.begin() + 2, out.end()));
  const int64_t images = cut_rows(out[0], plane, 1), rows = out[2];
  const int64_t left = cut_rows(rows, images * plane / rows, 2 * extent);
  const int64_t channels = op.groups == 1 ? cut(w.type.dims[1], kTerms) : w.type.dims[1];
  set_dim(x, 2, x.type.dims[2] - (rows - left) * op.strides[0]);
  set_dim(x, 0, images);
  if (op.groups != 1) return;
  set_dim(x, 1, channels);
  set_dim(w, 1, channels);
  set_dim(w, 0, cut(w.type.dims[0], kTile));
  if (p.anchor_inputs > 2 && p.inputs[2].present) set_dim(p.inputs[2], 0, w.type.dims[0]);
}

void shrink_gemm(const Gemm& op, Problem& p) {
  TensorDesc &a = p.inputs[0], &b = p.inputs[1];
  const size_t depth_a = op.transpose_a ? 0 : 1, depth_b = op.transpose_b ? 1 : 0;
  const int64_t depth = cut(a.type.dims[depth_a], kTerms);
  set_dim(a, depth_a, depth);
  set_dim(b, depth_b, depth);
  set_dim(a, 1 - depth_a, cut(a.type.dims[1 - depth_a], kTile));
  set_dim(b, 1 - depth_b, cut(b.type.dims[1 - depth_b], kTile));
}

// Of leading dimensions, two of each remain.
bool shrink_matmul(Problem& p) {
  Dims &a = p.inputs[0].type.dims, &b = p.inputs[1].type.dims;
  if (a.size() < 2 || b.size() < 2) return false;
  const int64_t depth = cut(a.back(), kTerms);
  a.back() = b[b.size() - 2] = depth;
  a[a.size() - 2] = cut(a[a.size() - 2], kTile);
  b.back() = cut(b.back(), kTile);
  for (Dims* dims : {&a, &b}) {
    for (size_t i = 0; i + 2 < dims->size(); ++i) (*dims)[i] = std::min<int64_t>((*dims)[i], 2);
  }
  return true;
}

// Two images and heads each. Operands lie as before, as far as they are read.
void shrink_attention(Attention& op, Problem& p) {
  op = smaller_attention(op, 2, cut(op.queries, kTile), cut(op.keys, kTile));
  for (size_t i = 0; i < static_cast<size_t>(p.anchor_inputs); ++i)
    if (p.inputs[i].present) p.inputs[i].type.dims = {attention_extent(op, i)};
}

bool shrink_anchor(Problem& p) {
  if (const auto* conv = std::get_if<Convolution>(&p.op)) {
    shrink_convolution(*conv, extent_of(*conv, p), p);
    return true;
  }
  if (const auto* gemm = std::get_if<Gemm>(&p.op)) {
    shrink_gemm(*gemm, p);
    return true;
  }
  if (is_one_of<MatMul>(p)) return shrink_matmul(p);
  if (auto* op = std::get_if<Attention>(&p.op)) {
    shrink_attention(*op, p);
    return true;
  }
  const bool image_by_image =
      is_one_of<Pooling, GlobalPooling, BatchNorm, InstanceNorm, GroupNorm, Lrn, Activation, Unary>(
          p);
  if (!image_by_image || input_dims(p, 0).empty()) return false;
  set_dim(p.inputs[0], 0, std::min<int64_t>(input_dims(p, 0)[0], 2));
  return true;
}

// An operand follows the dimensions, from the right, that it does not repeat.
void fit_operand(const Dims& from, const Dims& to, Dims& operand) {
  for (size_t i = 1; i <= operand.size() && i <= to.size(); ++i) {
    int64_t& size = operand[operand.size() - i];
    if (size == from[from.size() - i]) size = to[to.size() - i];
  }
}

// Gives the inputs of a region of products other sizes: those of its products, of what is added
// behind them, and of scales and zero points for each channel.
class RegionSizes {
 public:
  explicit RegionSizes(Problem& region)
      : region_(region), parts_(operators_of(region)), inputs_(region.inputs.size()) {}

  std::vector<const RegionPart*> products() const {
    std::vector<const RegionPart*> out;
    for (const RegionPart& part : parts_)
      if (is_product_sum(part.problem)) out.push_back(&part);
    return out;
  }

  // `smaller`: one of the products alone with its new sizes and result.
  void set(const RegionPart& product, const Problem& smaller) {
    const Dims &from = output_dims(product.problem), &to = output_dims(smaller);
    channel_ = is_one_of<Convolution>(smaller) ? 1 : from.size() - 1;
    for (size_t i = 0; i < product.operands.size(); ++i)
      set_dims(product.operands[i], smaller.inputs[i].type.dims, from, to);
    for (const RegionPart& part : parts_) {
      if (!is_one_of<Binary>(part.problem)) continue;
      for (size_t i = 0; i < part.operands.size(); ++i) {
        Dims dims = part.problem.inputs[i].type.dims;
        fit_operand(from, to, dims);
        set_dims(part.operands[i], dims, from, to);
      }
    }
  }

 private:
  // Of an input of the region, or of what a Quantize or Dequantize makes of one.
  void set_dims(int operand, const Dims& dims, const Dims& from, const Dims& to) {
    if (operand < 0) return;
    const auto at = static_cast<size_t>(operand);
    if (at < inputs_) {
      region_.inputs[at].type.dims = dims;
      return;
    }
    const RegionPart& part = parts_[at - inputs_];
    if (!is_one_of<Quantize, Dequantize>(part.problem)) return;
    set_dims(part.operands[0], dims, from, to);
    for (size_t i = 1; i < part.operands.size(); ++i) {
      if (part.operands[i] < 0) continue;
      Dims& scales = region_.inputs[static_cast<size_t>(part.operands[i])].type.dims;
      if (volume(scales) == from[channel_] && volume(scales) > 1) scales = {to[channel_]};
    }
  }

  Problem& region_;
  const std::vector<RegionPart> parts_;
  const size_t inputs_;
  size_t channel_ = 1;  // dimension of the product's result
};

std::vector<const Tensor*> known_values(const Problem& p) {
  std::vector<const Tensor*> out;
  for (const TensorDesc& d : p.inputs) out.push_back(d.value ? &*d.value : nullptr);
  return out;
}

// One of a region's products alone, smaller; nothing where its sizes cannot be changed alone.
std::optional<Problem> smaller_product(const Problem& product, int64_t extent) {
  Problem out = product;
  if (const auto* conv = std::get_if<Convolution>(&out.op))
    shrink_convolution(*conv, extent, out);
  else if (!shrink_anchor(out))
    return std::nullopt;
  const bool gemm = is_one_of<Gemm>(out);
  std::vector<Operand> operands;
  for (size_t i = 0; i < out.inputs.size(); ++i) {
    const TensorDesc& d = out.inputs[i];
    if (i < 2 || !gemm) operands.push_back({d.present, d.type, nullptr});
  }
  const auto result = infer_types(out.op, operands);
  if (!result.ok()) return std::nullopt;
  const Dims from = output_dims(product), to = (*result)[0].dims;
  if (gemm && out.inputs.size() > 2) fit_operand(from, to, out.inputs[2].type.dims);
  out.outputs[0].type = (*result)[0];
  return out;
}

std::optional<Problem> shrink_region(const Problem& problem) {
  if (!is_sampled_region(problem)) return std::nullopt;
  Problem out = problem;
  RegionSizes sizes(out);
  int64_t extent = 1;
  for (const RegionPart* product : sizes.products())
    if (const auto* conv = std::get_if<Convolution>(&product->problem.op))
      extent = std::max(extent, extent_of(*conv, product->problem));
  bool changed = false;
  for (const RegionPart* product : sizes.products()) {
    const auto smaller = smaller_product(product->problem, extent);
    if (!smaller) return std::nullopt;
    changed = changed || output_dims(*smaller) != output_dims(product->problem) ||
              smaller->inputs[0].type != product->problem.inputs[0].type;
    sizes.set(*product, *smaller);
  }
  const auto types = region_types(out, known_values(out));
  if (!changed || !types.ok()) return std::nullopt;
  out.inner.assign(types->begin(), types->end() - 1);
  out.outputs[0].type = types->back();
  return out;
}

}  // namespace

std::optional<Problem> shrink(const Problem& problem) {
  if (is_region(problem)) return shrink_region(problem);
  if (problem.outputs.size() != 1 || volume(output_dims(problem)) <= kFewElements)
    return std::nullopt;
  Problem out = problem;
  if (!shrink_anchor(out)) return std::nullopt;
  std::vector<Operand> operands;
  for (size_t i = 0; i < static_cast<size_t>(out.anchor_inputs); ++i) {
    const TensorDesc& d = out.inputs[i];
    // An addend of a Gemm follows its result.
    if (i == 2 && is_one_of<Gemm>(out)) continue;
    operands.push_back({d.present, d.type, d.value ? &*d.value : nullptr});
  }
  const auto types = infer_types(out.op, operands);
  if (!types.ok()) return std::nullopt;
  const Dims from = output_dims(problem), to = (*types)[0].dims;
  if (from == to && out.inputs[0].type == problem.inputs[0].type) return std::nullopt;
  out.outputs[0].type.dims = to;
  if (is_one_of<Gemm>(out) && out.anchor_inputs > 2 && out.inputs[2].present)
    fit_operand(from, to, out.inputs[2].type.dims);
  const bool matrix = is_one_of<MatMul, Gemm>(out);
  for (const EpilogueStep& step : out.epilogue) {
    if (step.operand < 0) continue;
    Dims& operand = out.inputs[static_cast<size_t>(step.operand)].type.dims;
    if (step.kind == EpilogueKind::bias)
      operand.back() = matrix ? to.back() : to[1];
    else
      fit_operand(from, to, operand);
  }
  return out;
}

Coverage full_coverage() {
  return {kFewElements, kMaxTerms};
}

}  // namespace enginery
