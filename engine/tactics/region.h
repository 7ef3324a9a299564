// Regions: problems of a few operators in order, wired, that one tactic may run at once. Today's
// problem is the region of one operator.
//
// Where: sources say what they may run (RegionPattern), lowering looks for it in the graph and asks
// them; key, engine file, reference and the tuner's gate read a region through the functions below.
// Values; free functions without state, thread-safe.
#pragma once

#include <span>

#include "engine/tactics/problem.h"

namespace enginery {

// Operators that a source may run as one, in order. A region fits where each operator fits its
// place and reads at least the results of those places; what else it reads comes from outside, and
// so nobody outside reads any result but the last.
struct RegionPattern {
  // How what comes from outside and is a dequantised value of run time gets into the region: in
  // float, or as the integers, with the Dequantize between them in the region, too.
  enum class Operands { in_float, dequantized };
  struct Place {
    bool (*fits)(const Op& op);
    // Earlier places. Empty for the first, and for one that is found from a later place that reads
    // it.
    std::vector<size_t> reads;
  };
  std::vector<Place> places;
  Operands operands = Operands::in_float;
};

// A place for these operators, whatever their attributes.
template <typename... Ops>
bool is_operator(const Op& op) {
  return (std::holds_alternative<Ops>(op) || ...);
}

// Places of which each reads the one before.
RegionPattern chain_of(const std::vector<bool (*)(const Op&)>& operators);

// One operator of a region as a problem of its own, which takes the results of others as inputs.
struct RegionPart {
  Problem problem;
  std::vector<int> operands;  // as RegionOp::operands, parallel to the problem's inputs
};
// All operators in order; a problem of one operator is its own part.
std::vector<RegionPart> operators_of(const Problem& problem);

// "conv+act+pool": the names of all operators.
std::string operator_names(const Problem& problem);

// "pool(r0) kernel=[2,2] ...": an operator of a region over `inputs` inputs, as it is in keys and
// engine files. Operands are rN, the result of operator N, a number, that input, or _, absent.
std::string region_op_text(const RegionOp& op, size_t inputs);
// Errors: invalid_argument.
Result<RegionOp> parse_region_op(std::string_view text, size_t inputs);
// "a=1 b=[2,3]" as pairs. Errors: invalid_argument.
Result<std::map<std::string, std::string>> parse_attributes(std::string_view text);

// The types of all operators' results, in order, inferred from the inputs alone. `constants` run
// parallel to them, null where no value is known. Errors: invalid_argument (no region, an operand
// that no input and no earlier operator gives, a result that nothing reads, the operators' own
// rules), unsupported.
Result<std::vector<TensorType>> region_types(const Problem& problem,
                                             std::span<const Tensor* const> constants);

// The results of all operators by their references, floating ones in `wide` (float32, float64) or
// wider: nothing between two operators is rounded. `inputs` as in the problem, null where absent.
Result<std::vector<Tensor>> region_results(const Problem& problem,
                                           std::span<const Tensor* const> inputs, DataType wide);

}  // namespace enginery
