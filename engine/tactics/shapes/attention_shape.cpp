#include "engine/tactics/shapes/attention_shape.h"

#include <algorithm>
#include <numeric>

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

AttentionPlaces places_of(const std::vector<int64_t>& places, size_t sizes) {
  AttentionPlaces out;
  if (places.empty()) return out;
  out.present = true;
  out.offset = places[0];
  // Sizes of 1 in front.
  std::copy_n(places.begin() + 1, sizes, out.batch.begin() + (kMaxAttentionBatch - sizes));
  out.row = places[sizes + 1];
  out.column = places[sizes + 2];
  return out;
}

Status require_operands(const Problem& problem) {
  for (size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    if (!desc.present || i > 3) continue;
    if (desc.type.type == DataType::float64) return refusal("an attention of float64");
    if (i < 3 && (desc.constant || desc.value)) return refusal("an attention to constants");
  }
  return {};
}

}  // namespace

bool AttentionPlaces::is_aligned(int64_t elements) const {
  const auto fits = [&](int64_t stride) { return stride % elements == 0; };
  return column == 1 && fits(offset) && fits(row) && std::all_of(batch.begin(), batch.end(), fits);
}

Result<AttentionShape> attention_shape(const Problem& problem) {
  const auto* op = std::get_if<Attention>(&problem.op);
  if (!op) return refusal("no attention");
  CHECK_OK(require_static(problem));
  CHECK_OK(require_operands(problem));
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  const size_t sizes = op->batch.size();
  if (sizes > kMaxAttentionBatch || std::max(op->depth, op->width) > kMaxAttentionDepth)
    return refusal("an attention of more than " + std::to_string(kMaxAttentionBatch) +
                   " sizes or of heads beyond " + std::to_string(kMaxAttentionDepth));
  AttentionShape out;
  std::copy(op->batch.begin(), op->batch.end(),
            out.batch.begin() + static_cast<std::ptrdiff_t>(kMaxAttentionBatch - sizes));
  out.queries = op->queries;
  out.keys = op->keys;
  out.depth = op->depth;
  out.width = op->width;
  out.q = places_of(op->q, sizes);
  out.k = places_of(op->k, sizes);
  out.v = places_of(op->v, sizes);
  out.y = places_of(op->y, sizes);
  out.addend = places_of(op->addend, sizes);
  out.choice = places_of(op->choice, sizes);
  out.scale = op->scale;
  out.blank = op->blank;
  out.causal = op->causal;
  out.hides = op->hides;
  out.zeros = op->zeros;
  return out;
}

Attention smaller_attention(const Attention& op, int64_t most_of_batch, int64_t queries,
                            int64_t keys) {
  Attention out = op;
  for (int64_t& size : out.batch) size = std::min(size, most_of_batch);
  out.queries = queries;
  out.keys = keys;
  Dims sizes = out.batch;
  sizes.push_back(queries);
  sizes.push_back(op.width);
  // The innermost first: of equal strides (sizes of 1) the order does not matter.
  std::vector<size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return op.y[a + 1] < op.y[b + 1]; });
  int64_t stride = 1;
  for (const size_t d : order) {
    out.y[d + 1] = stride;
    stride *= sizes[d];
  }
  out.output = {stride};
  return out;
}

int64_t attention_extent(const Attention& op, size_t input) {
  const std::vector<int64_t>* const places[] = {&op.q, &op.k, &op.v, &op.addend, &op.choice};
  const int64_t rows = input == 1 || input == 2 ? op.keys : op.queries;
  const int64_t columns = input < 2 ? op.depth : input == 2 ? op.width : op.keys;
  Dims sizes = op.batch;
  sizes.push_back(rows);
  sizes.push_back(columns);
  const std::vector<int64_t>& of = *places[input];
  int64_t last = of[0];
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * of[d + 1];
  return last + 1;
}

}  // namespace enginery
