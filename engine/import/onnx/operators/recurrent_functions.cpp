#include "engine/import/onnx/operators/recurrent_functions.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace enginery {
namespace {

// A function that ONNX names, its own operator where there is one, and what it has of parameters.
struct KnownFunction {
  std::string_view name;
  std::optional<ActivationKind> kind;
  std::optional<float> alpha, beta;  // their defaults
};

constexpr KnownFunction kKnownFunctions[] = {
    {"relu", ActivationKind::relu, {}, {}},
    {"tanh", ActivationKind::tanh, {}, {}},
    {"sigmoid", ActivationKind::sigmoid, {}, {}},
    {"softsign", ActivationKind::softsign, {}, {}},
    {"softplus", ActivationKind::softplus, {}, {}},
    {"leakyrelu", ActivationKind::leaky_relu, 0.01f, {}},
    {"thresholdedrelu", ActivationKind::thresholded_relu, 1.0f, {}},
    {"elu", ActivationKind::elu, 1.0f, {}},
    {"hardsigmoid", ActivationKind::hard_sigmoid, 0.2f, 0.5f},
    {"affine", std::nullopt, 1.0f, 0.0f},
    {"scaledtanh", std::nullopt, 1.0f, 1.0f},
};

const KnownFunction* find_function(const std::string& name) {
  const auto found = std::ranges::find(kKnownFunctions, name, &KnownFunction::name);
  return found == std::end(kKnownFunctions) ? nullptr : found;
}

std::vector<float> floats(NodeReader& node, const std::string& name) {
  const AttributeValue* value = node.any(name);
  const auto* list = value ? std::get_if<std::vector<float>>(value) : nullptr;
  return list ? *list : std::vector<float>();
}

std::vector<std::string> names(NodeReader& node, const std::vector<std::string>& defaults,
                               size_t directions) {
  std::vector<std::string> out;
  for (size_t i = 0; i < directions; ++i) out.insert(out.end(), defaults.begin(), defaults.end());
  if (const AttributeValue* value = node.any("activations")) {
    const auto* list = std::get_if<std::vector<std::string>>(value);
    if (!list || list->size() != out.size())
      node.reject("attribute activations does not name " + std::to_string(out.size()) +
                  " functions");
    else
      out = *list;
  }
  for (std::string& name : out) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return out;
}

}  // namespace

ValueId RecurrentFunction::apply(NodeReader& node, ValueId x) const {
  const KnownFunction* known = find_function(name);
  if (!known) return x;  // refused already
  if (known->kind) return node.add(Activation{*known->kind, alpha, beta}, {x});
  const auto number = [&](float v) { return node.number_constant(v, node.type(x)); };
  if (name == "affine") {
    const ValueId scaled = node.add(Binary{BinaryKind::mul}, {x, number(alpha)});
    return node.add(Binary{BinaryKind::add}, {scaled, number(beta)});
  }
  const ValueId inner = node.add(Binary{BinaryKind::mul}, {x, number(beta)});
  return node.add(Binary{BinaryKind::mul},
                  {node.add(Activation{ActivationKind::tanh}, {inner}), number(alpha)});
}

std::vector<RecurrentFunction> read_recurrent_functions(NodeReader& node,
                                                        const std::vector<std::string>& defaults,
                                                        size_t directions) {
  const auto alphas = floats(node, "activation_alpha"), betas = floats(node, "activation_beta");
  size_t alphas_used = 0, betas_used = 0;
  std::vector<RecurrentFunction> out;
  for (const std::string& name : names(node, defaults, directions)) {
    const KnownFunction* known = find_function(name);
    if (!known) node.refuse("activation '" + printable(name) + "' is not supported");
    RecurrentFunction f{name};
    if (known && known->alpha)
      f.alpha = alphas_used < alphas.size() ? alphas[alphas_used++] : *known->alpha;
    if (known && known->beta)
      f.beta = betas_used < betas.size() ? betas[betas_used++] : *known->beta;
    out.push_back(std::move(f));
  }
  return out;
}

}  // namespace enginery
