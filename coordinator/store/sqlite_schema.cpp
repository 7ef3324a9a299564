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

// Processes that ended while they ran a key's step, workers that get no work, and every toolchain
// of a SKU instead of the latest.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE queue_key_trouble(
  key BLOB PRIMARY KEY CHECK(length(key) = 32),
  kills INTEGER NOT NULL,
  latest_ns INTEGER NOT NULL,
  evidence TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE queue_quarantine(
  worker TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  since_ns INTEGER NOT NULL
) WITHOUT ROWID;
ALTER TABLE queue_sku RENAME TO queue_sku_1;
CREATE TABLE queue_sku(
  sku TEXT NOT NULL,
  kind TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  seen_ns INTEGER NOT NULL,
  PRIMARY KEY(sku, toolchain)
) WITHOUT ROWID;
INSERT INTO queue_sku(sku, kind, toolchain, seen_ns)
  SELECT sku, kind, toolchain, seen_ns FROM queue_sku_1;
DROP TABLE queue_sku_1;
)sql";

// Steps that only measure for another one.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE queue_step ADD COLUMN assists INTEGER NOT NULL DEFAULT 0;  -- a step; 0: none
)sql";

// In whose trust domain a job is; '' is the default one.
constexpr const char* kVersion4 =
    "ALTER TABLE queue_job ADD COLUMN tenant TEXT NOT NULL DEFAULT ''";

// What was asked of a worker's process: a drain, or its end.
constexpr const char* kVersion5 = R"sql(
CREATE TABLE queue_wish(
  worker TEXT PRIMARY KEY,
  wish INTEGER NOT NULL,
  incarnation INTEGER NOT NULL
) WITHOUT ROWID;
)sql";

// How near an engine comes to the float model, on how many rows (0: not measured), and what its
// scales come from.
constexpr const char* kVersion6 = R"sql(
ALTER TABLE queue_target ADD COLUMN accuracy_rows INTEGER NOT NULL DEFAULT 0;
ALTER TABLE queue_target ADD COLUMN sqnr_db REAL NOT NULL DEFAULT 0;
ALTER TABLE queue_target ADD COLUMN agreement REAL NOT NULL DEFAULT -1;
ALTER TABLE queue_target ADD COLUMN top1 REAL NOT NULL DEFAULT -1;
ALTER TABLE queue_target ADD COLUMN float_top1 REAL NOT NULL DEFAULT -1;
ALTER TABLE queue_target ADD COLUMN calibration TEXT NOT NULL DEFAULT '';
)sql";

// What a finished target says of its engine.
constexpr const char* kVersion7 =
    "ALTER TABLE queue_target ADD COLUMN note TEXT NOT NULL DEFAULT ''";

constexpr Migration kMigrations[] = {{1, kVersion1}, {2, kVersion2}, {3, kVersion3}, {4, kVersion4},
                                     {5, kVersion5}, {6, kVersion6}, {7, kVersion7}};

}  // namespace

std::span<const Migration> queue_migrations() {
  return kMigrations;
}

}  // namespace enginery
