// Where the queue is kept: the seam between the core's row changes and a database.
//
// Where: the queue driver writes the core's row changes here and answers its lookups from here. The
// server uses the SQLite store (make_sqlite_store), the simulator one in memory;
// tests/coordinator/store/store_test.cpp holds both to the same promises. Knows rows only, not the
// core. Threads: one thread at a time.
#pragma once

#include <memory>

#include "coordinator/store/queue_rows.h"

namespace enginery {

class Catalog;

// What is stored as the answer to a key.
struct StoredAnswer {
  std::optional<StepResult> result;  // the newest one whose blobs are all in the store
  int64_t next_generation = 1;       // that a new result of the key would have
};

class QueueStore {
 public:
  virtual ~QueueStore() = default;

  // Everything that was committed. Errors: corrupt_data for rows that this program cannot read.
  virtual Result<LoadedQueue> load() = 0;

  // A transaction: what apply() wrote between begin() and commit() is durable after commit() or
  // never happened. After an error the transaction is to be rolled back.
  virtual Status begin() = 0;
  // Errors: storage; not_found when a blob that the change names is not in the store.
  virtual Status apply(const RowChange& change) = 0;
  virtual Status commit() = 0;
  virtual void roll_back() = 0;

  // What answers the key, as the open transaction sees it.
  virtual Result<StoredAnswer> look_up(const Digest& key) = 0;
};

// Over the catalog's database, in the tables of coordinator/README.md and the catalog's own.
// `catalog` outlives it.
Result<std::unique_ptr<QueueStore>> make_sqlite_store(Catalog& catalog);

}  // namespace enginery
