#include "tuner/compile_ahead.h"

#include <algorithm>

#include "engine/plan/network.h"

namespace enginery {

CompileAhead::CompileAhead(const TacticSources& sources, std::vector<Job> jobs) : sources_(sources), jobs_(std::move(jobs)) {
  const size_t beside_the_timing = std::max(2u, std::thread::hardware_concurrency()) - 1;
  for (size_t i = 0; i < std::min(beside_the_timing, jobs_.size()); ++i) threads_.emplace_back([this] { take_jobs(); });
}

CompileAhead::~CompileAhead() { next_ = jobs_.size(); }

void CompileAhead::take_jobs() {
  for (size_t i = next_++; i < jobs_.size(); i = next_++) {
    const Job& job = jobs_[i];
    (void)find_source(sources_, job.tactic->source)->compile(*job.problem, *job.tactic);
  }
}

}  // namespace enginery
