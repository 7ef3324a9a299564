// The whole farm on one screen: device types, workers, jobs.
//
// Where: `top`. Threads: free functions without state.
#pragma once

#include <string>
#include <vector>

#include "coordinator/views/json_values.h"
#include "schemas/values.h"

namespace enginery {

struct FarmOverview {
  std::vector<SkuView> skus;
  std::vector<WorkerView> workers;
  std::vector<JobLine> jobs;  // newest first
  int64_t time_ns = 0;        // when it was so
};

// A head line and three tables: what works first, then what has ended or gone.
std::string overview_text(const FarmOverview& farm);
// The first lines of the text that fit: `columns` wide and `rows` high.
std::string fitted(const std::string& text, int columns, int rows);
// enginery.top/1
Json overview_json(const FarmOverview& farm);

}  // namespace enginery
