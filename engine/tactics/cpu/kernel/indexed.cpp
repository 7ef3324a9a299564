#include "engine/tactics/cpu/kernel/indexed.h"

#include <algorithm>
#include <utility>

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

bool are_wide(const Problem& p) {
  return p.inputs[1].type.type == DataType::int64;
}

int64_t volume_between(const Dims& dims, size_t first, size_t end) {
  return volume(Dims(dims.begin() + static_cast<std::ptrdiff_t>(first),
                     dims.begin() + static_cast<std::ptrdiff_t>(end)));
}

template <typename I>
Status require_rows(std::string_view op, const RowPlaces& rows, const I* indices) {
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int d = 0; d < rows.dims; ++d, ++indices) {
      const int64_t size = rows.size[d];
      if (*indices < -size || *indices >= size)
        return require_within(op, {indices, sizeof(I) == 8, 1, size});
    }
  }
  return {};
}

}  // namespace

Result<RowPlaces> row_places(const Problem& p, size_t batch_dims) {
  const Dims &data = input_dims(p, 0), &indices = input_dims(p, 1);
  const auto count = static_cast<size_t>(indices.back()), end = batch_dims + count;
  if (count > static_cast<size_t>(kMaxIndexedDims))
    return no_cpu_kernel("indices of " + std::to_string(count) + " dimensions");
  const Dims strides = strides_of(data);
  const int64_t row = volume_between(data, end, data.size());
  RowPlaces out{};
  out.wide = are_wide(p);
  out.dims = static_cast<int>(count);
  out.count = volume_between(indices, 0, indices.size() - 1);
  out.each = volume_between(indices, batch_dims, indices.size() - 1);
  out.step = volume_between(data, batch_dims, data.size()) / row;
  out.row_bytes = row * element_bytes(p.inputs[0].type.type);
  for (size_t d = 0; d < count; ++d) {
    out.size[d] = data[batch_dims + d];
    out.stride[d] = strides[batch_dims + d] / row;
  }
  return out;
}

Result<ElementPlaces> element_places(const Problem& p, int64_t axis) {
  const Dims& data = input_dims(p, 0);
  if (data.empty()) return no_cpu_kernel("elements of a single number");
  const auto along = static_cast<size_t>(wrapped(axis, data.size()));
  Dims strides = strides_of(data);
  ElementPlaces out{};
  out.wide = are_wide(p);
  out.element_bytes = static_cast<int>(element_bytes(p.inputs[0].type.type));
  out.size = data[along];
  out.along = std::exchange(strides[along], 0);
  TRY(out.over, broadcast_loops(input_dims(p, 1), {strides}));
  return out;
}

IndexCheck check_of_rows(const Problem& p, const RowPlaces& rows) {
  return [rows, op = std::string(op_name(p.op))](const void* indices) {
    return rows.wide ? require_rows(op, rows, static_cast<const int64_t*>(indices))
                     : require_rows(op, rows, static_cast<const int32_t*>(indices));
  };
}

IndexCheck check_of_elements(const Problem& p, const ElementPlaces& places) {
  return [size = places.size, wide = places.wide, count = volume(input_dims(p, 1)),
          op = std::string(op_name(p.op))](const void* indices) {
    return require_within(op, {indices, wide, count, size});
  };
}

Result<Combining> combining_of(ScatterKind kind, const Problem& problem) {
  const auto type = number_type(problem.inputs[0].type.type);
  if (kind != ScatterKind::replace && !type)
    return no_cpu_kernel("a scatter that combines " + to_string(problem.inputs[0].type));
  constexpr CombiningKind kKinds[] = {CombiningKind::replace, CombiningKind::add,
                                      CombiningKind::mul, CombiningKind::min, CombiningKind::max};
  return Combining{kKinds[static_cast<size_t>(kind)], type.value_or(NumberType::float32)};
}

CpuKernelCandidates indexed_candidate(const CpuKernelContext& context, const Problem& p,
                                      const std::string& id, const IndexCheck& check,
                                      const IndexedRun& run) {
  if (!p.epilogue.empty()) return no_cpu_kernel(id + " with an epilogue");
  const TensorDesc& indices = p.inputs[1];
  if (indices.value && !check(indices.value->byte_span().data()).ok())
    return no_cpu_kernel("an index outside of its dimension");
  Tactic tactic = cpu_kernel_tactic(p, id);
  tactic.estimated_us = movement_us(context, p);
  auto prepare = [run, p](Weights weights) -> CpuKernelRun {
    return [run, inputs = LaunchInputs(p, weights)](const Arguments& arguments) {
      run(inputs, arguments);
    };
  };
  CpuKernelCandidate candidate{std::move(tactic), std::move(prepare)};
  if (!indices.value && !indices.constant)
    candidate.check = [check](const Arguments& arguments) { return check(arguments.inputs[1]); };
  return std::vector<CpuKernelCandidate>{std::move(candidate)};
}

}  // namespace enginery
