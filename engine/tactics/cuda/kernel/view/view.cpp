// Family view: operators that only rename their dimensions, or move nothing; nothing runs.
#include "engine/tactics/cuda/kernel/families.h"

namespace enginery {
namespace {

struct ViewVariant {
  int input;  // whose storage the output is
};

constexpr ViewVariant kViewVariants[] = {{0}};

std::string id_of(const ViewVariant& v) {
  return v.input == 0 ? "view/same" : "view/same_" + std::to_string(v.input);
}

bool renames_dims(const Problem& problem) {
  const Op& op = problem.op;
  return std::holds_alternative<Reshape>(op) || std::holds_alternative<Flatten>(op) ||
         std::holds_alternative<Squeeze>(op) || std::holds_alternative<Unsqueeze>(op) ||
         (std::holds_alternative<Identity>(op) && !is_reformat(problem));
}

// The output's dims in the order of a transposition; equal but for sizes of 1 means that nothing
// moves.
bool moves_nothing(const Problem& problem) {
  const auto* transpose = std::get_if<Transpose>(&problem.op);
  if (!transpose) return false;
  const Dims& dims = problem.inputs[0].type.dims;
  int64_t last = -1;
  for (int64_t axis : transpose->permutation) {
    if (dims[static_cast<size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return !transpose->permutation.empty();
}

Status require_view(const Problem& problem) {
  CHECK_OK(require_static(problem));
  if ((!renames_dims(problem) && !moves_nothing(problem)) || problem.outputs.size() != 1)
    return refusal("no change of dims alone");
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  if (problem.inputs[0].constant) return refusal("a view of a constant");
  return {};
}

Status offer_view(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  CHECK_OK(require_view(problem));
  const TensorType& x = problem.inputs[0].type;
  for (const ViewVariant& variant : kViewVariants) {
    for (DataType type : kept_types(x.type, context)) {
      Tactic tactic = make_kernel_tactic(problem, id_of(variant));
      tactic.inputs[0] = tactic.outputs[0] = {type, {}};
      tactic.compute = precision_of_storage(type);
      tactic.view_of = variant.input;
      out.push_back(tactic);
      const bool any_layout = std::holds_alternative<Identity>(problem.op) && x.dims.size() > 2;
      if (!any_layout || !is_floating(type)) continue;
      tactic.inputs[0] = tactic.outputs[0] = channels_last_format(type, x.dims[1]);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_view(const Problem&, const Tactic& tactic, const KernelContext&) {
  if (!find_variant(kViewVariants, tactic)) return no_variant(tactic);
  return KernelPlan{};
}

}  // namespace

const KernelFamily kViewFamily{"view", offer_view, plan_view};

}  // namespace enginery
