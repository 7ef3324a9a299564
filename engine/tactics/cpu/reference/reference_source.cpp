#include "engine/tactics/cpu/reference/reference_source.h"

#include <algorithm>
#include <cstring>

#include "engine/base/parallel.h"
#include "engine/device/format_convert.h"
#include "engine/tactics/bias_axis.h"

namespace enginery {
namespace {

// Strides that walk `from`, placed in `to` with its dimension 0 on `to`'s dimension `axis` (bias),
// else broadcast.
template <typename T>
Tensor broadcast_operand(const Tensor& operand, const Dims& to, int64_t axis) {
  Dims from = operand.dims();
  if (axis >= 0) {
    from.assign(to.size(), 1);
    from[static_cast<size_t>(axis)] = operand.size();
  }
  from.insert(from.begin(), to.size() - std::min(to.size(), from.size()), 1);
  Tensor source = convert(operand, data_type_of<T>()).reshaped(from);
  if (from == to) return source;
  Tensor out(data_type_of<T>(), to);
  Dims strides = strides_of(from);
  auto values = source.data<T>();
  auto result = out.mutable_data<T>();
  for (int64_t i = 0; i < out.size(); ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = to.size(); d-- > 0; rest /= to[d])
      at += from[d] == 1 ? 0 : rest % to[d] * strides[d];
    result[static_cast<size_t>(i)] = values[static_cast<size_t>(at)];
  }
  return out;
}

template <typename T>
void apply_step(const Problem& p, const EpilogueStep& step, std::span<const Tensor* const> inputs,
                Tensor& v) {
  auto values = v.mutable_data<T>();
  if (step.kind == EpilogueKind::activation) {
    for (T& x : values) x = activate(step.activation, x);
    return;
  }
  const int64_t axis =
      step.kind == EpilogueKind::bias ? static_cast<int64_t>(bias_axis(p.op, v.dims().size())) : -1;
  Tensor operand = broadcast_operand<T>(*inputs[static_cast<size_t>(step.operand)], v.dims(), axis);
  auto other = operand.data<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = step.kind == EpilogueKind::multiply ? values[i] * other[i] : values[i] + other[i];
  }
}

class PreparedReference final : public PreparedTactic {
 public:
  PreparedReference(Problem problem, Tactic tactic, Weights weights, int threads)
      : problem_(std::move(problem)), tactic_(std::move(tactic)), threads_(threads) {
    for (const Tensor* w : weights) weights_.push_back(w ? *w : Tensor());
  }

  Status enqueue(Stream&, const Arguments& arguments) const override {
    const ParallelLimit limit(threads_);
    std::vector<Tensor> held(problem_.inputs.size());
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < held.size(); ++i) {
      const TensorDesc& desc = problem_.inputs[i];
      if (desc.value)
        held[i] = *desc.value;
      else if (desc.present && desc.constant)
        held[i] = weights_[i];
      else if (desc.present) {
        Tensor stored = from_physical(arguments.inputs[i], desc.type.dims, tactic_.inputs[i]);
        held[i] = convert(stored, desc.type.type);
      }
      inputs.push_back(desc.present ? &held[i] : nullptr);
    }
    TRY(auto outputs, run_problem_reference(problem_, inputs));
    for (size_t i = 0; i < outputs.size(); ++i)
      to_physical(outputs[i], tactic_.outputs[i], arguments.outputs[i]);
    return {};
  }

  int64_t weight_bytes() const override {
    int64_t bytes = 0;
    for (const Tensor& w : weights_) bytes += w.bytes();
    return bytes;
  }
  int64_t workspace_bytes() const override { return 0; }

 private:
  const Problem problem_;
  const Tactic tactic_;
  const int threads_;
  std::vector<Tensor> weights_;
};

