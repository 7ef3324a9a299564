// Family top_k: the first elements along one dimension of a linear tensor, sorted (top_k.cuh).
#include <cmath>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/cuda/kernel/top_k/args.h"

namespace enginery {
namespace {

struct TopKVariant {
  int threads;  // of a block, an element each
};

constexpr TopKVariant kTopKVariants[] = {{256}};

std::string id_of(const TopKVariant& v) {
  return id_by_threads("top_k/counts", v.threads, 256);
}

// What such elements are compared as; empty where kernels have none.
std::string key_text(DataType type) {
  if (type == DataType::int32 || type == DataType::int64) return element_type_text(type);
  return storage_type_text(type).empty() ? "" : "float";
}

struct TopKCase {
  gpu::TopKArgs args;
  int64_t blocks = 0;
};

Result<TopKCase> top_k_case(const Problem& problem) {
  const auto* op = std::get_if<TopK>(&problem.op);
  if (!op) return refusal("no first elements");
  CHECK_OK(require_static(problem));
  const TensorType &x = problem.inputs[0].type, &y = problem.outputs[0].type;
  if (problem.inputs[0].constant || problem.inputs[0].value || key_text(x.type).empty() ||
      !problem.epilogue.empty() || x.dims.empty() || volume(y.dims) == 0)
    return refusal("first elements of " + to_string(x) + ", or a fused chain");
  const auto at = static_cast<size_t>(wrapped(op->axis, x.dims.size()));
  TopKCase out{};
  out.args.size = static_cast<unsigned>(x.dims[at]);
  out.args.k = static_cast<unsigned>(y.dims[at]);
  out.args.inner = static_cast<unsigned>(
      volume(Dims(x.dims.begin() + static_cast<std::ptrdiff_t>(at) + 1, x.dims.end())));
  out.args.chunks = static_cast<unsigned>(divide_up(x.dims[at], 256));
  out.blocks = volume(x.dims) / x.dims[at] * out.args.chunks;
  return out;
}

// Every element looks at its line, though most of them soon have enough before them.
double top_k_estimate_us(const TopKCase& c, const KernelContext& context, double bytes) {
  constexpr double kLookUs = 2e-3, kBlocksAtATime = 8;
  const double looks = static_cast<double>(c.args.size);
  const double waves =
      std::ceil(static_cast<double>(c.blocks) / (kBlocksAtATime * context.info.compute_units));
  return context.memory_us(bytes) + kLookUs * looks * waves;
}

// Floats as they are: rounded to a narrower type, some would compare as equal.
Status offer_top_k(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  TRY(const TopKCase c, top_k_case(problem));
  const auto bytes = static_cast<double>(bytes_of(problem.inputs[0].type));
  for (const TopKVariant& variant : kTopKVariants) {
    Tactic tactic = make_kernel_tactic(problem, id_of(variant));
    // float32 holds every half, and is allowed wherever floats are.
    if (is_floating(problem.inputs[0].type.type))
      tactic.inputs[0] = tactic.outputs[0] = {DataType::float32, {}};
    tactic.estimated_us = top_k_estimate_us(c, context, bytes);
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_top_k(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  const TopKVariant* variant = find_variant(kTopKVariants, tactic);
  if (!variant) return no_variant(tactic);
  TRY(const TopKCase c, top_k_case(problem));
  const DataType type = tactic.inputs[0].type;
  KernelPlan plan;
  plan.program.define("TX", element_type_text(type));
  plan.program.define("KEY", key_text(type));
  plan.program.define("LOAD(p)", is_floating(type) ? "load_one(p)" : "(*(p))");
  plan.program.define("LARGEST", std::get<TopK>(problem.op).largest);
  plan.program.files = {"top_k/args.h", "top_k/top_k.cuh"};
  KernelLaunch launch = launch_of(c.args, c.blocks * 256, 256);
  launch.slots = {{offsetof(gpu::TopKArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::TopKArgs, values), PointerSource::output, 0},
                  {offsetof(gpu::TopKArgs, indices), PointerSource::output, 1}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kTopKFamily{"top_k", offer_top_k, plan_top_k};

}  // namespace enginery
