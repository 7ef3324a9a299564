#include "engine/compile/bias_correction.h"

#include <algorithm>

namespace enginery {
namespace {

bool has_bias(const Node& node) {
  return node.inputs.size() > 2 && node.inputs[2] != kNoValue;
}

// How many output channels there are, and how the weights [.., ..] of them are counted.
struct WeightForm {
  int64_t outputs = 0, inputs = 0;  // inputs of one output: a group's
  int64_t groups = 1;
  bool outputs_first = true;
};

std::optional<WeightForm> form_of(const Op& op, const Dims& weights) {
  if (const auto* convolution = std::get_if<Convolution>(&op))
    return WeightForm{weights[0], weights[1], convolution->groups, true};
  const auto* gemm = std::get_if<Gemm>(&op);
  if (!gemm || gemm->transpose_a || gemm->alpha != 1 || gemm->beta != 1) return std::nullopt;
  return gemm->transpose_b ? WeightForm{weights[0], weights[1], 1, true}
                           : WeightForm{weights[1], weights[0], 1, false};
}

// A constant float32 vector with one element for each output channel.
bool is_vector_of(const Tensor* bias, int64_t outputs) {
  return bias && bias->type() == DataType::float32 && bias->size() == outputs &&
         bias->dims().back() == outputs;
}

bool can_take_bias(const Graph& graph, const Node& node, const std::vector<NodeId>& readers,
                   int64_t outputs) {
  if (has_bias(node)) return is_vector_of(graph.constant(node.inputs[2]), outputs);
  return readers.size() == 1 && !graph.is_output(node.outputs[0]) &&
         std::holds_alternative<BatchNorm>(graph.node(readers[0]).op);
}

// For each output and each of its inputs: what rounding adds to the weights between them together.
std::vector<double> rounding_sums(const Tensor& weights, const WeightForm& form) {
  const QuantizedWeights rounded = quantize_weights(weights, form.outputs_first ? 0 : 1);
  const auto exact = weights.data<float>();
  const auto elements = rounded.elements.data<int8_t>();
  const auto scales = rounded.scales.data<float>();
  const auto outputs = static_cast<size_t>(form.outputs), inputs = static_cast<size_t>(form.inputs);
  const size_t inner = exact.size() / std::max<size_t>(outputs * inputs, 1);
  std::vector<double> out(outputs * inputs, 0);
  for (size_t i = 0; i < exact.size(); ++i) {
    const size_t pair = i / inner;
    const size_t k = form.outputs_first ? pair / inputs : pair % outputs;
    const size_t c = form.outputs_first ? pair % inputs : pair / outputs;
    out[k * inputs + c] += double{scales[k]} * elements[i] - double{exact[i]};
  }
  return out;
}

std::vector<float> correction_of(const Tensor& weights, const WeightForm& form,
                                 const std::vector<float>& means) {
  const std::vector<double> added = rounding_sums(weights, form);
  const auto outputs = static_cast<size_t>(form.outputs), inputs = static_cast<size_t>(form.inputs);
  const size_t of_group = outputs / static_cast<size_t>(form.groups);
  std::vector<float> out;
  for (size_t k = 0; k < outputs; ++k) {
    double shift = 0;
    for (size_t c = 0; c < inputs; ++c)
      shift += added[k * inputs + c] * double{means[k / of_group * inputs + c]};
    out.push_back(static_cast<float>(-shift));
  }
  return out;
}

}  // namespace

BiasCorrections bias_corrections(const Graph& graph, const std::vector<NodeId>& products,
                                 const ChannelMeans& means) {
  BiasCorrections out;
  const auto users = graph.users();
  for (const NodeId id : products) {
    const Node& node = graph.node(id);
    const auto known = means.find(graph.value(node.inputs[0]).name);
    const Tensor& weights = *graph.constant(node.inputs[1]);
    const auto form = weights.rank() < 2 ? std::nullopt : form_of(node.op, weights.dims());
    if (known == means.end() || !form ||
        static_cast<int64_t>(known->second.size()) != form->inputs * form->groups ||
        !can_take_bias(graph, node, users[static_cast<size_t>(node.outputs[0])], form->outputs))
      continue;
    out.emplace(id, correction_of(weights, *form, known->second));
  }
  return out;
}

void correct_biases(Graph& graph, const BiasCorrections& corrections) {
  for (const auto& [id, correction] : corrections) {
    Dims dims = {static_cast<int64_t>(correction.size())};
    std::vector<float> bias = correction;
    if (has_bias(graph.node(id))) {
      const Tensor& before = *graph.constant(graph.node(id).inputs[2]);
      dims = before.dims();
      for (size_t k = 0; k < bias.size(); ++k) bias[k] += before.data<float>()[k];
    }
    const ValueId corrected =
        graph.add_constant(graph.node(id).name + ".corrected_bias",
                           Tensor::of<float>(dims, std::span<const float>(bias)));
    graph.node(id).inputs.resize(3, kNoValue);
    graph.node(id).inputs[2] = corrected;
  }
}

}  // namespace enginery
