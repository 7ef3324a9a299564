#include "engine/tactics/cpu/widening/widening_source.h"

#include <algorithm>

namespace enginery {
namespace {

bool is_narrow(const TensorDesc& desc) {
  return desc.present &&
         (desc.type.type == DataType::float16 || desc.type.type == DataType::bfloat16);
}

// A narrow value that has an address at run time.
bool is_narrow_value(const TensorDesc& desc) {
  return is_narrow(desc) && !desc.constant;
}

// Operators that name their output's type are not the same operators on other types.
bool names_a_type(const Problem& p) {
  return is_reformat(p) || is_one_of<Cast, ConstantOfShape, Quantize, Dequantize>(p);
}

bool is_widenable(const Problem& p) {
  return !is_region(p) && !names_a_type(p) &&
         (std::ranges::any_of(p.inputs, is_narrow_value) ||
          std::ranges::any_of(p.outputs, is_narrow_value));
}

Problem widened(Problem p) {
  for (auto* descs : {&p.inputs, &p.outputs}) {
    for (TensorDesc& desc : *descs) {
      if (is_narrow(desc)) desc.type.type = DataType::float32;
    }
  }
  return p;
}

// Whether the tactic keeps the narrow values of the problem in float32.
bool is_widened(const Problem& p, const Tactic& tactic) {
  const auto widens = [](const std::vector<TensorDesc>& descs, const std::vector<Format>& formats) {
    for (size_t i = 0; i < descs.size() && i < formats.size(); ++i) {
      if (is_narrow_value(descs[i]) && formats[i].type == DataType::float32) return true;
    }
    return false;
  };
  return is_widenable(p) && (widens(p.inputs, tactic.inputs) || widens(p.outputs, tactic.outputs));
}

class WideningSource final : public TacticSource {
 public:
  explicit WideningSource(std::unique_ptr<TacticSource> source) : source_(std::move(source)) {}

  SourceTraits traits() const override { return source_->traits(); }
  std::vector<RegionPattern> regions() const override { return source_->regions(); }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    auto narrow = source_->offer(problem, allowed);
    const bool decided = !narrow.ok() && narrow.error().code != ErrorCode::unsupported;
    if (decided || !is_widenable(problem)) return narrow;
    auto wide = source_->offer(widened(problem), allowed);
    // Those that keep the values narrow are not of the widened problem when they are prepared.
    if (wide.ok())
      std::erase_if(*wide, [&](const Tactic& tactic) { return !is_widened(problem, tactic); });
    if (wide.ok() && wide->empty()) return narrow;
    if (!wide.ok() || !narrow.ok()) return wide.ok() || !narrow.ok() ? wide : narrow;
    narrow->insert(narrow->end(), wide->begin(), wide->end());
    return narrow;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    if (!is_widened(problem, tactic)) return source_->prepare(problem, tactic, weights);
    const Problem wide = widened(problem);
    std::vector<Tensor> tensors(weights.size());
    std::vector<const Tensor*> wide_weights;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i]) tensors[i] = convert(*weights[i], wide.inputs[i].type.type);
      wide_weights.push_back(weights[i] ? &tensors[i] : nullptr);
    }
    return source_->prepare(wide, tactic, wide_weights);
  }

 private:
  const std::unique_ptr<TacticSource> source_;
};

}  // namespace

std::unique_ptr<TacticSource> widen_narrow_floats(std::unique_ptr<TacticSource> source) {
  return std::make_unique<WideningSource>(std::move(source));
}

}  // namespace enginery
