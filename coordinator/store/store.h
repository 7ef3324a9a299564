// Where the queue is kept: the seam between the core's row changes and a database.
//
// Where: the server uses the SQLite one (make_sqlite_store), the simulator one in memory;
// tests/coordinator/store_test.cpp holds both to the same promises. Threads: one thread at a time.
#pragma once

#include <memory>

#include "coordinator/core/core.h"

namespace enginery {

class Catalog;

class QueueStore {
 public:
  virtual ~QueueStore() = default;

  // Everything that was committed.
  virtual Result<LoadedQueue> load() = 0;

  // A transaction: what apply() wrote between begin() and commit() is durable after commit() or
  // never happened.
  virtual Status begin() = 0;
  virtual Status apply(const RowChange& change) = 0;
  virtual Status commit() = 0;
  virtual void roll_back() = 0;

  // The newest complete result of the key as this transaction sees it, and the next generation.
  virtual Result<LookupAnswer> look_up(const Lookup& lookup) = 0;
};

// Over the catalog's database, in the tables of coordinator/README.md and the catalog's own.
// `catalog` outlives it.
Result<std::unique_ptr<QueueStore>> make_sqlite_store(Catalog& catalog);

}  // namespace enginery
