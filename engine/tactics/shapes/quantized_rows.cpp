#include "engine/tactics/shapes/quantized_rows.h"

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

bool is_known(const Problem& problem, size_t i) {
  return problem.inputs[i].constant || problem.inputs[i].value;
}

std::vector<float> known_floats(const Problem& problem, size_t i, Weights weights) {
  const TensorDesc& desc = problem.inputs[i];
  const Tensor wide = convert(desc.value ? *desc.value : *weights[i], DataType::float32);
  const auto data = wide.data<float>();
  return {data.begin(), data.end()};
}

// Of either operator: its fields, and which side holds integers.
struct Fields {
  int64_t axis = 1, block_size = 0;
  bool to_integers = false;
};

std::optional<Fields> fields_of(const Op& op) {
  if (const auto* to = std::get_if<Quantize>(&op)) return Fields{to->axis, to->block_size, true};
  if (const auto* from = std::get_if<Dequantize>(&op))
    return Fields{from->axis, from->block_size, false};
  return {};
}

}  // namespace

Result<QuantizedRows> quantized_rows(const Problem& problem) {
  const auto fields = fields_of(problem.op);
  if (!fields) return refusal("no quantisation");
  CHECK_OK(require_elements(problem));
  CHECK_OK(require_run_time_data(problem));
  const bool has_zero = problem.inputs.size() > 2 && problem.inputs[2].present;
  if (!problem.epilogue.empty() || fields->block_size != 0 || !is_known(problem, 1) ||
      (has_zero && !is_known(problem, 2)))
    return refusal("a fused chain, blocks or scales of run time");
  const DataType x = problem.inputs[0].type.type, y = problem.outputs[0].type.type;
  QuantizedRows out;
  out.to_integers = fields->to_integers;
  out.integers = out.to_integers ? y : x;
  if ((out.to_integers ? x : y) != DataType::float32)
    return refusal("quantisation of other floats than float32");
  const Dims& dims = input_dims(problem, 0);
  out.size = volume(input_dims(problem, 1));
  if (out.size == 1) {
    out.inner = volume(dims);
    return out;
  }
  const auto axis = static_cast<std::ptrdiff_t>(wrapped(fields->axis, dims.size()));
  out.outer = volume(Dims(dims.begin(), dims.begin() + axis));
  out.inner = volume(Dims(dims.begin() + axis + 1, dims.end()));
  return out;
}

QuantizedFactors quantized_factors(const Problem& problem, const QuantizedRows& rows,
                                   Weights weights) {
  QuantizedFactors out;
  out.scale = known_floats(problem, 1, weights);
  out.zero.assign(static_cast<size_t>(rows.size), 0.0f);
  if (problem.inputs.size() > 2 && problem.inputs[2].present)
    out.zero = known_floats(problem, 2, weights);
  return out;
}

}  // namespace enginery
