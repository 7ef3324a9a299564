#include "cache/results.h"

#include <algorithm>

#include "cache/completeness.h"

namespace enginery {
namespace {

constexpr int64_t kGenerationsKept = 20;  // of a key

Error unknown_key(const std::string& key) {
  return {ErrorCode::not_found, "no key " + key + " is in the catalog"};
}

Error unknown_action(const Digest& key) {
  return unknown_key(key.text());
}

}  // namespace

// ---- actions

Status Results::record_action(const ActionKey& key) {
  return insert_action(key.digest(), key);
}

Status Results::insert_action(const Digest& digest, const ActionKey& key) {
  Bytes bytes = key.bytes();
  CHECK_OK(database_.execute(
      "INSERT INTO action(key, kind, trust_domain, bytes, created_ns) VALUES(?1, ?2, ?3, ?4, ?5) "
      "ON CONFLICT(key) DO NOTHING",
      digest, key.kind(), key.trust_domain(), as_bytes(bytes), clock_.wall_time().count()));
  return {};
}

Result<ActionKey> Results::find_action(const Digest& key) {
  TRY(Statement row, database_.prepare("SELECT bytes FROM action WHERE key=?1", key));
  TRY(bool found, row.step());
  if (!found) return unknown_action(key);
  Result<ActionKey> fields = ActionKey::parse(as_text(row.blob(0)));
  if (!fields.ok()) return fields.error().within("action " + key.text());
  return fields;
}

Result<Digest> Results::find_key(std::string_view prefix) {
  TRY(DigestRange range, digest_range(prefix));
  TRY(Statement row, database_.prepare("SELECT key FROM action WHERE key BETWEEN ?1 AND ?2 LIMIT 2",
                                       range.first, range.last));
  TRY(bool found, row.step());
  if (!found) return unknown_key(std::string(prefix));
  Digest key = row.digest(0);
  TRY(bool second, row.step());
  if (second)
    return Error{ErrorCode::invalid_argument,
                 "key " + std::string(prefix) + ": several keys begin so, give more digits"};
  return key;
}

// ---- results

Result<int64_t> Results::next_generation(const Digest& key) {
  TRY(auto last, database_.find_integer("SELECT max(generation) FROM result WHERE key=?1", key));
  return last.value_or(0) + 1;
}

Result<Commit> Results::commit(const ActionKey& key, const ActionResult& result) {
  Digest digest = key.digest();
  ENSURE(result.key == digest, "a result names the key of its action");
  TRY(Transaction transaction, Transaction::begin(database_));
  CHECK_OK(insert_action(digest, key));
  TRY(Commit done, commit(result));
  CHECK_OK(transaction.commit());
  return done;
}

Result<Commit> Results::commit(const ActionResult& result) {
  TRY(Transaction transaction, Transaction::begin(database_));
  TRY(auto known, database_.find_integer("SELECT 1 FROM action WHERE key=?1", result.key));
  if (!known) return unknown_action(result.key).within("commit a result");
  TRY(auto earlier, database_.find_integer("SELECT 1 FROM result WHERE key=?1 AND generation=?2",
                                           result.key, result.generation));
  if (earlier) return Commit::already_there;
  for (const ResultOutput& output : result.outputs) {
    TRY(bool there, has_blob(blobs_, output.digest));
    if (!there) {
      return Error{ErrorCode::not_found, "commit a result of " + result.key.text() + ": output '" +
                                             output.name + "': blob " + output.digest.text() +
                                             " is not in the store"};
    }
  }
  CHECK_OK(forget_lost(result.key));
  CHECK_OK(insert_result(result));
  CHECK_OK(transaction.commit());
  return Commit::committed;
}

// Earlier generations of the key were built again because something of them is lost: what needs
// the same blobs is lost as well.
Status Results::forget_lost(const Digest& key) {
  TRY(const std::vector<int64_t> generations, generations_of(key));
  for (const int64_t generation : generations) {
    TRY(const auto earlier, read(key, generation));
    for (const ResultOutput& output : earlier ? earlier->outputs : std::vector<ResultOutput>()) {
      TRY(const auto size_bytes, size_if_there(blobs_, output.digest));
      if (!size_bytes) CHECK_OK(forget_blob(database_, blobs_, clock_, output.digest));
    }
  }
  return {};
}

Status Results::insert_result(const ActionResult& result) {
  int64_t now = clock_.wall_time().count();
  CHECK_OK(database_.execute(
      "INSERT INTO result(key, generation, success, outcome, epoch, created_ns) "
      "VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
      result.key, result.generation, result.success, result.outcome, result.epoch, now));
  for (const ResultOutput& output : result.outputs) {
    CHECK_OK(database_.execute(
        "INSERT INTO result_output(key, generation, name, digest) VALUES(?1, ?2, ?3, ?4)",
        result.key, result.generation, output.name, output.digest));
  }
  CHECK_OK(database_.execute(
      "INSERT INTO commit_log(key, generation, epoch, created_ns) VALUES(?1, ?2, ?3, ?4)",
      result.key, result.generation, result.epoch, now));
  return drop_superseded(result.key, result.generation - kGenerationsKept);
}

// Who builds the same anew every night fills no catalog with it.
Status Results::drop_superseded(const Digest& key, int64_t last) {
  if (last < 1) return {};
  CHECK_OK(database_.execute("DELETE FROM commit_log WHERE key=?1 AND generation<=?2", key, last));
  CHECK_OK(database_.execute("DELETE FROM result WHERE key=?1 AND generation<=?2", key, last));
  return {};
}

Result<std::optional<ActionResult>> Results::lookup(const Digest& key) {
  TRY(const std::vector<int64_t> generations, generations_of(key));
  for (const int64_t generation : generations) {
    TRY(auto result, lookup(key, generation));
    if (result) return result;
  }
  return std::optional<ActionResult>();
}

Result<std::vector<int64_t>> Results::generations_of(const Digest& key) {
  std::vector<int64_t> out;
  TRY(Statement row, database_.prepare("SELECT generation FROM result WHERE key=?1 AND "
                                       "gone_ns IS NULL ORDER BY generation DESC",
                                       key));
  while (true) {
    TRY(const bool found, row.step());
    if (!found) return out;
    out.push_back(row.integer(0));
  }
}

Result<std::optional<ActionResult>> Results::lookup(const Digest& key, int64_t generation) {
  TRY(auto result, read(key, generation));
  if (!result) return result;
  TRY(bool whole, complete(*result));
  if (!whole) result.reset();
  return result;
}

Result<std::optional<ActionResult>> Results::read(const Digest& key, int64_t generation) {
  TRY(Statement row, database_.prepare("SELECT success, outcome, epoch, created_ns FROM result "
                                       "WHERE key=?1 AND generation=?2 AND gone_ns IS NULL",
                                       key, generation));
  TRY(bool found, row.step());
  if (!found) return std::optional<ActionResult>();
  ActionResult result{key, generation,    row.integer(0) != 0, row.text(1), row.integer(2),
                      {},  row.integer(3)};
  TRY(Statement output,
      database_.prepare(
          "SELECT name, digest FROM result_output WHERE key=?1 AND generation=?2 ORDER BY name",
          key, generation));
  while (true) {
    TRY(bool more, output.step());
    if (!more) return std::optional<ActionResult>(std::move(result));
    result.outputs.push_back({output.text(0), output.digest(1)});
  }
}

Result<bool> Results::complete(ActionResult& result) const {
  for (ResultOutput& output : result.outputs) {
    TRY(auto size_bytes, size_if_there(blobs_, output.digest));
    if (!size_bytes) return false;
    output.size_bytes = *size_bytes;
  }
  return true;
}

Result<int64_t> Results::commits(const Digest& key, int64_t generation) {
  TRY(auto count,
      database_.find_integer("SELECT count(*) FROM commit_log WHERE key=?1 AND generation=?2", key,
                             generation));
  return count.value_or(0);
}

Result<std::optional<NearestAction>> Results::nearest(const ActionKey& key) {
  TRY(std::vector<std::optional<NearestAction>> one, nearest(std::span(&key, 1)));
  return std::move(one.front());
}

Result<std::vector<std::optional<NearestAction>>> Results::nearest(
    std::span<const ActionKey> keys) {
  return nearest_actions(database_, keys, kNow);
}

// ---- as it was at an earlier time

namespace {

constexpr int64_t kNearestCandidates = 10'000;

// How far an action is from the wanted one: the number of fields that differ. Another SKU's action
// comes last: a job builds for many at once, and that they differ in the SKU explains no miss.
size_t distance(const std::vector<KeyDifference>& differs) {
  const bool other_sku = std::any_of(differs.begin(), differs.end(),
                                     [](const KeyDifference& d) { return d.field == "sku"; });
  return differs.size() + (other_sku ? 1'000'000 : 0);
}

}  // namespace

Result<int64_t> recorded_ns(Database& database, const Digest& key) {
  TRY(const auto at, database.find_integer("SELECT created_ns FROM action WHERE key=?1", key));
  if (at) return *at;
  return Error{ErrorCode::not_found, "no key " + key.text() + " is in the catalog"};
}

Result<bool> had_result(Database& database, const Digest& key, int64_t at_ns) {
  TRY(const auto there,
      database.find_integer("SELECT 1 FROM result WHERE key=?1 AND created_ns < ?2 AND "
                            "(gone_ns IS NULL OR gone_ns > ?2)",
                            key, at_ns));
  return there.has_value();
}

Result<std::vector<std::optional<NearestAction>>> nearest_actions(Database& database,
                                                                  std::span<const ActionKey> keys,
                                                                  int64_t at_ns,
                                                                  std::string_view domain) {
  std::vector<std::optional<NearestAction>> best(keys.size());
  if (keys.empty()) return best;
  std::vector<Digest> own;
  for (const ActionKey& key : keys) own.push_back(key.digest());
  TRY(Statement row,
      database.prepare(
          "SELECT key, bytes FROM action WHERE kind=?1 AND (?4='' OR trust_domain=?4) AND EXISTS "
          "(SELECT 1 FROM result WHERE result.key=action.key AND created_ns < ?3 "
          "AND (gone_ns IS NULL OR gone_ns > ?3)) ORDER BY created_ns DESC, rowid DESC LIMIT ?2",
          keys.front().kind(), kNearestCandidates, at_ns, domain));
  while (true) {
    TRY(const bool found, row.step());
    if (!found) return best;
    const Result<ActionKey> fields = ActionKey::parse(as_text(row.blob(1)));
    if (!fields.ok()) continue;  // verify reports it
    const Digest candidate = row.digest(0);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (own[i] == candidate || keys[i].kind() != fields->kind()) continue;
      std::vector<KeyDifference> differs = difference(keys[i], *fields);
      if (best[i] && distance(differs) >= distance(best[i]->differs)) continue;
      best[i] = NearestAction{candidate, *fields, std::move(differs)};
    }
  }
}