class ReferenceSource final : public TacticSource {
 public:
  explicit ReferenceSource(int threads) : threads_(threads) {}
  SourceTraits traits() const override {
    return {.name = "reference", .trust = Trust::reference, .takes_regions = true};
  }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>&) const override {
    constexpr double kStartUs = 50;
    TRY(Tactic tactic, reference_tactic(problem, "host"));
    tactic.estimated_us += kStartUs;
    return std::vector{tactic};
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    if (tactic.id != "host") {
      return Error{ErrorCode::incompatible, "reference: no tactic is called '" + tactic.id + "'"};
    }
    CHECK_OK(require_reference_formats(problem, tactic));
    return std::shared_ptr<const PreparedTactic>(
        std::make_shared<PreparedReference>(problem, tactic, weights, threads_));
  }

 private:
  const int threads_;
};

}  // namespace

Result<Tactic> reference_tactic(const Problem& problem, std::string id) {
  Tactic tactic;
  tactic.source = "reference";
  tactic.id = std::move(id);
  auto add_formats = [](const std::vector<TensorDesc>& descs,
                        std::vector<Format>& formats) -> Status {
    for (const TensorDesc& desc : descs) {
      if (desc.present && !is_static(desc.type.dims)) {
        return Error{ErrorCode::unsupported,
                     "reference: " + to_string(desc.type) + " has run-time sizes"};
      }
      formats.push_back(desc.pinned ? *desc.pinned : Format{desc.type.type, {}});
    }
    return {};
  };
  CHECK_OK(add_formats(problem.inputs, tactic.inputs));
  CHECK_OK(add_formats(problem.outputs, tactic.outputs));
  tactic.estimated_us = (flop_count(problem) + least_bytes(problem)) * 1e-3;
  return tactic;
}

Status require_reference_formats(const Problem& problem, const Tactic& tactic) {
  TRY(const Tactic offered, reference_tactic(problem, tactic.id));
  if (offered.inputs == tactic.inputs && offered.outputs == tactic.outputs) return {};
  return Error{ErrorCode::incompatible,
               "prepare " + tactic_key(tactic) + ": the reference reads linear tensors"};
}

Result<std::vector<Tensor>> run_problem_reference(const Problem& p,
                                                  std::span<const Tensor* const> inputs) {
  const bool is_double = !p.outputs.empty() && p.outputs[0].type.type == DataType::float64;
  const DataType wide = is_double ? DataType::float64 : DataType::float32;
  if (is_region(p)) {
    TRY(const auto results, region_results(p, inputs, wide));
    return std::vector<Tensor>{convert(results.back(), p.outputs[0].type.type)};
  }
  std::vector<Tensor> widened(inputs.size());
  std::vector<const Tensor*> anchor;
  for (size_t i = 0; i < static_cast<size_t>(p.anchor_inputs); ++i) {
    // With an epilogue the anchor's result must not be rounded: floats are wide from the start.
    bool widen = inputs[i] && !p.epilogue.empty() && is_floating(inputs[i]->type());
    if (widen) widened[i] = convert(*inputs[i], wide);
    anchor.push_back(widen ? &widened[i] : inputs[i]);
  }
  TRY(auto outputs, run_reference(p.op, anchor));
  if (outputs.size() != p.outputs.size()) {
    return Error{ErrorCode::internal, "reference: " + std::string(op_name(p.op)) + " gave " +
                                          std::to_string(outputs.size()) + " outputs, expected " +
                                          std::to_string(p.outputs.size())};
  }
  if (!p.epilogue.empty()) {
    Tensor v = convert(outputs[0], wide);
    for (const EpilogueStep& step : p.epilogue) {
      if (is_double)
        apply_step<double>(p, step, inputs, v);
      else
        apply_step<float>(p, step, inputs, v);
    }
    outputs[0] = v;
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs[i] = convert(outputs[i], p.outputs[i].type.type);
  return outputs;
}

Result<std::unique_ptr<TacticSource>> make_reference_source(const DeviceInfo& info) {
  if (info.kind != DeviceKind::cpu) {
    return Error{ErrorCode::unsupported, "the host cannot read the memory of " + info.sku};
  }
  return std::unique_ptr<TacticSource>(std::make_unique<ReferenceSource>(info.threads));
}

}  // namespace enginery
