#include "cache/results.h"

#include <algorithm>

#include "cache/completeness.h"

namespace enginery {
namespace {

constexpr int64_t kNearestCandidates = 10'000;

Error unknown_action(const Digest& key) {
  return {ErrorCode::not_found, "action " + key.text() + ": not in the catalog"};
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
  if (!found)
    return Error{ErrorCode::not_found, "action " + std::string(prefix) + ": not in the catalog"};
  Digest key = row.digest(0);
  TRY(bool second, row.step());
  if (second)
    return Error{ErrorCode::invalid_argument,
                 "action " + std::string(prefix) + ": several keys begin so"};
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
  CHECK_OK(insert_result(result));
  CHECK_OK(transaction.commit());
  return Commit::committed;
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
  return {};
}

Result<std::optional<ActionResult>> Results::lookup(const Digest& key) {
  int64_t before = INT64_MAX;
  while (true) {
    TRY(const auto generation,
        database_.find_integer(
            "SELECT max(generation) FROM result WHERE key=?1 AND gone_ns IS NULL", key));
    if (!generation) return std::optional<ActionResult>();
    // Each incomplete result is marked gone, so that the next round sees an older one.
    if (*generation >= before)
      return Error{ErrorCode::internal,
                   "result of " + key.text() + ": it is incomplete and still answers"};
    before = *generation;
    TRY(auto result, lookup(key, *generation));
    if (result) return result;
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

Result<bool> Results::complete(ActionResult& result) {
  for (ResultOutput& output : result.outputs) {
    TRY(auto size_bytes, size_or_forget(database_, blobs_, clock_, output.digest));
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

namespace {

// How far an action is from the wanted one: the number of fields that differ. Another SKU's action
// comes last: a job builds for many at once, and that they differ in the SKU explains no miss.
size_t distance(const std::vector<KeyDifference>& differs) {
  const bool other_sku = std::any_of(differs.begin(), differs.end(),
                                     [](const KeyDifference& d) { return d.field == "sku"; });
  return differs.size() + (other_sku ? 1'000'000 : 0);
}

}  // namespace

Result<std::optional<NearestAction>> Results::nearest(const ActionKey& key) {
  std::optional<NearestAction> best;
  TRY(Statement row,
      database_.prepare("SELECT key, bytes FROM action WHERE kind=?1 AND key<>?2 AND EXISTS "
                        "(SELECT 1 FROM result WHERE result.key=action.key AND gone_ns IS NULL) "
                        "ORDER BY created_ns DESC, rowid DESC LIMIT ?3",
                        key.kind(), key.digest(), kNearestCandidates));
  while (true) {
    TRY(bool found, row.step());
    if (!found) return best;
    Result<ActionKey> fields = ActionKey::parse(as_text(row.blob(1)));
    if (!fields.ok()) continue;  // verify reports it
    std::vector<KeyDifference> differs = difference(key, *fields);
    if (best && distance(differs) >= distance(best->differs)) continue;
    best = NearestAction{row.digest(0), std::move(*fields), std::move(differs)};
  }
}

}  // namespace enginery
