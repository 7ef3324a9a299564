// Keeps the coordinator's folder from growing for ever, in a thread of its own.
//
// Where: one for each Coordinator, beside its sockets' threads. Every ten minutes: logs of ended
// jobs, forgotten uploads and old evidence of damage go; engines' parts share the engines' files;
// and above the high watermark the collection takes what nobody needs, oldest first. What fails is
// logged and tried again. Threads: the object owns its thread; everything given is thread-safe.
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
  GcOptions collection;  // in_use and bytes_to_free are found out each time
};

class Housekeeper {
 public:
  // Everything given outlives it. `reader` is the catalog over a connection of its own, which
  // nobody else uses at the same time for long.
  Housekeeper(Catalog& catalog, Catalog& reader, BlobWriter& writer, LogStore& logs,
              Housekeeping rules);
  ~Housekeeper();  // after the round in hand

  // One round; for tests, and for the thread.
  Status tidy();

 private:
  void run();
  Status collect();

  Catalog& catalog_;
  Catalog& reader_;
  BlobWriter& writer_;
  LogStore& logs_;
  const Housekeeping rules_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace enginery
