// Reductions, softmax and fully connected layers of few rows.
#include <algorithm>

#include "engine/tactics/cpu/kernel/candidate.h"
#include "engine/tactics/shapes/fully_connected.h"

namespace enginery::cpu_kernel {
namespace {

// A tensor in memory as [outer, size, inner] around some of its dimensions.
struct Extents {
  int64_t outer = 1, size = 1, inner = 1;
};

// Linear storage around dimensions [first, last].
Extents linear_extents(const Dims& dims, size_t first, size_t last) {
  Extents e;
  for (size_t d = 0; d < dims.size(); ++d)
    (d < first ? e.outer : d > last ? e.inner : e.size) *= dims[d];
  return e;
}

std::optional<cpu_kernels::Reduction> reduction_of(const Op& op) {
  using cpu_kernels::Reduction;
  if (auto* pool = std::get_if<GlobalPooling>(&op))
    return pool->kind == PoolKind::max ? Reduction::max : Reduction::mean;
  switch (std::get<Reduce>(op).kind) {
    case ReduceKind::sum:
      return Reduction::sum;
    case ReduceKind::mean:
      return Reduction::mean;
    case ReduceKind::max:
      return Reduction::max;
    case ReduceKind::min:
      return Reduction::min;
    case ReduceKind::sum_square:
      return Reduction::sum_square;
    default:
      return {};
  }
}

// The dimensions that are reduced, ascending and without gaps; empty otherwise.
std::vector<int64_t> reduced_axes(const Op& op, int64_t rank) {
  std::vector<int64_t> axes;
  if (std::holds_alternative<GlobalPooling>(op)) {
    for (int64_t d = 2; d < rank; ++d) axes.push_back(d);
    return axes;
  }
  for (int64_t axis : std::get<Reduce>(op).axes) axes.push_back(axis < 0 ? axis + rank : axis);
  std::sort(axes.begin(), axes.end());
  for (size_t i = 1; i < axes.size(); ++i) {
    if (axes[i] != axes[i - 1] + 1) return {};
  }
  return axes;
}

Candidate reduction_candidate(const Context& context, const Problem& p, const Layout& layout,
                              const Extents& e, cpu_kernels::Reduction kind) {
  Tactic tactic = base_tactic(p, "reduce");
  tactic.inputs[0].layout = layout;
  cpu_kernels::ReduceArguments a{nullptr, nullptr, e.outer, e.size, e.inner, kind};
  tactic.estimated_us = movement_us(context, p);
  return {std::move(tactic), [kernels = &context.kernels, a](Weights) -> Run {
            return [=](const Arguments& arguments) {
              auto call = a;
              call.in = static_cast<const float*>(arguments.inputs[0]);
              call.out = static_cast<float*>(arguments.outputs[0]);
              kernels->reduce(call);
            };
          }};
}

}  // namespace

Candidates reduction_candidates(const Context& context, const Problem& p) {
  auto kind = reduction_of(p.op);
  const Dims& dims = input_dims(p, 0);
  int64_t rank = static_cast<int64_t>(dims.size());
  std::vector<int64_t> axes = reduced_axes(p.op, rank);
  if (!kind || axes.empty() || !p.epilogue.empty()) return unsupported("this reduction");
  if (p.inputs[0].type.type != DataType::float32)
    return unsupported("a reduction of " + to_string(p.inputs[0].type));
  std::vector<Candidate> out;
  bool planes = axes.front() == 2 && axes.back() == rank - 1 && rank <= 5;
  if (planes) {  // the output's planes have one pixel: channels-last and linear are the same there
    Extents e{dims[0], volume(dims) / (dims[0] * dims[1]), dims[1]};
    out.push_back(reduction_candidate(context, p, {LayoutKind::channels_last, 0}, e, *kind));
  }
  Extents e =
      linear_extents(dims, static_cast<size_t>(axes.front()), static_cast<size_t>(axes.back()));
  out.push_back(reduction_candidate(context, p, {}, e, *kind));
  return out;
}

Candidates softmax_candidates(const Context& context, const Problem& p) {
  const auto& op = std::get<Softmax>(p.op);
  const Dims& dims = input_dims(p, 0);
  if (dims.empty() || !p.epilogue.empty())
    return unsupported("softmax of a scalar or with an epilogue");
  if (p.inputs[0].type.type != DataType::float32)
    return unsupported("softmax of " + to_string(p.inputs[0].type));
  size_t axis =
      static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(dims.size()) : op.axis);
  std::vector<Candidate> out;
  auto append = [&](const Layout& layout, const Extents& e) {
    Tactic tactic = base_tactic(p, "softmax");
    tactic.inputs[0].layout = tactic.outputs[0].layout = layout;
    tactic.estimated_us = 3 * movement_us(context, p);
    cpu_kernels::SoftmaxArguments a{nullptr, nullptr, e.outer, e.size, e.inner, op.log};
    out.push_back({std::move(tactic), [kernels = &context.kernels, a](Weights) -> Run {
                     return [=](const Arguments& arguments) {
                       auto call = a;
                       call.in = static_cast<const float*>(arguments.inputs[0]);
                       call.out = static_cast<float*>(arguments.outputs[0]);
                       kernels->softmax(call);
                     };
                   }});
  };
  if (dims.size() >= 3 && dims.size() <= 5 && axis == 1) {
    append({LayoutKind::channels_last, 0}, {volume(dims) / dims[1], dims[1], 1});
  }
  append({}, linear_extents(dims, axis, axis));
  return out;
}

Candidates few_rows_candidates(const Context& context, const Problem& p) {
  constexpr int64_t kFewRows = 8;
  auto fc = read_fully_connected(p);
  if (!fc || fc->m > kFewRows)
    return unsupported("a matrix product other than a fully connected layer of few rows");
  auto bounds = read_bounds(p, fc->addend >= 0 ? BiasAllowed::no : BiasAllowed::yes);
  if (!bounds) return unsupported("a fully connected layer with more than bias and clip");
  if (bounds->bias >= 0) fc->addend = bounds->bias, fc->addend_factor = 1;
  cpu_kernels::FewRowsArguments a{};
  a.m = fc->m, a.n = fc->n, a.k = fc->k, a.low = bounds->low, a.high = bounds->high;
  Tactic tactic = base_tactic(p, "few_rows");
  tactic.estimated_us =
      movement_us(context, p) + flop_count(p) / (2000.0 * context.threads * context.kernels.width);
  auto build = [kernels = &context.kernels, a, fc = *fc](Weights weights) -> Run {
    Tensor w = weights_of(fc, weights);
    if (!fc.weights_are_nk) {
      Tensor turned(DataType::float32, {fc.n, fc.k});
      auto from = w.data<float>();
      auto to = turned.mutable_data<float>();
      for (int64_t n = 0; n < fc.n; ++n) {
        for (int64_t k = 0; k < fc.k; ++k)
          to[static_cast<size_t>(n * fc.k + k)] = from[static_cast<size_t>(k * fc.n + n)];
      }
      w = turned;
    }
    Tensor bias = fc.addend >= 0 ? addend_of(fc, weights) : Tensor();
    return [=](const Arguments& arguments) {
      auto call = a;
      call.x = static_cast<const float*>(arguments.inputs[0]);
      call.y = static_cast<float*>(arguments.outputs[0]);
      call.w = w.data<float>().data();
      call.bias = fc.addend >= 0 ? bias.data<float>().data() : nullptr;
      kernels->few_rows(call);
    };
  };
  return std::vector<Candidate>{{std::move(tactic), build}};
}

}  // namespace enginery::cpu_kernel
