// Family resample: resizing and padding, one dimension after the other, in unblocked layouts.
#include "engine/kernels/cpu/isa/resample.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/resampled_dims.h"

namespace enginery {
namespace {

// One dimension's pass: its table, and the tensor around it as it is then.
struct ResamplePass {
  ResampleArguments arguments{};
  std::vector<int32_t> first{0}, at;
  std::vector<float> weight;
};

// The element that row o is, -1 where it is none.
int64_t element_at(const ResamplePass& pass, int64_t o) {
  const int32_t first = pass.first[static_cast<size_t>(o)];
  const bool is_one = pass.first[static_cast<size_t>(o) + 1] == first + 1 &&
                      pass.weight[static_cast<size_t>(first)] == 1.0f;
  return is_one ? pass.at[static_cast<size_t>(first)] : -1;
}

// Rows from `head` on that are the elements 0, 1, 2, ...
int64_t length_of_run(const ResamplePass& pass, int64_t head) {
  int64_t n = 0;
  while (head + n < pass.arguments.out_size && element_at(pass, head + n) == n) ++n;
  return n;
}

// What the taps of the pass are, where they are plain.
void find_form(ResamplePass& pass) {
  ResampleArguments& a = pass.arguments;
  for (int64_t o = 0; o < a.out_size; ++o) {
    const int64_t n = length_of_run(pass, o);
    if (n <= a.body) continue;
    a.head = o;
    a.body = n;
  }
  const bool has_bare_ends = a.body == std::ssize(pass.at);
  if (has_bare_ends || 2 * a.body >= a.out_size) a.form = ResampleForm::runs;
  if (a.form == ResampleForm::runs || a.out_size % a.in_size != 0) return;
  a.factor = a.out_size / a.in_size;
  for (int64_t o = 0; o < a.out_size; ++o)
    if (element_at(pass, o) != o / a.factor) return;
  a.form = ResampleForm::repeats;
}

ResamplePass pass_along(const std::vector<ResampledDim>& dims, const Dims& now, size_t d) {
  ResamplePass pass;
  const AxisExtents e = linear_extents(now, d, d);
  pass.arguments.outer = e.outer;
  pass.arguments.in_size = dims[d].in;
  pass.arguments.out_size = dims[d].out;
  pass.arguments.inner = e.inner;
  for (const SampleTaps& row : dims[d].taps) {
    for (const SampleTap& tap : row.taps) {
      if (row.outside) break;
      pass.at.push_back(static_cast<int32_t>(tap.at));
      pass.weight.push_back(static_cast<float>(tap.weight));
    }
    pass.first.push_back(static_cast<int32_t>(pass.at.size()));
  }
  find_form(pass);
  return pass;
}

std::vector<ResamplePass> passes_over(const std::vector<ResampledDim>& dims) {
  std::vector<ResamplePass> passes;
  Dims now;
  for (const ResampledDim& dim : dims) now.push_back(dim.in);
  const auto pass = [&](size_t d) {
    passes.push_back(pass_along(dims, now, d));
    now[d] = dims[d].out;
  };
  // What shrinks first, and what grows from the innermost on, whose elements cost the most each.
  for (size_t d = 0; d < dims.size(); ++d)
    if (!dims[d].taps.empty() && dims[d].out < dims[d].in) pass(d);
  for (size_t d = dims.size(); d-- > 0;)
    if (!dims[d].taps.empty() && dims[d].out >= dims[d].in) pass(d);
  return passes;
}

int64_t elements_after(const ResamplePass& pass) {
  return pass.arguments.outer * pass.arguments.out_size * pass.arguments.inner;
}

// What a padding writes around: a constant, a number that comes at run time, or 0.
struct FillValue {
  std::optional<float> known = 0.0f;
  size_t input = 0;
  float of(const Arguments& arguments) const {
    return known ? *known : *static_cast<const float*>(arguments.inputs[input]);
  }
};

FillValue fill_value(const Problem& p, Weights weights) {
  const bool is_given = std::holds_alternative<Pad>(p.op) && p.inputs.size() > 2 &&
                        p.inputs[2].present && volume(p.inputs[2].type.dims) > 0;
  if (!is_given) return {};
  if (weights[2]) return {weights[2]->data<float>()[0], 2};
  return {std::nullopt, 2};
}

CpuKernelCandidate resample_candidate(const CpuKernelContext& context, const Problem& p,
                                      const Layout& layout, std::vector<ResamplePass> passes) {
  Tactic tactic = cpu_kernel_tactic(p, "resample");
  tactic.inputs[0].layout = tactic.outputs[0].layout = layout;
  tactic.estimated_us = static_cast<double>(passes.size()) * movement_us(context, p);
  for (size_t i = 0; i + 1 < passes.size(); ++i)
    tactic.workspace_bytes += elements_after(passes[i]) * int64_t{sizeof(float)};
  auto shared = std::make_shared<const std::vector<ResamplePass>>(std::move(passes));
  return {std::move(tactic), [kernel = context.kernels.resample, shared, p](Weights weights) {
            const FillValue fill = fill_value(p, weights);
            return [kernel, shared, fill](const Arguments& arguments) {
              const auto* in = static_cast<const float*>(arguments.inputs[0]);
              auto* left = static_cast<float*>(arguments.workspace);
              for (size_t i = 0; i < shared->size(); ++i) {
                const ResamplePass& pass = (*shared)[i];
                ResampleArguments call = pass.arguments;
                const bool is_last = i + 1 == shared->size();
                call.in = in;
                call.out = is_last ? static_cast<float*>(arguments.outputs[0]) : left;
                call.first = pass.first.data();
                call.at = pass.at.data();
                call.weight = pass.weight.data();
                call.fill = fill.of(arguments);
                kernel(call);
                in = call.out;
                if (!is_last) left += elements_after(pass);
              }
            };
          }};
}

}  // namespace

CpuKernelCandidates offer_cpu_resample(const CpuKernelContext& context, const Problem& p) {
  TRY(const auto dims, resampled_dims(p));
  if (p.inputs[0].type.type != DataType::float32)
    return no_cpu_kernel("resampling " + to_string(p.inputs[0].type));
  std::vector<CpuKernelCandidate> out;
  for (const Layout& layout : unblocked_layouts(input_dims(p, 0))) {
    auto passes = passes_over(as_stored(dims, layout.kind));
    if (passes.empty()) return no_cpu_kernel("nothing to resample");
    out.push_back(resample_candidate(context, p, layout, std::move(passes)));
  }
  return out;
}

}  // namespace enginery
