#include "coordinator/store/sqlite_store.h"

namespace enginery {
namespace {

// Enumerations are the numbers of schemas/values.h and pipeline/step.h; times are wall-clock
// nanoseconds.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE queue_job(
  number INTEGER PRIMARY KEY,
  request_high INTEGER NOT NULL,
  request_low INTEGER NOT NULL,
  state INTEGER NOT NULL,
  submitted_ns INTEGER NOT NULL,
  ended_ns INTEGER NOT NULL,
  request BLOB NOT NULL,           -- the submit message, in the wire's form
  UNIQUE(request_high, request_low)
);
CREATE TABLE queue_target(
  job INTEGER NOT NULL REFERENCES queue_job(number) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  state INTEGER NOT NULL,
  source INTEGER NOT NULL,
  engine BLOB,
  latency_ms REAL NOT NULL,
  size_bytes INTEGER NOT NULL,
  timings_measured INTEGER NOT NULL,
  timings_reused INTEGER NOT NULL,
  fault_code INTEGER,
  fault_message TEXT,
  uses BLOB NOT NULL,
  PRIMARY KEY(job, position)
) WITHOUT ROWID;
CREATE TABLE queue_step(
  id INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  key BLOB NOT NULL CHECK(length(key) = 32),
  generation INTEGER NOT NULL,
  sku TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  provisional INTEGER NOT NULL,
  state INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  worker TEXT NOT NULL,
  incarnation INTEGER NOT NULL,
  device TEXT NOT NULL,
  commits INTEGER NOT NULL,
  fault_code INTEGER NOT NULL,
  fault_message TEXT NOT NULL
);
CREATE TABLE queue_attempt(
  step INTEGER NOT NULL REFERENCES queue_step(id) ON DELETE CASCADE,
  epoch INTEGER NOT NULL,
  worker TEXT NOT NULL,
  incarnation INTEGER NOT NULL,
  started_ns INTEGER NOT NULL,
  ended_ns INTEGER NOT NULL,
  outcome INTEGER,
  message TEXT NOT NULL,
  PRIMARY KEY(step, epoch)
) WITHOUT ROWID;
CREATE TABLE queue_sku(
  sku TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  seen_ns INTEGER NOT NULL
) WITHOUT ROWID;
)sql";

constexpr Migration kMigrations[] = {{1, kVersion1}};

}  // namespace

std::span<const Migration> queue_migrations() {
  return kMigrations;
}

}  // namespace enginery
