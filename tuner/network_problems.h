// NetworkProblems: comes to each distinct problem of a network once, alone or together with other
// tunings of the same network.
//
// Flow: what the store knows is read; of what it lacks a part compiles ahead and is measured, one
// problem after the other, each taken first (TimingStore::take), so that no two tunings measure the
// same. The part is all of it where nobody shares the work. What another tuning has in hand is come
// back to when all else is done, and read then; should its worker have died, it is measured here.
// So a tuning never depends on what others do, and ends with every timing in the store. Belongs to
// the tuner's thread.
#pragma once

#include "tuner/compile_ahead.h"
#include "tuner/problem_tuner.h"

namespace enginery {

// Where the n-th tuning that shares `count` problems begins among them: 0, 1/2, 1/4, 3/4, 1/8, ...
// of the way, as far from the others as may be.
size_t first_problem_of(int assistant, size_t count);

class NetworkProblems {
 public:
  // Both outlive it.
  NetworkProblems(MeasuringContext& context, ProblemTuner& problems)
      : context_(context), problems_(problems) {}

  // The times of all problems of the network, by their offer_key. Errors: ProblemTuner::time's,
  // within the layer.
  Result<std::map<std::string, ProblemTimes>> time_all(const Network& network);
  // Measures what is lacking and nobody else has in hand, and waits for nobody.
  Status measure_lacking(const Network& network);

 private:
  struct Item {
    std::string key;          // offer_key
    const NetworkNode* node;  // one of those that have the problem
    double share = -1;        // of the network's time, by estimates
    Effort effort = {};
    std::vector<const Tactic*> lacking = {};
    bool refused = false;  // somebody else had it in hand when it was last asked for
  };
  using Items = std::vector<Item>;
  using Distinct = std::map<std::string, const NetworkNode*>;  // by offer_key

  Distinct worthy_problems(const Network& network) const;
  Distinct ways_out(const Network& network) const;
  Result<Items> items_of(const Network& network, const Distinct& distinct);
  Status time(const Network& network, const Distinct& distinct);
  Status find_lacking(Item& item) const;
  Status finish(Item& item);
  Status measure(Items lacking);
  Result<bool> measure_part(Items& part);
  Result<Taking> take(const Item& item);
  Status compile(const Items& part, std::unique_ptr<CompileAhead>& ahead) const;
  void say_progress() const;

  MeasuringContext& context_;
  ProblemTuner& problems_;
  std::map<std::string, ProblemTimes> times_;
  int finished_ = 0;  // of counts().problems
  int sharers_ = 1;
};

}  // namespace enginery
