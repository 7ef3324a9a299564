// What the tests of slices share: plans in which convolutions write and read with a pitch, and what
// is in them.
#pragma once

#include "engine/plan/slices.h"
#include "tests/engine/plan/plan_support.h"

namespace enginery {

inline const PlanTensor& tensor(const Plan& plan, const std::string& name, const Format& format) {
  for (const PlanTensor& t : plan.tensors) {
    if (t.name == name && t.format == format) return t;
  }
  ADD_FAILURE() << "no " << name;
  return plan.tensors[0];
}

inline const Format kOf24 = with_pitch(kNhwc, 24);

enum class Reading { not_pitched, pitched };

inline Result<Plan> pitched_plan(const std::string& body, int streams = 1,
                                 Reading reading = Reading::not_pitched) {
  Fixture f;
  f.source->writes_pitched = true;
  f.source->reads_pitched = reading == Reading::pitched;
  TRY(const Network network, f.lower_text(body));
  TRY(TacticSelection selection, analytic_choice(network, f.sources));
  selection.streams = streams;
  return make_plan(network, selection);
}

using Names = std::vector<std::string>;
inline Names step_names(const Plan& plan) {
  Names out;
  for (const PlanStep& step : plan.steps) out.push_back(step.name);
  return out;
}

}  // namespace enginery
