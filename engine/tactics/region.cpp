#include "engine/tactics/region.h"

#include <algorithm>

#include "engine/base/parse_int.h"

namespace enginery {
namespace {

constexpr size_t kMaxOperators = 64;  // behind the anchor; no kernel runs so many at once

Error wrong_region(const std::string& reason) {
  return {ErrorCode::invalid_argument, "a region's " + reason};
}

std::vector<int> first_operands(int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) out.push_back(i);
  return out;
}

// The anchor and the further operators, as one list.
std::vector<RegionOp> all_operators(const Problem& problem) {
  std::vector<RegionOp> out{{problem.op, first_operands(problem.anchor_inputs)}};
  out.insert(out.end(), problem.rest.begin(), problem.rest.end());
  return out;
}

// What the operand `at` is by type; a result of the operators before where it is no input.
TensorDesc operand_desc(const Problem& problem, int at) {
  const auto index = static_cast<size_t>(at), inputs = problem.inputs.size();
  if (at >= 0 && index < inputs) return problem.inputs[index];
  TensorDesc out;
  out.present = at >= 0;
  if (out.present) out.type = problem.inner[index - inputs];
  return out;
}

std::string operand_text(int operand, size_t inputs) {
  if (operand < 0) return "_";
  const auto at = static_cast<size_t>(operand);
  return at < inputs ? std::to_string(at) : "r" + std::to_string(at - inputs);
}

Result<int> parse_operand(std::string_view word, size_t inputs) {
  if (word == "_") return -1;
  const bool result = word.starts_with("r");
  const auto number = parse_int(result ? word.substr(1) : word);
  const auto end = static_cast<int64_t>(result ? kMaxOperators : inputs);
  if (!number || *number < 0 || *number >= end)
    return wrong_region("operand '" + std::string(word) + "' is none");
  return static_cast<int>(*number + (result ? static_cast<int64_t>(inputs) : 0));
}

// Whether results of all operators but the last are read.
bool all_read(const std::vector<RegionOp>& operators, size_t inputs) {
  std::vector<bool> read(operators.size());
  for (const RegionOp& op : operators) {
    for (const int at : op.operands) {
      if (at >= static_cast<int>(inputs)) read[static_cast<size_t>(at) - inputs] = true;
    }
  }
  return std::count(read.begin(), read.end(), true) + 1 == std::ssize(operators);
}

Tensor widened(const Tensor& t, DataType wide) {
  const bool widens = is_floating(t.type()) && t.type() != DataType::float64;
  return widens ? convert(t, wide) : t;
}

}  // namespace

RegionPattern chain_of(const std::vector<bool (*)(const Op&)>& operators) {
  RegionPattern out;
  for (bool (*fits)(const Op&) : operators) {
    std::vector<size_t> reads;
    if (!out.places.empty()) reads.push_back(out.places.size() - 1);
    out.places.push_back({fits, std::move(reads)});
  }
  return out;
}

std::vector<RegionPart> operators_of(const Problem& problem) {
  if (!is_region(problem))
    return {{problem, first_operands(static_cast<int>(problem.inputs.size()))}};
  std::vector<RegionPart> out;
  for (RegionOp& op : all_operators(problem)) {
    RegionPart& part = out.emplace_back();
    part.problem.op = std::move(op.op);
    part.problem.anchor_inputs = static_cast<int>(op.operands.size());
    for (const int at : op.operands) part.problem.inputs.push_back(operand_desc(problem, at));
    const bool last = out.size() > problem.rest.size();
    part.problem.outputs = {
        last ? problem.outputs[0]
             : operand_desc(problem, static_cast<int>(problem.inputs.size() + out.size() - 1))};
    part.operands = std::move(op.operands);
  }
  return out;
}

std::string operator_names(const Problem& problem) {
  std::string out(op_name(problem.op));
  for (const RegionOp& op : problem.rest) out += "+" + std::string(op_name(op.op));
  return out;
}

