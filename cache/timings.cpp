#include "cache/timings.h"

#include <algorithm>

namespace enginery {
namespace {

TimingRow read_row(const Statement& row) {
  return {row.digest(0), row.digest(1), row.text(2), row.text(3), row.integer(4)};
}

Result<std::vector<TimingRow>> read_rows(Statement row) {
  std::vector<TimingRow> out;
  while (true) {
    TRY(bool found, row.step());
    if (!found) return out;
    out.push_back(read_row(row));
  }
}

}  // namespace

Status Timings::record_key(const ActionKey& key) {
  Bytes bytes = key.bytes();
  CHECK_OK(
      database_.execute("INSERT INTO timing_key(digest, kind, bytes) VALUES(?1, ?2, ?3) ON "
                        "CONFLICT(digest) DO NOTHING",
                        sha256(bytes), key.kind(), as_bytes(bytes)));
  return {};
}

Result<ActionKey> Timings::find_key(const Digest& digest) {
  TRY(Statement row, database_.prepare("SELECT bytes FROM timing_key WHERE digest=?1", digest));
  TRY(bool found, row.step());
  if (!found)
    return Error{ErrorCode::not_found, "timing key " + digest.text() + ": not in the catalog"};
  Result<ActionKey> key = ActionKey::parse(as_text(row.blob(0)));
  if (!key.ok()) return key.error().within("timing key " + digest.text());
  return key;
}

Result<int64_t> Timings::put(std::span<const TimingRow> rows) {
  const int64_t now = clock_.wall_time().count();
  TRY(Transaction transaction, Transaction::begin(database_));
  int64_t changed = 0;
  for (const TimingRow& row : rows) {
    TRY(auto keys,
        database_.find_integer("SELECT count(*) FROM timing_key WHERE digest IN (?1, ?2)",
                               row.device, row.problem));
    if (keys.value_or(0) != 2) {
      return Error{ErrorCode::not_found, "store timing of '" + row.tactic +
                                             "': the key of its device (" + row.device.text() +
                                             ") or problem (" + row.problem.text() +
                                             ") was not recorded"};
    }
    TRY(int64_t count,
        database_.execute(
            "INSERT INTO timing(device, problem, tactic, entry, measured_ns) VALUES(?1, ?2, ?3, "
            "?4, ?5) "
            "ON CONFLICT(device, problem, tactic) DO UPDATE SET entry=excluded.entry, "
            "measured_ns=excluded.measured_ns WHERE excluded.measured_ns > timing.measured_ns "
            "OR timing.measured_ns > ?6",
            row.device, row.problem, row.tactic, row.entry, std::min(row.measured_ns, now), now));
    changed += count;
  }
  CHECK_OK(transaction.commit());
  return changed;
}

Result<std::vector<TimingRow>> Timings::of_device(const Digest& device) {
  TRY(Statement rows,
      database_.prepare(
          "SELECT device, problem, tactic, entry, measured_ns FROM timing WHERE device=?1 "
          "ORDER BY problem, tactic",
          device));
  return read_rows(std::move(rows));
}

Result<std::vector<TimingRow>> Timings::of_problem(const Digest& device, const Digest& problem) {
  TRY(Statement rows,
      database_.prepare("SELECT device, problem, tactic, entry, measured_ns FROM timing "
                        "WHERE device=?1 AND problem=?2 ORDER BY tactic",
                        device, problem));
  return read_rows(std::move(rows));
}

Status Timings::from_problem(const Digest& device, const Digest& first,
                             const std::function<bool(TimingRow)>& take) {
  TRY(Statement row,
      database_.prepare("SELECT device, problem, tactic, entry, measured_ns FROM timing "
                        "WHERE device=?1 AND problem>=?2 ORDER BY problem, tactic",
                        device, first));
  while (true) {
    TRY(const bool found, row.step());
    if (!found || !take(read_row(row))) return {};
  }
}

Result<std::vector<std::pair<Digest, int64_t>>> Timings::devices() {
  std::vector<std::pair<Digest, int64_t>> out;
  TRY(Statement row,
      database_.prepare("SELECT device, count(*) FROM timing GROUP BY device ORDER BY device"));
  while (true) {
    TRY(bool found, row.step());
    if (!found) return out;
    out.emplace_back(row.digest(0), row.integer(1));
  }
}

Result<int64_t> Timings::clear(const Digest& device) {
  TRY(Transaction transaction, Transaction::begin(database_));
  TRY(const int64_t rows, database_.execute("DELETE FROM timing WHERE device=?1", device));
  CHECK_OK(database_.execute(
      "DELETE FROM timing_key WHERE digest NOT IN (SELECT device FROM timing) AND digest NOT IN "
      "(SELECT problem FROM timing)"));
  CHECK_OK(transaction.commit());
  return rows;
}

Result<std::optional<NearestTimingKey>> Timings::nearest(const ActionKey& key) {
  std::optional<NearestTimingKey> best;
  TRY(Statement row,
      database_.prepare(
          "SELECT digest, bytes FROM timing_key WHERE kind=?1 AND digest<>?2 ORDER BY rowid DESC",
          key.kind(), key.digest()));
  while (true) {
    TRY(bool found, row.step());
    if (!found) return best;
    Result<ActionKey> fields = ActionKey::parse(as_text(row.blob(1)));
    if (!fields.ok()) continue;  // verify reports it
    std::vector<KeyDifference> differs = difference(key, *fields);
    if (best && differs.size() >= best->differs.size()) continue;
    best = NearestTimingKey{row.digest(0), std::move(*fields), std::move(differs)};
  }
}

}  // namespace enginery
