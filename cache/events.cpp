#include "cache/events.h"

namespace enginery {

Result<int64_t> Events::append(const CatalogEvent& event) {
  TRY(Transaction transaction, Transaction::begin(database_));
  CHECK_OK(database_.execute("INSERT INTO event(job, time_ns, kind, json) VALUES(?1, ?2, ?3, ?4)",
                             event.job, event.time_ns, event.kind, event.json));
  int64_t sequence = database_.last_insert_id();
  CHECK_OK(transaction.commit());
  return sequence;
}

namespace {

// The first row's number; 0 where there is none.
Result<int64_t> first_number(Result<Statement> rows) {
  if (!rows.ok()) return rows.error();
  TRY(const bool found, rows->step());
  return found ? rows->integer(0) : 0;
}

}  // namespace

Result<int64_t> Events::before_newest(std::string_view job, int64_t count) {
  const char* sql = job.empty() ? "SELECT sequence FROM event WHERE ?1='' ORDER BY sequence DESC "
                                  "LIMIT 1 OFFSET ?2"
                                : "SELECT sequence FROM event WHERE job=?1 ORDER BY sequence DESC "
                                  "LIMIT 1 OFFSET ?2";
  return first_number(database_.prepare(sql, job, count));
}

// Newest first: it stops at the first older one, and questions are about recent times.
Result<int64_t> Events::before_time(int64_t time_ns) {
  return first_number(database_.prepare(
      "SELECT sequence FROM event WHERE time_ns<?1 ORDER BY sequence DESC LIMIT 1", time_ns));
}

Result<std::vector<CatalogEvent>> Events::list(std::string_view job, int64_t after, int64_t limit) {
  std::vector<CatalogEvent> out;
  const char* sql =
      job.empty()
          ? "SELECT sequence, job, time_ns, kind, json FROM event WHERE ?1='' AND sequence>?2 "
            "ORDER BY sequence LIMIT ?3"
          : "SELECT sequence, job, time_ns, kind, json FROM event WHERE job=?1 AND sequence>?2 "
            "ORDER BY sequence LIMIT ?3";
  TRY(Statement row, database_.prepare(sql, job, after, limit));
  while (true) {
    TRY(bool found, row.step());
    if (!found) return out;
    out.push_back({row.integer(0), row.text(1), row.integer(2), row.text(3), row.text(4)});
  }
}

}  // namespace enginery
