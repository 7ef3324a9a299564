#include "engine/tactics/shapes/depthwise_block.h"

#include <algorithm>

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

bool has_groups(const Op& op) {
  const auto* convolution = std::get_if<Convolution>(&op);
  return convolution && convolution->groups > 1;
}

bool has_no_groups(const Op& op) {
  const auto* convolution = std::get_if<Convolution>(&op);
  return convolution && convolution->groups == 1;
}

// Reads a region's operators one after the other; each has to read the result of the one before.
class PartsInOrder {
 public:
  explicit PartsInOrder(const Problem& region) : region_(region), parts_(operators_of(region)) {}

  bool is_at_end() const { return at_ == parts_.size(); }
  bool is_next(bool (*fits)(const Op&)) const {
    return !is_at_end() && fits(parts_[at_].problem.op);
  }

  // The next operator, a convolution, with the activation behind it.
  Result<DepthwiseBlock::Part> take_convolution() {
    const RegionPart& part = parts_[at_];
    DepthwiseBlock::Part out{part.problem, {}};
    for (size_t i = 0; i < part.operands.size(); ++i) {
      const int operand = part.operands[i];
      const bool is_result = i == 0 && at_ > 0 && operand == last_result();
      if (operand >= inputs() && !is_result) return refusal("a convolution of something else");
      out.from.push_back(is_result ? -1 : operand);
    }
    if (at_ > 0 && out.from[0] >= 0) return refusal("a convolution of something else");
    ++at_;
    take_activation(out);
    return out;
  }

  // What is added to the last part, an input of the region, and the activation behind that.
  void take_addend(DepthwiseBlock::Part& part) {
    const auto* binary = is_at_end() ? nullptr : std::get_if<Binary>(&parts_[at_].problem.op);
    if (!binary || binary->kind != BinaryKind::add || !part.problem.epilogue.empty()) return;
    const std::vector<int>& operands = parts_[at_].operands;
    const auto other = std::ranges::find_if(operands, [&](int o) { return o != last_result(); });
    if (other == operands.end() || *other >= inputs()) return;
    const int index = static_cast<int>(part.problem.inputs.size());
    part.problem.epilogue.push_back({EpilogueKind::add, {}, index});
    part.problem.inputs.push_back(region_.inputs[static_cast<size_t>(*other)]);
    part.from.push_back(*other);
    ++at_;
    take_activation(part);
  }

 private:
  int inputs() const { return static_cast<int>(region_.inputs.size()); }
  int last_result() const { return inputs() + static_cast<int>(at_) - 1; }
  void take_activation(DepthwiseBlock::Part& part) {
    const auto* activation =
        is_at_end() ? nullptr : std::get_if<Activation>(&parts_[at_].problem.op);
    if (!activation || parts_[at_].operands[0] != last_result()) return;
    part.problem.epilogue.push_back({EpilogueKind::activation, *activation, -1});
    ++at_;
  }

  const Problem& region_;
  const std::vector<RegionPart> parts_;
  size_t at_ = 0;
};

}  // namespace

std::vector<RegionPattern> depthwise_block_patterns() {
  using Operators = std::vector<bool (*)(const Op&)>;
  bool (*const act)(const Op&) = is_operator<Activation>;
  const std::vector<Operators> beginnings{{has_no_groups, act}, {has_no_groups}, {}};
  const std::vector<Operators> middles{{has_groups, act, has_no_groups},
                                       {has_groups, has_no_groups}};
  const std::vector<Operators> ends{{is_operator<Binary>, act}, {is_operator<Binary>}, {act}, {}};
  std::vector<RegionPattern> out;
  for (const Operators& beginning : beginnings) {
    for (const Operators& middle : middles) {
      for (const Operators& end : ends) {
        Operators all = beginning;
        all.insert(all.end(), middle.begin(), middle.end());
        all.insert(all.end(), end.begin(), end.end());
        out.push_back(chain_of(all));
      }
    }
  }
  std::ranges::stable_sort(
      out, [](const auto& a, const auto& b) { return a.places.size() > b.places.size(); });
  return out;
}

bool is_depthwise_block(const Problem& problem) {
  bool grouped = has_groups(problem.op);
  for (const RegionOp& op : problem.rest) {
    if (grouped && has_no_groups(op.op)) return true;
    grouped = grouped || has_groups(op.op);
  }
  return false;
}

Result<DepthwiseBlock> depthwise_block(const Problem& problem) {
  if (!is_depthwise_block(problem))
    return refusal("no depthwise convolution with a product behind");
  CHECK_OK(require_elements(problem));
  PartsInOrder parts(problem);
  DepthwiseBlock out;
  if (parts.is_next(has_no_groups)) {
    TRY(DepthwiseBlock::Part expand, parts.take_convolution());
    out.expand = std::move(expand);
  }
  if (!parts.is_next(has_groups)) return refusal("no depthwise convolution behind the first one");
  TRY(out.depthwise, parts.take_convolution());
  if (!parts.is_next(has_no_groups)) return refusal("no product behind a depthwise convolution");
  TRY(out.project, parts.take_convolution());
  parts.take_addend(out.project);
  if (!parts.is_at_end())
    return refusal("other operators behind a depthwise convolution's product");
  return out;
}

}  // namespace enginery
