#include "coordinator/store/queue_history.h"

#include "schemas/values.h"

namespace enginery {

Result<int64_t> prune_queue_history(Database& database, const QueueHistory& keep) {
  TRY(Transaction transaction, Transaction::begin(database));
  TRY(const int64_t jobs,
      database.execute("DELETE FROM queue_job WHERE state>=?1 AND "
                       "number<(SELECT max(number) FROM queue_job) AND (ended_ns<?2 OR "
                       "number<=(SELECT max(number) FROM queue_job)-?3)",
                       static_cast<int>(JobState::done), keep.ended_before_ns, keep.jobs_kept));
  TRY([[maybe_unused]] const int64_t steps,
      database.execute("DELETE FROM queue_step WHERE state>=?1 AND job NOT IN "
                       "(SELECT number FROM queue_job) AND id<(SELECT max(id) FROM queue_step)",
                       static_cast<int>(StepState::done)));
  TRY([[maybe_unused]] const int64_t keys,
      database.execute("DELETE FROM action WHERE created_ns<?1 AND key NOT IN "
                       "(SELECT key FROM result) AND key NOT IN (SELECT key FROM queue_step)",
                       keep.ended_before_ns));
  CHECK_OK(transaction.commit());
  return jobs;
}

}  // namespace enginery
