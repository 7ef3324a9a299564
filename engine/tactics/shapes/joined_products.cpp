#include "engine/tactics/shapes/joined_products.h"

#include <algorithm>

namespace enginery {
namespace {

// Where the operators of the region of 8 bits stand: dequantize, dequantize, conv, quantize make
// the addend, which this one dequantises; the second product's begin behind it.
constexpr size_t kAddendMade = 3, kAddendRead = 4, kSecondBegins = 5, kSecondProduct = 7;

Result<JoinedFloats::Part> float_part(const RegionPart& part) {
  JoinedFloats::Part out;
  if (part.problem.inputs[0].type.dims.size() > 4)
    return refusal("convolutions of three spatial dimensions");
  TRY(out.shape, conv_shape(part.problem));
  out.source = part.operands[0];
  out.weights = part.operands[1];
  if (out.shape.bias.input >= 0)
    out.shape.bias.input = part.operands[static_cast<size_t>(out.shape.bias.input)];
  return out;
}

bool is_addition(const RegionPart& part, int one, int other) {
  const auto* op = std::get_if<Binary>(&part.problem.op);
  const std::vector<int> wanted{one, other}, swapped{other, one};
  return op && op->kind == BinaryKind::add &&
         (part.operands == wanted || part.operands == swapped) &&
         part.problem.inputs[0].type == part.problem.inputs[1].type;
}

// The second product with what its addend becomes and what follows, in the order in which one with
// a dequantised addend has them. Its operands count from `inputs` + 1: the addend is one more
// input.
std::vector<RegionPart> second_parts(const std::vector<RegionPart>& parts, int inputs) {
  std::vector<size_t> order{kSecondBegins, kSecondBegins + 1, kSecondProduct, kAddendRead};
  for (size_t i = kSecondProduct + 1; i < parts.size(); ++i) order.push_back(i);
  const auto renumbered = [&](int operand) {
    if (operand < inputs) return operand;
    const auto result = static_cast<size_t>(operand - inputs);
    if (result == kAddendMade) return inputs;
    const auto place = std::ranges::find(order, result);
    return inputs + 1 + static_cast<int>(place - order.begin());
  };
  std::vector<RegionPart> out;
  for (const size_t i : order) {
    out.push_back(parts[i]);
    for (int& operand : out.back().operands) operand = renumbered(operand);
  }
  return out;
}

}  // namespace

bool joins_products(const Problem& problem) {
  const auto convolves = [](const RegionOp& op) {
    return std::holds_alternative<Convolution>(op.op);
  };
  const auto behind = std::ranges::count_if(problem.rest, convolves);
  return behind + (is_one_of<Convolution>(problem) ? 1 : 0) == 2;
}

Result<JoinedFloats> joined_floats(const Problem& problem) {
  const std::vector<RegionPart> parts = operators_of(problem);
  const int first = static_cast<int>(problem.inputs.size());
  if (!is_one_of<Convolution>(problem) || parts.size() < 3 || parts.size() > 4 ||
      !is_one_of<Convolution>(parts[1].problem) || !is_addition(parts[2], first, first + 1))
    return refusal("no two convolutions that are added");
  CHECK_OK(require_elements(problem));
  JoinedFloats out;
  for (size_t i = 0; i < 2; ++i) {
    for (const int operand : parts[i].operands) {
      if (operand >= first) return refusal("a convolution of the other one's result");
    }
    TRY(out.parts[i], float_part(parts[i]));
  }
  if (parts.size() == 3) return out;
  const auto* activation = std::get_if<Activation>(&parts[3].problem.op);
  if (!activation) return refusal("operators behind a sum of convolutions");
  out.activation = *activation;
  return out;
}

Result<JoinedQuantized> joined_quantized(const Problem& problem) {
  const std::vector<RegionPart> parts = operators_of(problem);
  const int inputs = static_cast<int>(problem.inputs.size());
  const bool fits = parts.size() > kSecondProduct + 1 &&
                    is_one_of<Quantize>(parts[kAddendMade].problem) &&
                    is_one_of<Dequantize>(parts[kAddendRead].problem) &&
                    parts[kAddendRead].operands[0] == inputs + static_cast<int>(kAddendMade) &&
                    is_one_of<Convolution>(parts[kSecondProduct].problem);
  if (!fits) return refusal("no two products of quantised numbers that are added");
  CHECK_OK(require_elements(problem));
  JoinedQuantized out;
  const std::span<const RegionPart> all(parts);
  TRY(out.first, quantized_product(all.first(kAddendMade + 1), inputs));
  TRY(out.second, quantized_product(second_parts(parts, inputs), inputs + 1));
  out.second_source = parts[kSecondBegins].operands[0];
  const bool rounds = is_eight_bits(out.first.result) && out.second.addend == inputs &&
                      out.second.addend_scale >= 0;
  if (!rounds || out.second_source >= inputs || out.first.activation)
    return refusal("its addend is not the first product's");
  return out;
}

std::vector<RegionPattern> joined_patterns() {
  using Place = RegionPattern::Place;
  const Place first{is_operator<Convolution>, {}}, second = first;
  const auto activation = [](size_t reads) { return Place{is_operator<Activation>, {reads}}; };
  const auto sum = [](size_t one, size_t other) {
    return Place{is_operator<Binary>, {one, other}};
  };
  RegionPattern bytes{{{is_operator<Dequantize>, {}},
                       {is_operator<Convolution>, {0}},
                       {is_operator<Quantize>, {1}},
                       {is_operator<Dequantize>, {2}},
                       second,
                       sum(3, 4),
                       activation(5),
                       {is_operator<Quantize>, {6}}},
                      RegionPattern::Operands::dequantized};
  RegionPattern without = bytes;
  without.places.erase(without.places.begin() + 6);
  without.places.back().reads = {5};
  return {std::move(bytes),
          std::move(without),
          {{first, second, sum(0, 1), activation(2)}},
          {{first, second, sum(0, 1)}}};
}

}  // namespace enginery
