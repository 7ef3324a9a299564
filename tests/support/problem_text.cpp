#include "tests/support/problem_text.h"

#include <sstream>

#include "engine/tactics/region.h"

namespace enginery {
namespace {

Error bad(std::string_view text, const std::string& reason) {
  return {ErrorCode::invalid_argument, "problem '" + std::string(text) + "': " + reason};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    size_t bar = text.find(" | ");
    parts.emplace_back(text.substr(0, bar));
    if (bar == std::string_view::npos) return parts;
    text.remove_prefix(bar + 3);
  }
}

Result<TensorDesc> parse_desc(std::string word) {
  TensorDesc desc;
  if (word == "_") return desc.present = false, desc;
  if (word.starts_with("w:")) {
    desc.constant = true;
    word = word.substr(2);
  }
  size_t open = word.find('['), close = word.find(']');
  if (open == std::string::npos || close == std::string::npos)
    return bad(word, "expected TYPE[DIMS]");
  TRY(desc.type.type, parse_data_type(word.substr(0, open)));
  std::string dims = word.substr(open + 1, close - open - 1);
  if (dims != "scalar") {
    TRY(desc.type.dims, parse_dims(dims));
  }
  if (word.size() > close + 1) {
    std::string values = word.substr(close + 1);  // ={1,2}
    if (!values.starts_with("={") || !values.ends_with("}"))
      return bad(word, "expected ={...} after the type");
    TRY(auto ints, parse_ints("[" + values.substr(2, values.size() - 3) + "]"));
    Tensor value = convert(
        Tensor::of<int64_t>({static_cast<int64_t>(ints.size())}, std::span<const int64_t>(ints)),
        desc.type.type);
    desc.value = value.reshaped(desc.type.dims);
    desc.constant = true;
  }
  return desc;
}

std::map<std::string, std::string> attributes_of(const std::vector<std::string>& words,
                                                 size_t first) {
  std::map<std::string, std::string> out;
  for (size_t i = first; i < words.size(); ++i) {
    size_t equals = words[i].find('=');
    out[words[i].substr(0, equals)] =
        equals == std::string::npos ? "" : words[i].substr(equals + 1);
  }
  return out;
}

Status parse_step(const std::string& text, Problem& problem) {
  std::vector<std::string> words = words_of(text);
  if (words.empty()) return bad(text, "an empty epilogue step");
  EpilogueStep step;
  if (words[0] == "act") {
    TRY(Op op, parse_op("act", attributes_of(words, 1)));
    step.activation = std::get<Activation>(op);
    problem.epilogue.push_back(step);
    return {};
  }
  if (words.size() != 2) return bad(text, "expected a kind and an operand");
  if (words[0] == "bias")
    step.kind = EpilogueKind::bias;
  else if (words[0] == "add")
    step.kind = EpilogueKind::add;
  else if (words[0] == "multiply")
    step.kind = EpilogueKind::multiply;
  else
    return bad(text, "no such epilogue step");
  TRY(TensorDesc desc, parse_desc(words[1]));
  step.operand = static_cast<int>(problem.inputs.size());
  problem.inputs.push_back(desc);
  problem.epilogue.push_back(step);
  return {};
}

// "then gemm(r0 w:float32[5x7]) ..." as "gemm(r0 2) ...": inputs of its own become the problem's.
Result<std::string> numbered(const std::string& text, Problem& problem) {
  const size_t open = text.find('('), close = text.find(')');
  if (!text.starts_with("then ") || close == std::string::npos || open > close)
    return bad(text, "expected then OP(OPERAND...)");
  std::string operands;
  for (std::string word : words_of(text.substr(open + 1, close - open - 1))) {
    if (word.find('[') != std::string::npos) {
      TRY(auto desc, parse_desc(word));
      word = std::to_string(problem.inputs.size());
      problem.inputs.push_back(std::move(desc));
    }
    operands += (operands.empty() ? "" : " ") + word;
  }
  return text.substr(5, open - 4) + operands + text.substr(close);
}

// The operators behind the anchor, with the types between them.
Status parse_region(const std::vector<std::string>& texts, Problem& problem) {
  std::vector<std::string> operators;
  for (const std::string& text : texts) {
    TRY(operators.emplace_back(), numbered(text, problem));
  }
  for (const std::string& text : operators) {
    TRY(problem.rest.emplace_back(), parse_region_op(text, problem.inputs.size()));
  }
  std::vector<const Tensor*> constants;
  for (const TensorDesc& desc : problem.inputs)
    constants.push_back(desc.value ? &*desc.value : nullptr);
  TRY(problem.inner, region_types(problem, constants));
  problem.outputs = {{problem.inner.back()}};
  problem.inner.pop_back();
  return {};
}

Result<Problem> parse_reformat(std::string_view text, const std::vector<std::string>& parts) {
  if (parts.size() != 3) return bad(text, "expected reformat | TYPE[DIMS] | FORMAT -> FORMAT");
  TRY(TensorDesc desc, parse_desc(words_of(parts[1])[0]));
  std::vector<std::string> words = words_of(parts[2]);
  if (words.size() != 3) return bad(text, "expected FORMAT -> FORMAT");
  TRY(Format from, parse_format(words[0]));
  TRY(Format to, parse_format(words[2]));
  return reformat_problem(desc.type, from, to);
}

}  // namespace

Result<Problem> parse_problem(std::string_view text) {
  std::vector<std::string> parts = parts_of(text);
  if (parts.size() < 2) return bad(text, "expected an operator and its inputs");
  std::vector<std::string> head = words_of(parts[0]);
  if (head.empty()) return bad(text, "no operator");
  if (head[0] == "reformat") return parse_reformat(text, parts);
  Problem problem;
  auto op = parse_op(head[0], attributes_of(head, 1));
  if (!op.ok()) return bad(text, op.error().message);
  problem.op = *op;
  std::vector<Operand> operands;
  for (const std::string& word : words_of(parts[1])) {
    TRY(auto desc, parse_desc(word));
    problem.inputs.push_back(std::move(desc));
  }
  for (const TensorDesc& desc : problem.inputs) {
    operands.push_back({desc.present, desc.type, desc.value ? &*desc.value : nullptr});
  }
  auto types = infer_types(problem.op, operands);
  if (!types.ok()) return bad(text, types.error().message);
  for (const TensorType& type : *types) problem.outputs.push_back({type});
  problem.anchor_inputs = static_cast<int>(problem.inputs.size());
  if (parts.size() > 2 && parts[2].starts_with("then ")) {
    const Status region = parse_region({parts.begin() + 2, parts.end()}, problem);
    if (!region.ok()) return bad(text, region.error().message);
    return problem;
  }
  for (size_t i = 2; i < parts.size(); ++i) {
    if (Status s = parse_step(parts[i], problem); !s.ok()) return bad(text, s.error().message);
  }
  return problem;
}

}  // namespace enginery
