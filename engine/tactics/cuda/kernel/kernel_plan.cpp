#include "engine/tactics/cuda/kernel/kernel_plan.h"

namespace enginery {

gpu::Divisor make_divisor(int64_t divisor) {
  ENSURE(divisor >= 1 && divisor < (int64_t{1} << 31), "a divisor of 1 to 2^31");
  unsigned log = 0;
  while ((int64_t{1} << log) < divisor) ++log;
  const unsigned p = 31 + log;
  const auto d = static_cast<unsigned __int128>(divisor);
  const auto multiplier = ((static_cast<unsigned __int128>(1) << p) + d - 1) / d;
  return {static_cast<unsigned>(multiplier), p - 32 + (divisor == 1 ? 1u : 0u),
          static_cast<unsigned>(divisor)};
}

void attach_operands(const std::vector<EpilogueSource>& sources, const EpilogueFrame& frame,
                     size_t offset, KernelPlan& plan, KernelLaunch& launch) {
  for (size_t slot = 0; slot < sources.size(); ++slot) {
    const EpilogueSource& source = sources[slot];
    PointerSlot pointer{offset + slot * sizeof(void*), PointerSource::input, source.input};
    if (source.constant) {
      pointer.source = PointerSource::constant;
      pointer.index = plan.add_constant(pack_operand(source, frame));
    }
    launch.slots.push_back(pointer);
  }
}

void attach_epilogue(const LoweredEpilogue& epilogue, size_t offset, KernelPlan& plan,
                     KernelLaunch& launch) {
  attach_operands(epilogue.sources, epilogue.frame, offset, plan, launch);
}

PointerSlot operand_slot(const Problem& problem, int input, DataType type, size_t offset,
                         KernelPlan& plan) {
  const TensorDesc& desc = problem.inputs[static_cast<size_t>(input)];
  if (!desc.constant && !desc.value) return {offset, PointerSource::input, input};
  PackConstant pack = [input, type, value = desc.value](Weights weights) {
    const Tensor& tensor = value ? *value : *weights[static_cast<size_t>(input)];
    return Bytes(as_text(convert(tensor, type).byte_span()));
  };
  return {offset, PointerSource::constant, plan.add_constant(std::move(pack))};
}

std::string place_beside_output(const Problem& problem, size_t input, const std::string& name) {
  const Dims& out = output_dims(problem);
  const Dims dims = aligned(input_dims(problem, input), out.size()), strides = strides_of(dims);
  BroadcastStrides walked;
  for (size_t d = 0; d < out.size(); ++d) walked.append(out[d], dims[d] == 1 ? 0 : strides[d]);
  return place_text(name, walked);
}

}  // namespace enginery
