#include <algorithm>
#include <map>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/kernel_source.h"
#include "engine/tactics/cuda/kernel/launch_limits.h"

namespace enginery {
namespace {

// What the analytic model rules out: more than this factor slower than the best of the same
// arithmetic, and what is beyond this rank among them.
constexpr double kMaxFactor = 12;
constexpr size_t kMaxOfOnePrecision = 16;

std::vector<Tactic> promising(std::vector<Tactic> tactics) {
  std::map<Precision, std::pair<double, size_t>> kept;  // best estimate, how many
  std::vector<Tactic> out;
  for (Tactic& tactic : tactics) {
    auto [place, first] = kept.try_emplace(tactic.compute, tactic.estimated_us, 0);
    auto& [best, count] = place->second;
    bool hopeless = tactic.estimated_us > kMaxFactor * best || count >= kMaxOfOnePrecision;
    if (hopeless && !first) continue;
    ++count;
    out.push_back(std::move(tactic));
  }
  return out;
}

std::vector<const KernelFamily*> families_of(const KernelContext& context) {
  const auto listed = kernel_families();
  std::vector<const KernelFamily*> families(listed.begin(), listed.end());
  for (const KernelFamily& family : context.more_families) families.push_back(&family);
  return families;
}

// Removes tactics from the one at `first` on that could not be launched. Errors: unsupported, where
// none is left.
Status drop_unlaunchable(const Problem& problem, const KernelContext& context,
                         std::vector<Tactic>& tactics, size_t first) {
  Status last_reason;
  const auto refused = [&](const Tactic& tactic) {
    const auto plan = plan_kernel(problem, tactic, context);
    if (!plan.ok()) last_reason = plan.error();
    return !plan.ok();
  };
  const auto begin = tactics.begin() + static_cast<std::ptrdiff_t>(first);
  tactics.erase(std::remove_if(begin, tactics.end(), refused), tactics.end());
  return tactics.size() == first ? last_reason : Status();
}

// What a family offers, less what could not be launched.
Status offer_family(const KernelFamily& family, const Problem& problem,
                    const KernelContext& context, std::vector<Tactic>& tactics) {
  const size_t first = tactics.size();
  CHECK_OK(family.offer(problem, context, tactics));
  if (tactics.size() == first || !may_exceed_limits(problem)) return {};
  return drop_unlaunchable(problem, context, tactics, first);
}

// Only a first input may have one, and the output where it is a single one.
bool family_serves_pitches(const KernelFamily& family, const Problem& problem,
                           const Tactic& tactic) {
  const bool reads = !tactic.inputs.empty() && has_pitch(tactic.inputs[0]),
             writes = std::ranges::any_of(tactic.outputs, has_pitch);
  if (std::ranges::count_if(tactic.inputs, has_pitch) > (reads ? 1 : 0)) return false;
  if (!reads && !writes) return true;
  return family.serves_pitches && problem.outputs.size() == 1 &&
         (!reads || fits_pitch(input_dims(problem, 0), tactic.inputs[0])) &&
         fits_pitch(output_dims(problem), tactic.outputs[0]);
}

}  // namespace

Result<std::vector<Tactic>> offer_kernels(const Problem& problem, const KernelContext& context,
                                          bool every_variant) {
  CHECK_OK(require_elements(problem));  // no grid is empty
  std::vector<Tactic> tactics;
  std::string reasons;
  for (const KernelFamily* family : families_of(context)) {
    if (is_region(problem) && !family->takes_regions) continue;
    const Status offered = offer_family(*family, problem, context, tactics);
    if (offered.ok()) continue;
    const std::string name(family->name);
    if (offered.error().code != ErrorCode::unsupported) return offered.error().within(name);
    reasons += (reasons.empty() ? "" : ", ") + name + ": " + offered.error().message;
  }
  if (tactics.empty()) return refusal("kernel: " + reasons);
  std::stable_sort(tactics.begin(), tactics.end(), [](const Tactic& a, const Tactic& b) {
    return a.estimated_us < b.estimated_us;
  });
  return every_variant ? tactics : promising(std::move(tactics));
}

Result<KernelPlan> plan_kernel(const Problem& problem, const Tactic& tactic,
                               const KernelContext& context) {
  const std::string name = tactic.id.substr(0, tactic.id.find('/'));
  for (const KernelFamily* family : families_of(context)) {
    if (family->name != name) continue;
    if (!family_serves_pitches(*family, problem, tactic)) return no_variant(tactic);
    auto plan = family->plan(problem, tactic, context);
    if (!plan.ok()) return plan.error().within("kernel " + tactic.id);
    const Status launchable = require_launchable(problem, tactic, *plan);
    if (!launchable.ok()) return launchable.error().within("kernel " + tactic.id);
    return plan;
  }
  return no_variant(tactic);
}

}  // namespace enginery
