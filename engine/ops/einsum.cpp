#include "engine/ops/einsum.h"

#include <algorithm>

#include "engine/ops/support.h"

namespace enginery {
namespace {

// A letter's code, or kEllipsis + n for the n-th dimension from the right that "..." stands for.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = 1000;
constexpr std::string_view kDots = "...";

Error bad_equation(const std::string& equation, const std::string& reason) {
  return rule_error(Einsum::kName, "equation '" + equation + "': " + reason);
}

// One term such as "b...ij", in which the dots stand for `hidden` dimensions.
Result<Labels> read_term(const std::string& equation, std::string_view term, int64_t hidden) {
  Labels labels;
  bool dotted = false;
  while (!term.empty()) {
    if (term.starts_with(kDots) && !dotted) {
      for (int64_t i = hidden; i-- > 0;) labels.push_back(kEllipsis + static_cast<Label>(i));
      term.remove_prefix(kDots.size());
      dotted = true;
    } else if ((term[0] >= 'a' && term[0] <= 'z') || (term[0] >= 'A' && term[0] <= 'Z')) {
      labels.push_back(term[0]);
      term.remove_prefix(1);
    } else {
      return bad_equation(equation, "expected letters, one '...' a term, commas and '->'");
    }
  }
  return labels;
}

struct Terms {
  std::vector<std::string_view> inputs;
  std::optional<std::string_view> output;
};

Terms split_terms(std::string_view equation) {
  Terms terms;
  if (size_t arrow = equation.find("->"); arrow != equation.npos) {
    terms.output = equation.substr(arrow + 2);
    equation = equation.substr(0, arrow);
  }
  for (size_t at = 0; at <= equation.size();) {
    const size_t comma = std::min(equation.find(',', at), equation.size());
    terms.inputs.push_back(equation.substr(at, comma - at));
    at = comma + 1;
  }
  return terms;
}

// All labels with their sizes, the output's first; the rest is summed over.
struct Summation {
  std::vector<Labels> inputs;
  Labels output, summed;
  std::vector<std::pair<Label, int64_t>> sizes;

  int64_t* find(Label label) {
    for (auto& [name, size] : sizes) {
      if (name == label) return &size;
    }
    return nullptr;
  }
};

Status add_sizes(Summation& s, const std::string& equation, const Labels& labels,
                 const Dims& dims) {
  for (size_t d = 0; d < labels.size(); ++d) {
    int64_t* known = s.find(labels[d]);
    if (!known) {
      s.sizes.push_back({labels[d], dims[d]});
      continue;
    }
    const auto joined = broadcast({*known}, {dims[d]});
    if (!joined.ok()) return joined.error().within("einsum: equation '" + equation + "'");
    *known = (*joined)[0];
  }
  return {};
}

Labels implied_output(const std::vector<Labels>& inputs) {
  Labels hidden, once;
  std::vector<Label> all;
  for (const Labels& term : inputs) all.insert(all.end(), term.begin(), term.end());
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) {
    const bool first = i == 0 || all[i - 1] != all[i],
               last = i + 1 == all.size() || all[i + 1] != all[i];
    if (all[i] >= kEllipsis && first) hidden.insert(hidden.begin(), all[i]);
    if (all[i] < kEllipsis && first && last) once.push_back(all[i]);
  }
  hidden.insert(hidden.end(), once.begin(), once.end());
  return hidden;
}

Result<Summation> read_equation(const Einsum& op, const std::vector<Dims>& dims) {
  Terms terms = split_terms(op.equation);
  if (terms.inputs.size() != dims.size()) {
    return bad_equation(op.equation, "it has " + std::to_string(terms.inputs.size()) +
                                         " terms for " + std::to_string(dims.size()) + " inputs");
  }
  Summation s;
  int64_t widest = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::string_view term = terms.inputs[i];
    const bool dotted = term.find(kDots) != term.npos;
    const int64_t hidden = static_cast<int64_t>(dims[i].size()) -
                           static_cast<int64_t>(term.size() - (dotted ? kDots.size() : 0));
    if (hidden < 0 || (hidden > 0 && !dotted)) {
      return bad_equation(op.equation,
                          "term '" + std::string(term) + "' does not fit " + to_string(dims[i]));
    }
    widest = std::max(widest, hidden);
    TRY(Labels labels, read_term(op.equation, term, hidden));
    CHECK_OK(add_sizes(s, op.equation, labels, dims[i]));
    s.inputs.push_back(std::move(labels));
  }
  s.output = implied_output(s.inputs);
  if (terms.output) {
    TRY(s.output, read_term(op.equation, *terms.output, widest));
  }
  for (size_t i = 0; i < s.output.size(); ++i) {
    const bool twice = std::find(s.output.begin(), s.output.begin() + static_cast<int64_t>(i),
                                 s.output[i]) != s.output.begin() + static_cast<int64_t>(i);
    if (twice || !s.find(s.output[i]))
      return bad_equation(op.equation, "an output letter is repeated or unknown");
  }
  for (const auto& [label, size] : s.sizes) {
    if (std::find(s.output.begin(), s.output.end(), label) == s.output.end())
      s.summed.push_back(label);
  }
  return s;
}