std::string region_op_text(const RegionOp& op, size_t inputs) {
  std::string out = std::string(op_name(op.op)) + "(";
  for (size_t i = 0; i < op.operands.size(); ++i)
    out += (i ? " " : "") + operand_text(op.operands[i], inputs);
  const std::string attributes = attributes_text(op.op);
  return out + ")" + (attributes.empty() ? "" : " " + attributes);
}

Result<std::map<std::string, std::string>> parse_attributes(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view pair = text.substr(0, end);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos)
      return Error{ErrorCode::invalid_argument, "an attribute without a value"};
    out[std::string(pair.substr(0, equals))] = std::string(pair.substr(equals + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

Result<RegionOp> parse_region_op(std::string_view text, size_t inputs) {
  const size_t open = text.find('('), close = text.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return wrong_region("operator '" + std::string(text) + "' names no operands");
  const std::string_view after = text.substr(close + 1);
  if (!after.empty() && after[0] != ' ')
    return wrong_region("operator '" + std::string(text) + "' is none");
  RegionOp out;
  TRY(const auto attributes, parse_attributes(after.empty() ? after : after.substr(1)));
  TRY(out.op, parse_op(text.substr(0, open), attributes));
  std::string_view words = text.substr(open + 1, close - open - 1);
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    TRY(out.operands.emplace_back(), parse_operand(words.substr(0, end), inputs));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return out;
}

Result<std::vector<TensorType>> region_types(const Problem& problem,
                                             std::span<const Tensor* const> constants) {
  const int inputs = static_cast<int>(problem.inputs.size());
  const std::vector<RegionOp> operators = all_operators(problem);
  if (!is_region(problem) || problem.rest.size() > kMaxOperators || problem.anchor_inputs > inputs)
    return wrong_region("operators are too few, too many or without their inputs");
  std::vector<TensorType> out;
  for (const RegionOp& op : operators) {
    std::vector<Operand> operands;
    for (const int at : op.operands) {
      const auto index = static_cast<size_t>(at);
      if (at >= inputs + static_cast<int>(out.size()))
        return wrong_region("operator reads what no earlier one gives");
      if (at < 0)
        operands.push_back({false, {}, nullptr});
      else if (at < inputs)
        operands.push_back({problem.inputs[index].present, problem.inputs[index].type,
                            index < constants.size() ? constants[index] : nullptr});
      else
        operands.push_back({true, out[index - static_cast<size_t>(inputs)], nullptr});
    }
    TRY(const auto types, infer_types(op.op, operands));
    if (types.size() != 1) return wrong_region("operator has several results");
    if (!is_static(types[0].dims)) return wrong_region("operator has a result of run-time size");
    TRY([[maybe_unused]] const int64_t size,
        checked_volume(types[0].dims, element_bytes(types[0].type)));
    out.push_back(types[0]);
  }
  if (!all_read(operators, problem.inputs.size()))
    return wrong_region("operator has a result that nothing reads");
  return out;
}

Result<std::vector<Tensor>> region_results(const Problem& problem,
                                           std::span<const Tensor* const> inputs, DataType wide) {
  std::vector<Tensor> out;
  for (const RegionOp& op : all_operators(problem)) {
    std::vector<Tensor> held(op.operands.size());
    std::vector<const Tensor*> operands;
    for (size_t i = 0; i < held.size(); ++i) {
      const int at = op.operands[i];
      const auto index = static_cast<size_t>(at);
      const bool is_input = at >= 0 && index < inputs.size();
      const Tensor* from = at < 0     ? nullptr
                           : is_input ? inputs[index]
                                      : &out[index - inputs.size()];
      if (from) held[i] = widened(*from, wide);
      operands.push_back(from ? &held[i] : nullptr);
    }
    TRY(auto results, run_reference(op.op, operands));
    out.push_back(widened(results[0], wide));  // a Cast gives its own type
  }
  return out;
}

}  // namespace enginery
