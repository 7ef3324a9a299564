// What the queue keeps of jobs that have ended: dropped at a start, before the queue is loaded.
// Threads: a free function; the database is thread-safe.
#pragma once

#include "cache/sqlite.h"

namespace enginery {

struct QueueHistory {
  int64_t ended_before_ns = 0;  // wall time: jobs that ended earlier go
  int64_t jobs_kept = 20'000;   // and all but the newest of so many numbers
};

// Drops ended jobs beyond the limits, with their targets, and the ended steps and attempts that no
// remaining job made, and keys that neither a step nor a result has. The newest job and step stay,
// so that no number is used twice. Says how many jobs went. storage.
Result<int64_t> prune_queue_history(Database& database, const QueueHistory& keep);

}  // namespace enginery
