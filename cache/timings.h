// The timing cache's rows: what was measured for a tactic, on a problem, on a device with its
// software.
//
// The bytes of both keys are kept, so that a miss can say in what it differs. The entry is JSON
// that the tuner writes and reads; nothing here looks into it. Threads: thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/action_key.h"
#include "cache/sqlite.h"
#include "engine/base/clock.h"

namespace enginery {

struct TimingRow {
  Digest device;   // key of device and software
  Digest problem;  // key of the problem
  std::string tactic;
  std::string entry;        // JSON: samples or failure, device state
  int64_t measured_ns = 0;  // wall time
};

// A stored timing key that comes closest to a wanted one.
struct NearestTimingKey {
  Digest digest;
  ActionKey fields;
  std::vector<KeyDifference> differs;
};

class Timings {
 public:
  Timings(Database& database, const Clock& clock) : database_(database), clock_(clock) {}

  // Keeps a key's bytes; needed before rows that name it. Repeatable.
  Status record_key(const ActionKey& key);
  Result<ActionKey> find_key(const Digest& digest);

  // Adds rows in one transaction; of two for the same device, problem and tactic the later measured
  // one stays. Nothing counts as measured after now: a worker whose clock is ahead would win for
  // ever. Says how many rows it added or replaced. not_found: a key was not recorded.
  Result<int64_t> put(std::span<const TimingRow> rows);

  // All rows of a device, in problem and tactic order; those of one problem.
  Result<std::vector<TimingRow>> of_device(const Digest& device);
  Result<std::vector<TimingRow>> of_problem(const Digest& device, const Digest& problem);
  // Hands out the rows of the device, of `first` and the problems behind it, in problem and tactic
  // order, until `take` returns false; costs these rows only.
  Status from_problem(const Digest& device, const Digest& first,
                      const std::function<bool(TimingRow)>& take);

  // The devices that have rows, with their number.
  Result<std::vector<std::pair<Digest, int64_t>>> devices();

  // Drops all rows of the device, and the keys that no row has any more. Says how many rows went.
  Result<int64_t> clear(const Digest& device);

  // The recorded key of the same kind that differs in the fewest fields; nothing when there is
  // none.
  Result<std::optional<NearestTimingKey>> nearest(const ActionKey& key);

 private:
  Database& database_;
  const Clock& clock_;
};

}  // namespace enginery
