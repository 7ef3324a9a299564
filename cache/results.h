// Actions and their results: what was asked for (by key) and what came out (by blob).
//
// A result is committed once per key and generation, only when all its blobs are there, in one
// transaction. A lookup answers only with a complete result: one whose blobs are gone is marked so
// and becomes a miss that a new generation repairs. Threads: thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/action_key.h"
#include "cache/blob_store.h"
#include "cache/sqlite.h"
#include "engine/base/clock.h"

namespace enginery {

struct ResultOutput {
  std::string name;  // what the blob is for the action: "engine", "plan", "histograms"
  Digest digest;
  uint64_t size_bytes = 0;  // filled by lookups
};

// The end of an action. A deterministic failure is a result too (success = false, the reason in
// `outcome`).
struct ActionResult {
  Digest key;
  int64_t generation = 1;
  bool success = true;
  std::string outcome;  // JSON, the action's own business
  int64_t epoch = 0;    // of the lease under which it was made; 0 for a local build
  std::vector<ResultOutput> outputs;
  int64_t created_ns = 0;  // wall time; filled by commit
};

// What a commit did.
enum class Commit {
  committed,      // this result is now the one of its key and generation
  already_there,  // another one came first and stays; nothing changed
};

// The stored action that comes closest to a wanted key.
struct NearestAction {
  Digest key;
  ActionKey fields;
  std::vector<KeyDifference> differs;
};

class Results {
 public:
  Results(Database& database, BlobStore& blobs, const Clock& clock)
      : database_(database), blobs_(blobs), clock_(clock) {}

  // Keeps the key's bytes, so that why-miss can explain it even before it has a result. Repeatable.
  Status record_action(const ActionKey& key);
  Result<ActionKey> find_action(const Digest& key);
  // An action by the first hex digits of its key (at least 8, "sha256:" allowed). invalid_argument:
  // ambiguous, too short.
  Result<Digest> find_key(std::string_view prefix);

  // 1 + the highest generation that has a result; the first is 1.
  Result<int64_t> next_generation(const Digest& key);

  // Records the action and its result in one transaction (a savepoint inside the caller's).
  // not_found: an output's blob is missing, nothing was written.
  Result<Commit> commit(const ActionKey& key, const ActionResult& result);
  // The same for an action that was recorded before. not_found: it was not. Of a key's generations
  // the newest twenty are kept.
  Result<Commit> commit(const ActionResult& result);

  // The newest complete result of the key, success or not; nothing on a miss.
  Result<std::optional<ActionResult>> lookup(const Digest& key);
  // The same of one generation.
  Result<std::optional<ActionResult>> lookup(const Digest& key, int64_t generation);

  // How often a result was written for the key and generation: 0 or 1 unless something is broken.
  Result<int64_t> commits(const Digest& key, int64_t generation);

  // The action of the same kind, with a complete-looking result, that differs in the fewest fields
  // (newest wins a tie); looks at the newest 10,000. Nothing when there is no other action of that
  // kind.
  Result<std::optional<NearestAction>> nearest(const ActionKey& key);
  // The same for several keys, which reads the stored ones once. Keys of another kind than the
  // first's have none.
  Result<std::vector<std::optional<NearestAction>>> nearest(std::span<const ActionKey> keys);

 private:
  Status insert_action(const Digest& digest, const ActionKey& key);
  Status insert_result(const ActionResult& result);
  Status drop_superseded(const Digest& key, int64_t last);
  Result<std::optional<ActionResult>> read(const Digest& key, int64_t generation);
  Result<bool> complete(ActionResult& result) const;
  // Of the results that are not marked gone, newest first.
  Result<std::vector<int64_t>> generations_of(const Digest& key);
  Status forget_lost(const Digest& key);

  Database& database_;
  BlobStore& blobs_;
  const Clock& clock_;
};

// ---- As it was at an earlier time, so that a decision is explained as it was made. The dates that
// the rows keep are read: what was collected since counts as there as long as its row is kept.

inline constexpr int64_t kNow = INT64_MAX;  // as a time: what there is

// When the action became known, as wall time. not_found: it is not.
Result<int64_t> recorded_ns(Database& database, const Digest& key);

// Whether the key had a result at that time.
Result<bool> had_result(Database& database, const Digest& key, int64_t at_ns);

// For each key the action of the same kind, with a result at that time, that differs in the fewest
// fields (newest wins a tie; another SKU's comes last); looks at the newest 10,000. Nothing where
// there was no other of that kind; keys of another kind than the first's have none. Where a trust
// domain is given, of that one alone.
Result<std::vector<std::optional<NearestAction>>> nearest_actions(Database& database,
                                                                  std::span<const ActionKey> keys,
                                                                  int64_t at_ns,
                                                                  std::string_view domain = {});

// A stored calibration: which histograms were collected of which model on which data. Its key's
// bytes are kept, so that a list says what each was made of.
struct CalibrationRow {
  Digest digest;  // of the key
  ActionKey key;
  Digest histograms;
  int64_t created_ns = 0;  // wall time
};

// The calibrations by their keys. The histograms are a blob; a row without it is a miss until the
// blob returns. Threads: thread-safe.
class Calibrations {
 public:
  Calibrations(Database& database, const Clock& clock) : database_(database), clock_(clock) {}

  // The histograms that are the answer to the key; nothing where there are none, or their blob is
  // gone.
  Result<std::optional<Digest>> find(const Digest& key);
  // The blob is stored already; what the key had before is replaced.
  Status put(const ActionKey& key, const Digest& histograms);
  // All that are complete, the newest first.
  Result<std::vector<CalibrationRow>> list();

 private:
  Database& database_;
  const Clock& clock_;
};

}  // namespace enginery
