// Family fault: a test hook. With ENGINERY_INJECT_FAULT=1 in the environment, convolutions of
// pictures (at most 4 channels) and matrix products are offered one more tactic, whose kernel
// writes to a bad address (fault.cuh): a build must end well without it. Few problems, because each
// fault costs the tuning a process.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {
namespace {

constexpr char kId[] = "fault/bad_address";
constexpr double kSecondBest =
    1.01;  // not what the analytic model would choose, but always on the short list

bool is_injected() {
  const char* wish = std::getenv("ENGINERY_INJECT_FAULT");
  return wish && std::string_view(wish) == "1";
}

bool serves(const Problem& problem) {
  if (std::holds_alternative<MatMul>(problem.op) || std::holds_alternative<Gemm>(problem.op))
    return true;
  return std::holds_alternative<Convolution>(problem.op) &&
         problem.inputs[0].type.dims.size() > 1 && problem.inputs[0].type.dims[1] <= 4;
}

}  // namespace

// Wants what the best tactic of the families before it wants, so that it stands among them in every
// choice.
Status offer_fault(const Problem& problem, const KernelContext&, std::vector<Tactic>& out) {
  if (!is_injected() || !serves(problem)) return {};
  const auto best = std::min_element(out.begin(), out.end(), [](const Tactic& a, const Tactic& b) {
    return a.estimated_us < b.estimated_us;
  });
  if (best == out.end()) return {};
  Tactic tactic = *best;
  tactic.id = kId;
  tactic.estimated_us *= kSecondBest;
  out.push_back(std::move(tactic));
  return {};
}

Result<KernelPlan> plan_fault(const Problem&, const Tactic& tactic, const KernelContext&) {
  if (tactic.id != kId) return no_variant(tactic);
  KernelPlan plan;
  plan.program.files = {"fault.cuh"};
  KernelLaunch launch;
  launch.arguments = argument_bytes(gpu::FaultArgs{16});
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace enginery
