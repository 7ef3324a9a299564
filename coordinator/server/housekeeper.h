// Keeps the coordinator's folder from growing for ever, in a thread of its own.
//
// Where: one for each Coordinator, beside its sockets' threads. Every ten minutes: logs of ended
// jobs, forgotten uploads, old evidence of damage, old events and lost results go; engines' parts
// share the engines' files; and above the high watermark the collection takes what nobody needs,
// oldest first. What fails is logged and tried again. Threads: the object owns its thread;
// everything given is thread-safe.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "cache/blob_writer.h"
#include "cache/gc.h"
#include "coordinator/server/log_store.h"

namespace enginery {

struct Housekeeping {
  std::chrono::milliseconds every{std::chrono::minutes(10)};
  Watermarks watermarks;
  LogRetention logs;
  std::chrono::hours history{30 * 24};  // of events, and of results that are lost
  int64_t events = 1'000'000;           // at most
  GcOptions collection;                 // in_use and bytes_to_free are found out each time
};

class Housekeeper {
 public:
  // Everything given by reference outlives it. `reader` is the catalog over a connection of its
  // own, so that long questions hold up nobody.
  Housekeeper(Catalog& catalog, std::unique_ptr<Catalog> reader, BlobWriter& writer, LogStore& logs,
              Housekeeping rules);
  ~Housekeeper();  // after the round in hand

  // One round; for tests, and for the thread.
  Status tidy();

 private:
  void run();
  Status collect();

  Catalog& catalog_;
  const std::unique_ptr<Catalog> reader_;
  BlobWriter& writer_;
  LogStore& logs_;
  const Housekeeping rules_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace enginery
