#include "tuner/faulty_layers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/runtime/execution.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tuner/gate/expectation.h"
#include "tuner/gate/sampled_reference.h"

namespace enginery {
namespace {

constexpr int64_t kSamples = 32768;
constexpr uint64_t kSeed = 20261122;
// Numbers of which another rounding of the inputs makes other integers: so many may differ.
constexpr double kMaxDecided = 0.01;
constexpr double kLargestFloat16 = 65504;

// Right values of one output at some of its elements.
struct Expected {
  std::vector<int64_t> elements;
  std::vector<double> values;  // NaN where anything is right
};

std::vector<double> numbers_at(const Tensor& tensor, const std::vector<int64_t>& elements) {
  const Tensor wide = convert(tensor, DataType::float64);
  std::vector<double> out;
  for (const int64_t e : elements) out.push_back(wide.data<double>()[static_cast<size_t>(e)]);
  return out;
}

Expected expected_products(const Problem& problem, const std::vector<const Tensor*>& inputs) {
  std::vector<Tensor> wide(inputs.size());
  std::vector<const Tensor*> floats;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool widens = inputs[i] && is_floating(inputs[i]->type());
    if (widens) wide[i] = convert(*inputs[i], DataType::float32);
    floats.push_back(widens ? &wide[i] : inputs[i]);
  }
  Expected out{sample_elements(output_dims(problem), kSamples, kSeed), {}};
  for (const SampledValue& v : sampled_products(problem, floats, out.elements))
    out.values.push_back(std::isfinite(v.magnitude) ? v.value : std::nan(""));
  return out;
}

Result<std::vector<Expected>> expected_of(const Problem& problem,
                                          const std::vector<const Tensor*>& inputs) {
  if (is_sampled(problem)) return std::vector{expected_products(problem, inputs)};
  TRY(const auto outputs, run_problem_reference(problem, inputs));
  std::vector<Expected> out;
  for (const Tensor& t : outputs) {
    Expected& one = out.emplace_back();
    for (int64_t e = 0; e < t.size(); ++e) one.elements.push_back(e);
    one.values = numbers_at(t, one.elements);
  }
  return out;
}

// max|y - r| / max|r|; infinite for a number that is none.
double error_of(const std::vector<double>& actual, const std::vector<double>& expected) {
  double largest = 0, difference = 0;
  for (const double r : expected) {
    if (std::isfinite(r)) largest = std::max(largest, std::abs(r));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const double r = expected[i], y = actual[i];
    const bool overflows = std::isinf(y) && std::abs(r) >= kLargestFloat16;
    if (!std::isfinite(r) || y == r || overflows) continue;
    const double d = std::isfinite(y) ? std::abs(y - r) : std::numeric_limits<double>::infinity();
    difference = std::max(difference, d);
  }
  return largest > 0 ? difference / largest : difference;
}

double share_differing(const std::vector<double>& actual, const std::vector<double>& expected) {
  double differing = 0;
  for (size_t i = 0; i < expected.size(); ++i) differing += actual[i] != expected[i];
  return expected.empty() ? 0 : differing / static_cast<double>(expected.size());
}

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

class LayerCheck {
 public:
  LayerCheck(Execution& execution, double bar) : execution_(execution), bar_(bar) {}

  Status around(size_t index, const Arguments& arguments, const std::function<Status()>& launch) {
    const PlanStep& step = execution_.plan().steps[index];
    TRY(const std::vector<Tensor> held, inputs_of(step, arguments));
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < held.size(); ++i)
      inputs.push_back(step.problem.inputs[i].present ? &held[i] : nullptr);
    CHECK_OK(launch());
    TRY(const std::vector<Expected> expected, expected_of(step.problem, inputs));
    for (size_t k = 0; k < expected.size(); ++k) {
      const TensorDesc& desc = step.problem.outputs[k];
      TRY(const Tensor stored,
          execution_.read(arguments.outputs[k], desc.type.dims, step.tactic.outputs[k]));
      compare(step, k, numbers_at(stored, expected[k].elements), expected[k].values);
    }
    return {};
  }

  std::vector<FaultyLayer> found;

 private:
  // As the problem types them. Before the launch: an output may take over an input's memory.
  Result<std::vector<Tensor>> inputs_of(const PlanStep& step, const Arguments& arguments) {
    std::vector<Tensor> out;
    for (size_t i = 0; i < step.problem.inputs.size(); ++i) {
      const TensorDesc& desc = step.problem.inputs[i];
      const int constant = step.constants[i];
      if (!desc.present) {
        out.emplace_back();
      } else if (desc.value) {
        out.push_back(*desc.value);
      } else if (constant >= 0) {
        out.push_back(execution_.plan().constants[static_cast<size_t>(constant)].tensor);
      } else {
        TRY(const Tensor stored,
            execution_.read(arguments.inputs[i], desc.type.dims, step.tactic.inputs[i]));
        out.push_back(convert(stored, desc.type.type));
      }
    }
    return out;
  }

  void compare(const PlanStep& step, size_t output, const std::vector<double>& actual,
               const std::vector<double>& expected) {
    const bool floats = is_floating(step.problem.outputs[output].type.type);
    const bool decides =
        std::any_of(step.problem.inputs.begin(), step.problem.inputs.end(),
                    [](const TensorDesc& d) { return d.present && is_floating(d.type.type); });
    const double error = floats ? error_of(actual, expected) : share_differing(actual, expected);
    const double allowed = floats ? bar_ : decides ? kMaxDecided : 0;
    if (error <= allowed) return;
    const std::string key = selected_key(step);
    const std::string what = floats ? " is off by " + text_of(error) + " of its largest element"
                                    : ": " + text_of(error) + " of its elements are wrong";
    if (!found.empty() && found.back().layer == step.name && found.back().tactic == key) return;
    found.push_back({step.name, step.problem.key(), key,
                     "output " + std::to_string(output) + what + ", allowed " + text_of(allowed),
                     error});
  }

  Execution& execution_;
  const double bar_;
};

}  // namespace

Result<std::vector<FaultyLayer>> faulty_layers(Plan plan, Device& device,
                                               const TacticSources& sources,
                                               const std::vector<Tensor>& inputs, double bar) {
  TRY(auto program, Program::make(std::move(plan), device, sources));
  TRY(auto execution, Execution::make(program));
  std::vector<const void*> from;
  for (const Tensor& t : inputs) from.push_back(t.raw());
  std::vector<Tensor> outputs;
  std::vector<void*> to;
  for (const int t : program->plan().outputs) {
    const TensorType& type = program->plan().tensors[static_cast<size_t>(t)].type;
    outputs.emplace_back(type.type, type.dims);
  }
  for (Tensor& t : outputs) to.push_back(t.mutable_bytes());
  LayerCheck check(*execution, bar);
  CHECK_OK(execution->run_step_by_step(
      from, to,
      [&](size_t step, const Arguments& arguments, const std::function<Status()>& launch) {
        return check.around(step, arguments, launch);
      }));
  return std::move(check.found);
}

}  // namespace enginery