// How far one operand moves for each of `labels`: a repeated letter walks its diagonal, a size of 1
// stays.
Dims strides_for(const Labels& labels, const Labels& own, const Dims& dims) {
  Dims strides(labels.size(), 0), all = strides_of(dims);
  for (size_t d = 0; d < own.size(); ++d) {
    const auto at = std::find(labels.begin(), labels.end(), own[d]);
    if (at != labels.end() && dims[d] != 1)
      strides[static_cast<size_t>(at - labels.begin())] += all[d];
  }
  return strides;
}

Dims sizes_for(Summation& s, const Labels& labels) {
  Dims sizes;
  for (Label l : labels) sizes.push_back(*s.find(l));
  return sizes;
}

// The positions of every operand for every index of `labels`: positions[operand][i].
std::vector<std::vector<int64_t>> positions_for(Summation& s, const Labels& labels,
                                                ReferenceInputs in) {
  const Dims sizes = sizes_for(s, labels);
  std::vector<std::vector<int64_t>> positions(
      in.size(), std::vector<int64_t>(static_cast<size_t>(volume(sizes))));
  for (size_t t = 0; t < in.size(); ++t) {
    for_each_mapped(sizes, strides_for(labels, s.inputs[t], in[t]->dims()),
                    [&](int64_t i, int64_t j) { positions[t][static_cast<size_t>(i)] = j; });
  }
  return positions;
}

std::vector<Dims> dims_of(ReferenceInputs in) {
  std::vector<Dims> dims;
  for (const Tensor* t : in) dims.push_back(t->dims());
  return dims;
}

}  // namespace

InferredTypes infer(const Einsum& op, Operands in) {
  const std::string_view name = Einsum::kName;
  CHECK_OK(require_inputs(name, in, 1, SIZE_MAX));
  std::vector<Dims> dims;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].present) return rule_error(name, "input " + std::to_string(i) + " is absent");
    CHECK_OK(require_same_type(name, in, {0, i}));
    dims.push_back(in[i].type.dims);
  }
  if (in[0].type.type == DataType::boolean)
    return rule_error(name, "expected numbers, got " + to_string(in[0].type));
  TRY(Summation s, read_equation(op, dims));
  CHECK_OK(require_representable({DataType::int8, sizes_for(s, s.summed)}));
  return std::vector<TensorType>{{in[0].type.type, sizes_for(s, s.output)}};
}

Status reference(const Einsum& op, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  TRY(Summation s, read_equation(op, dims_of(in)));
  const auto kept = positions_for(s, s.output, in), summed = positions_for(s, s.summed, in);
  const size_t terms = summed[0].size();
  return with_number_type(in[0]->type(), [&](auto type) -> Status {
    using T = decltype(type);
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    std::vector<const T*> from;
    for (const Tensor* t : in) from.push_back(elements<T>(*t));
    T* y = elements<T>(out[0]);
    for (size_t i = 0; i < kept[0].size(); ++i) {
      Sum sum{};
      for (size_t k = 0; k < terms; ++k) {
        Sum product = 1;
        for (size_t t = 0; t < from.size(); ++t)
          product *= static_cast<Sum>(from[t][kept[t][i] + summed[t][k]]);
        sum += product;
      }
      y[i] = static_cast<T>(sum);
    }
    return {};
  });
}

}  // namespace enginery
