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

// In which the source keeps a tensor without padding.
std::vector<Layout> packed_layouts(const Dims& dims) {
  std::vector<Layout> out{{}};
  const bool has_last = dims.size() >= 3 && dims.size() <= 5 && dims[1] % 8 == 0;
  if (has_last) out.push_back({LayoutKind::channels_last, 0});
  return out;
}

// Pairs of layouts, of the input and the output, between which nothing moves; an identity also
// keeps its padding.
std::vector<std::pair<Layout, Layout>> view_layouts(const Problem& problem) {
  std::vector<std::pair<Layout, Layout>> out;
  for (const Layout& from : packed_layouts(input_dims(problem, 0)))
    for (const Layout& to : packed_layouts(output_dims(problem)))
      if (is_view(problem, from, to)) out.emplace_back(from, to);
  const Dims& dims = input_dims(problem, 0);
  const bool pads = std::holds_alternative<Identity>(problem.op) && dims.size() > 2 &&
                    dims[1] % 8 != 0 && is_view(problem, {}, {});
  if (pads) {
    const Layout padded = channels_last_format(DataType::float32, dims[1]).layout;
    out.emplace_back(padded, padded);
  }
  return out;
}

Status offer_view(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  CHECK_OK(require_static(problem));
  if (problem.inputs.empty() || problem.outputs.size() != 1) return refusal("no view");
  const auto layouts = view_layouts(problem);
  if (layouts.empty()) return refusal("no change of dims alone");
  for (const ViewVariant& variant : kViewVariants) {
    for (DataType type : kept_types(problem.inputs[0].type.type, context)) {
      for (const auto& [from, to] : layouts) {
        const bool linear = from == Layout{} && to == Layout{};
        if (!linear && !is_storage_float(type)) continue;
        Tactic tactic = make_kernel_tactic(problem, id_of(variant));
        tactic.inputs[0] = {type, from};
        tactic.outputs[0] = {type, to};
        tactic.compute = precision_of_storage(type);
        tactic.view_of = variant.input;
        out.push_back(std::move(tactic));
      }
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
