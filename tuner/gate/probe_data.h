// ProbeData: the numbers on which a tactic is tried: three kinds of them, each drawn afresh for
// every seed, in the domain of the operator (domain.h).
//
// Where: probe.h runs tactics on them, a measurement fixture times on the symmetric ones. Threads:
// all functions may be called from any thread.
#pragma once

#include <map>
#include <mutex>

#include "engine/tactics/tactic.h"

namespace enginery {

// What each kind shows:
//   symmetric  numbers of both signs, of one size: wrong elements, wrong places
//   wide       numbers >= 0 over three decades, where nothing cancels: sums in a type too narrow
//              lose their small terms
//   integers   small whole numbers, on which sums are exact: a single term too few or too many
enum class ProbeKind { symmetric, wide, integers };
std::string_view to_string(ProbeKind kind);

struct ProbeSpec {
  ProbeKind kind = ProbeKind::symmetric;
  uint64_t seed = 1;
};

// How many significant bits the numbers have that a tactic promises to read exactly: 24, 11 (tf32
// and float16) or 8 (bfloat16). Probes hold no more of them, so that what a tactic differs by is
// its arithmetic and nothing else.
enum class Resolution { full, half, bfloat };
// Of the narrowest type in which the tactic reads or multiplies.
Resolution resolution_of(const Problem& problem, const Tactic& tactic);

class ProbeData {
 public:
  // `problem` outlives the data.
  ProbeData(const Problem& problem, ProbeSpec spec);

  // Parallel to the problem's inputs, empty where one is absent; its own value where the problem
  // fixes one. The same for the same seed, however many threads there are.
  const std::vector<Tensor>& inputs(Resolution resolution) const;
  // The same as pointers, null where absent; and the constant ones alone.
  std::vector<const Tensor*> values(Resolution resolution) const;
  std::vector<const Tensor*> weights(Resolution resolution) const;
  const ProbeSpec& spec() const { return spec_; }

 private:
  const Problem& problem_;
  const ProbeSpec spec_;
  mutable std::mutex mutex_;
  mutable std::map<Resolution, std::vector<Tensor>> inputs_;
};

// One input at full resolution; of a region in the domain of the first operator that reads it.
Tensor probe_input(const Problem& problem, size_t index, ProbeSpec spec);

}  // namespace enginery
