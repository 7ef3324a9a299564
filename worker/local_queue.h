// The queue of a farm of one: the core's rows, of which only what belongs to the catalog is
// written.
//
// Where: local_farm.cpp feeds it the core's effects. Jobs, steps and attempts of a local build end
// with its process, so they need no table; results and engines go to the catalog as the
// coordinator's store puts them there. Threads: one.
#pragma once

#include <map>
#include <optional>

#include "cache/catalog.h"
#include "coordinator/core/core.h"

namespace enginery {

// Which stored results a build may read.
enum class ReadResults : uint8_t {
  all,
  of_model,  // only those that no timing can change: the timings come from elsewhere
  built,     // all up to the content: it is verified again, on other inputs
  none,      // a rebuild
};

class LocalQueue {
 public:
  // `catalog` and `steps` outlive it.
  LocalQueue(Catalog& catalog, ReadResults reads, StepTable steps)
      : catalog_(catalog), reads_(reads), steps_(steps) {}

  // Carries out row changes in one transaction of the catalog. not_found: an output's blob is gone;
  // storage.
  Status write(const std::vector<RowChange>& rows);
  // The newest complete result of the key, where it may be read, and the generation of the next
  // one.
  Result<LookupAnswer> look_up(const Lookup& lookup);

  // The target as last saved, and its engine once it has one.
  const TargetRow& target() const { return target_; }
  const std::optional<EngineView>& engine() const { return engine_; }
  // A result that was found or written; null: neither.
  const StepResult* result_of(const Digest& key) const;

 private:
  bool may_read(StepKind kind) const;
  Status commit(const CommitResult& commit);
  Status add(const EngineView& engine);

  Catalog& catalog_;
  const ReadResults reads_;
  const StepTable steps_;
  std::map<Digest, Bytes>
      keys_;  // recorded with their results, so that a build that fails leaves nothing
  std::map<Digest, StepResult> results_;
  TargetRow target_;
  std::optional<EngineView> engine_;
};

}  // namespace enginery
