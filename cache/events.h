// The journal: one row for every transition of a job, in order. Threads: thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/sqlite.h"

namespace enginery {

struct CatalogEvent {
  int64_t sequence = 0;  // grows, never reused; given by append
  std::string job;       // empty: of the farm
  int64_t time_ns = 0;   // wall time
  std::string kind;
  std::string json;
};

class Events {
 public:
  explicit Events(Database& database) : database_(database) {}

  // Appends inside the caller's transaction where there is one; says the sequence number.
  Result<int64_t> append(const CatalogEvent& event);
  // The events after `after`, oldest first, `limit` at most; an empty job means all of them.
  Result<std::vector<CatalogEvent>> list(std::string_view job, int64_t after, int64_t limit);
  // Behind which sequence number the newest `count` events of the job (or of all) are, and behind
  // which those of this time and later.
  Result<int64_t> before_newest(std::string_view job, int64_t count);
  Result<int64_t> before_time(int64_t time_ns);

 private:
  Database& database_;
};

}  // namespace enginery
