// The tables as a history of migrations; cache/README.md says what each table is for.
#include "cache/catalog.h"

namespace enginery {
namespace {

// Digests are BLOBs of 32 bytes, times are wall-clock nanoseconds since 1970 (suffix _ns).
// No table names a blob by foreign key: a blob may be lost, and then the rows that need it get
// gone_ns.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE blob(
  digest BLOB PRIMARY KEY CHECK(length(digest) = 32),
  size_bytes INTEGER NOT NULL CHECK(size_bytes >= 0),
  place INTEGER NOT NULL,          -- 0: table blob_bytes, 1: file sha256/ab/cdef...
  created_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE blob_bytes(
  digest BLOB PRIMARY KEY REFERENCES blob(digest) ON DELETE CASCADE,
  bytes BLOB NOT NULL
);
CREATE TABLE blob_lease(
  digest BLOB NOT NULL,
  owner TEXT NOT NULL,
  until_ns INTEGER NOT NULL,
  PRIMARY KEY(digest, owner)
) WITHOUT ROWID;

CREATE TABLE action(
  key BLOB PRIMARY KEY CHECK(length(key) = 32),
  kind TEXT NOT NULL,
  trust_domain TEXT NOT NULL,
  bytes BLOB NOT NULL,
  created_ns INTEGER NOT NULL
);
CREATE INDEX action_by_kind ON action(kind, created_ns);
CREATE TABLE result(
  key BLOB NOT NULL REFERENCES action(key),
  generation INTEGER NOT NULL CHECK(generation >= 1),
  success INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  created_ns INTEGER NOT NULL,
  gone_ns INTEGER,
  PRIMARY KEY(key, generation)
) WITHOUT ROWID;
CREATE TABLE result_output(
  key BLOB NOT NULL,
  generation INTEGER NOT NULL,
  name TEXT NOT NULL,
  digest BLOB NOT NULL CHECK(length(digest) = 32),
  PRIMARY KEY(key, generation, name),
  FOREIGN KEY(key, generation) REFERENCES result(key, generation) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX result_output_by_digest ON result_output(digest);
CREATE TABLE commit_log(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  key BLOB NOT NULL,
  generation INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  created_ns INTEGER NOT NULL
);
CREATE INDEX commit_log_by_key ON commit_log(key, generation);

CREATE TABLE engine(
  digest BLOB PRIMARY KEY CHECK(length(digest) = 32),
  content_digest BLOB NOT NULL CHECK(length(content_digest) = 32),
  model BLOB NOT NULL,
  sku TEXT NOT NULL,
  precision TEXT NOT NULL,
  key BLOB NOT NULL,
  size_bytes INTEGER NOT NULL,
  latency_ms REAL NOT NULL,
  provisional INTEGER NOT NULL,
  created_ns INTEGER NOT NULL,
  gone_ns INTEGER
);
CREATE TABLE engine_name(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  digest BLOB NOT NULL REFERENCES engine(digest) ON DELETE CASCADE,
  UNIQUE(name, digest)
);
CREATE INDEX engine_name_by_digest ON engine_name(digest);
CREATE TABLE engine_set(
  digest BLOB NOT NULL,            -- of the manifest
  sku TEXT NOT NULL,
  engine BLOB NOT NULL REFERENCES engine(digest),
  PRIMARY KEY(digest, sku)
) WITHOUT ROWID;
CREATE TABLE tag(
  name TEXT NOT NULL,
  tag TEXT NOT NULL,
  sku TEXT NOT NULL,
  engine BLOB NOT NULL REFERENCES engine(digest),
  created_ns INTEGER NOT NULL,
  PRIMARY KEY(name, tag, sku)
) WITHOUT ROWID;
CREATE TABLE pin(
  blob BLOB PRIMARY KEY,
  reason TEXT NOT NULL,
  created_ns INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE signature(
  engine BLOB NOT NULL REFERENCES engine(digest) ON DELETE CASCADE,
  key_id TEXT NOT NULL,
  signature BLOB NOT NULL,
  created_ns INTEGER NOT NULL,
  PRIMARY KEY(engine, key_id)
) WITHOUT ROWID;

CREATE TABLE timing_key(
  digest BLOB PRIMARY KEY CHECK(length(digest) = 32),
  kind TEXT NOT NULL,
  bytes BLOB NOT NULL
);
CREATE INDEX timing_key_by_kind ON timing_key(kind);
CREATE TABLE timing(
  device BLOB NOT NULL REFERENCES timing_key(digest),
  problem BLOB NOT NULL REFERENCES timing_key(digest),
  tactic TEXT NOT NULL,
  entry TEXT NOT NULL,             -- JSON, the tuner's
  measured_ns INTEGER NOT NULL,
  PRIMARY KEY(device, problem, tactic)
) WITHOUT ROWID;
CREATE INDEX timing_by_problem ON timing(problem);
CREATE TABLE calibration(
  key BLOB PRIMARY KEY CHECK(length(key) = 32),
  bytes BLOB NOT NULL,             -- of the key
  histograms BLOB NOT NULL,        -- digest of a blob
  created_ns INTEGER NOT NULL,
  gone_ns INTEGER
);

CREATE TABLE sku(name TEXT PRIMARY KEY, kind TEXT NOT NULL, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE worker(id TEXT PRIMARY KEY, sku TEXT NOT NULL, json TEXT NOT NULL, seen_ns INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE client(id TEXT PRIMARY KEY, name TEXT NOT NULL, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE event(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  job TEXT NOT NULL,
  time_ns INTEGER NOT NULL,
  kind TEXT NOT NULL,
  json TEXT NOT NULL
);
CREATE INDEX event_by_job ON event(job, sequence);
)sql";

// A blob that is stored again gives back to what needed it: engines and calibrations at once,
// results when it was the last that they lacked.
constexpr const char* kVersion2 = R"sql(
CREATE TRIGGER blob_returns AFTER INSERT ON blob BEGIN
  UPDATE engine SET gone_ns=NULL WHERE digest=NEW.digest AND gone_ns IS NOT NULL;
  UPDATE calibration SET gone_ns=NULL WHERE histograms=NEW.digest AND gone_ns IS NOT NULL;
  UPDATE result SET gone_ns=NULL WHERE gone_ns IS NOT NULL AND (key, generation) IN
    (SELECT key, generation FROM result_output WHERE digest=NEW.digest)
    AND NOT EXISTS (SELECT 1 FROM result_output o WHERE o.key=result.key AND
      o.generation=result.generation AND NOT EXISTS
        (SELECT 1 FROM blob b WHERE b.digest=o.digest));
END;
CREATE INDEX calibration_by_blob ON calibration(histograms);
)sql";

// place 2: the blob is the beginning of another one's file.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE blob_part(
  digest BLOB PRIMARY KEY REFERENCES blob(digest) ON DELETE CASCADE,
  whole BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX blob_part_by_whole ON blob_part(whole);
)sql";

// Names and tags belong to a trust domain: that of the key that made the engine. What an older
// version has left is the domain of the engine's key, and the default one's where the key is gone.
constexpr const char* kVersion4 = R"sql(
ALTER TABLE engine_name RENAME TO engine_name_3;
CREATE TABLE engine_name(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  digest BLOB NOT NULL REFERENCES engine(digest) ON DELETE CASCADE,
  domain TEXT NOT NULL,
  UNIQUE(name, digest, domain)
);
INSERT INTO engine_name(sequence, name, digest, domain)
  SELECT sequence, name, digest, coalesce((SELECT trust_domain FROM engine JOIN action USING(key)
    WHERE engine.digest=engine_name_3.digest), 'local') FROM engine_name_3;
DROP TABLE engine_name_3;
CREATE INDEX engine_name_by_digest ON engine_name(digest);
ALTER TABLE tag RENAME TO tag_3;
CREATE TABLE tag(
  domain TEXT NOT NULL,
  name TEXT NOT NULL,
  tag TEXT NOT NULL,
  sku TEXT NOT NULL,
  engine BLOB NOT NULL REFERENCES engine(digest),
  created_ns INTEGER NOT NULL,
  PRIMARY KEY(domain, name, tag, sku)
) WITHOUT ROWID;
INSERT INTO tag(domain, name, tag, sku, engine, created_ns)
  SELECT coalesce((SELECT trust_domain FROM engine JOIN action USING(key)
    WHERE engine.digest=tag_3.engine), 'local'), name, tag, sku, engine, created_ns FROM tag_3;
DROP TABLE tag_3;
)sql";

constexpr Migration kMigrations[] = {
    {1, kVersion1},
    {2, kVersion2},
    {3, kVersion3},
    {4, kVersion4},
};

}  // namespace

std::span<const Migration> cache_migrations() {
  return kMigrations;
}

}  // namespace enginery
