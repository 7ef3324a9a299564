// Expectation: what right outputs of a problem are on some inputs, element by element, and how far
// from it a right result may be.
//
// Where: a probe makes one for each resolution of its numbers and compares every tactic's outputs
// with it (comparison.h). Immutable; thread-safe.
#pragma once

#include <vector>

#include "engine/tactics/problem.h"
#include "tuner/gate/probe_data.h"

namespace enginery {

// How results are compared.
enum class Closeness {
  bounded,  // within the element's error bound
  whole,    // sums of small whole numbers: equal; through transforms within less than half
  equal,    // no arithmetic that rounds: equal to the expected value as the tactic stores it
};

struct ExpectedOutput {
  std::vector<int64_t> elements;  // row-major numbers of those that are compared, ascending
  // Of these; float64 where the output is floating or `rounds`, else its type.
  Tensor values;
  std::vector<double> magnitudes;  // parallel, for floating outputs
  Closeness closeness = Closeness::bounded;
  int64_t nans = 0;          // among the values
  double largest_inner = 0;  // magnitude of what a region passes on inside
  // The tactic rounds to whole numbers what `values` hold as float64: it may be off by half a step
  // more than the bound.
  bool rounds = false;
};

// How much of each output is computed and compared. A region is computed and compared in full,
// unless it is one of sampled_region.h.
struct Coverage {
  int64_t elements = 4096;  // at least, where there are so many
  int64_t terms = 0;        // or as many as this many multiplications reach
};

// Parallel to the problem's outputs. Errors: those of the reference.
Result<std::vector<ExpectedOutput>> expected_outputs(const Problem& problem, const ProbeData& data,
                                                     Resolution resolution, Coverage coverage);

// Whether more than half of an output's values are NaN: nothing can be checked on them.
bool is_mostly_nan(const ExpectedOutput& output);

// The spec, or the first of a few others by its seed, symmetric ones at last, on whose inputs most
// results are not NaN. The first operator's inputs are drawn from its domain; but in a region that
// takes a power of what it computed, the sign of one weight may make every result NaN.
ProbeSpec usable_draw(const Problem& problem, ProbeSpec spec, Coverage coverage);

// Whether the reference computes single elements, so that large shapes cost no more than small
// ones.
bool is_sampled(const Problem& problem);

// Whether every output of the problem is whole numbers that any order of summing gives exactly,
// when its inputs are those of the integers probe.
bool is_exact_on_integers(const Problem& problem);

}  // namespace enginery
