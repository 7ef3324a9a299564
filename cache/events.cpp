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
