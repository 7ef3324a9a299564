// A step's metrics, facts and fault as the JSON text that the catalog keeps as a result's
// `outcome`.
#pragma once

#include "coordinator/store/queue_rows.h"

namespace enginery {

// {"facts":{..},"fault":{"code":..,"message":..},"metrics":{..}}; fault only where there is one.
std::string outcome_json(const StepResult& result);

// Fills metrics, facts and fault. What is not there, or of another shape, stays empty: results also
// come from local builds.
void read_outcome_json(const std::string& json, StepResult& result);

// {"name":"value", ...}
std::string fields_json(const std::vector<NamedText>& fields);

}  // namespace enginery
