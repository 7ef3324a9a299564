// Family view: operators that only rename their dimensions, or move nothing; nothing runs.
#include "engine/tactics/shapes/view.h"
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

Status require_view(const Problem& problem) {
  CHECK_OK(require_static(problem));
  return is_view(problem, {}, {}) ? Status() : refusal("no change of dims alone");
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