Result<std::optional<Digest>> Calibrations::find(const Digest& key) {
  TRY(Statement row,
      database_.prepare("SELECT histograms FROM calibration WHERE key=?1 AND gone_ns IS NULL",
                        key));
  TRY(const bool found, row.step());
  return found ? std::optional(row.digest(0)) : std::nullopt;
}

Status Calibrations::put(const ActionKey& key, const Digest& histograms) {
  const Bytes bytes = key.bytes();
  CHECK_OK(database_.execute(
      "INSERT INTO calibration(key, bytes, histograms, created_ns) VALUES(?1, ?2, ?3, ?4) ON "
      "CONFLICT(key) DO UPDATE SET histograms=excluded.histograms, created_ns=excluded.created_ns, "
      "gone_ns=NULL",
      key.digest(), as_bytes(bytes), histograms, clock_.wall_time().count()));
  return {};
}

Result<std::vector<CalibrationRow>> Calibrations::list() {
  TRY(Statement row,
      database_.prepare("SELECT key, bytes, histograms, created_ns FROM calibration WHERE gone_ns "
                        "IS NULL ORDER BY created_ns DESC, key"));
  std::vector<CalibrationRow> out;
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return out;
    TRY(ActionKey key, ActionKey::parse(as_text(row.blob(1))));
    out.push_back({row.digest(0), std::move(key), row.digest(2), row.integer(3)});
  }
}

}  // namespace enginery
