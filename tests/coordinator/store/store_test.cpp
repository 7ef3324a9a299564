// Both stores keep the same promises: the simulator's and the one over SQLite.
#include <gtest/gtest.h>

#include "cache/catalog.h"
#include "cache/memory_blob_store.h"
#include "coordinator/store/sqlite_store.h"
#include "tests/coordinator/farm_fixture.h"
#include "tests/sim/memory_store.h"

namespace enginery {
namespace {

// A store with a blob "content" in it.
struct Subject {
  virtual ~Subject() = default;
  virtual QueueStore& store() = 0;
  Digest blob = sha256("content");
};

struct InMemory final : Subject {
  InMemory() { memory.add_blob(blob, 0, 0); }
  QueueStore& store() override { return memory; }
  MemoryStore memory;
};

struct InSqlite final : Subject {
  InSqlite()
      : catalog(std::move(*Catalog::open_in_memory(blobs, clock))),
        sqlite(std::move(*make_sqlite_store(*catalog))) {
    (void)*blobs.put(as_bytes("content"));
  }
  QueueStore& store() override { return *sqlite; }
  SystemClock clock;
  MemoryBlobStore blobs;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<QueueStore> sqlite;
};

std::vector<std::unique_ptr<Subject>> subjects() {
  std::vector<std::unique_ptr<Subject>> out;
  out.push_back(std::make_unique<InMemory>());
  out.push_back(std::make_unique<InSqlite>());
  return out;
}

JobRow some_job() {
  JobRow job;
  job.number = 7;
  job.request_id = {~0ull, 5};
  job.submitted_ns = 99;
  job.request = make_submit("m", {"x", "y"});
  job.targets.resize(2);
  job.targets[1].uses = {{StepKind::tune, sha256("k"), 3, 11, Source::joined},
                         {StepKind::sign, sha256("l"), 1, 0, Source::cache}};
  return job;
}

StepRow some_step(const Digest& key) {
  StepRow step;
  step.id = 11;
  step.job = 7;
  step.kind = StepKind::tune;
  step.key = key;
  step.sku = "x";
  step.toolchain = "t";
  step.state = StepState::running;
  step.epoch = 4;
  step.worker = "w";
  step.incarnation = ~0ull - 3;
  step.device = "host";
  return step;
}

Status write(QueueStore& store, const std::vector<RowChange>& rows) {
  CHECK_OK(store.begin());
  for (const RowChange& row : rows) {
    if (const Status status = store.apply(row); !status.ok()) {
      store.roll_back();
      return status;
    }
  }
  return store.commit();
}

std::vector<RowChange> some_rows(const ActionKey& key) {
  const AttemptRow attempt{11, 4, "w", 8, 100, 0, std::nullopt, ""};
  return {InsertJob{some_job()},
          RecordAction{key.bytes()},
          SaveStep{some_step(key.digest())},
          SaveAttempt{attempt},
          SaveSku{{"x", "cpu", "t", 5}},
          AppendEvent{"j7", "submitted", {{"name", "any \xff bytes"}}}};
}

const ActionKey kKey = ActionKey("tune", "local").add("structure", "s");

TEST(QueueStore, GivesBackWhatWasCommitted) {
  for (const auto& subject : subjects()) {
    ASSERT_TRUE(write(subject->store(), some_rows(kKey)).ok());
    const Result<LoadedQueue> queue = subject->store().load();
    ASSERT_TRUE(queue.ok()) << queue.error().message;
    ASSERT_EQ(queue->jobs.size(), 1u);
    EXPECT_TRUE(queue->jobs.at(7) == some_job());
    StepRow step = some_step(kKey.digest());
    step.attempts = {{11, 4, "w", 8, 100, 0, std::nullopt, ""}};
    EXPECT_TRUE(queue->steps.at(11) == step);
    EXPECT_TRUE(queue->skus.at("x") == (SeenSku{"x", "cpu", "t", 5}));
  }
}

TEST(QueueStore, ForgetsWhatWasRolledBack) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    ASSERT_TRUE(store.begin().ok());
    for (const RowChange& row : some_rows(kKey)) ASSERT_TRUE(store.apply(row).ok());
    store.roll_back();
    EXPECT_TRUE(store.load()->jobs.empty());
    EXPECT_TRUE(write(store, some_rows(kKey)).ok());
  }
}

TEST(QueueStore, UpdatesRowsInPlace) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    ASSERT_TRUE(write(store, some_rows(kKey)).ok());
    TargetRow target;
    target.state = TargetState::failed;
    target.fault = Fault{ErrorCode::timed_out, "why"};
    StepRow step = some_step(kKey.digest());
    step.state = StepState::queued;
    step.worker = step.device = "";
    step.incarnation = 0;
    const AttemptRow attempt{11, 4, "w", 8, 100, 200, OutcomeKind::worker_lost, "silent"};
    ASSERT_TRUE(write(store, {SaveTarget{7, 0, target}, SaveStep{step}, SaveAttempt{attempt},
                              UpdateJob{7, JobState::failed, 300}})
                    .ok());
    const LoadedQueue queue = *store.load();
    EXPECT_TRUE(queue.jobs.at(7).targets[0] == target);
    EXPECT_EQ(queue.jobs.at(7).state, JobState::failed);
    EXPECT_EQ(queue.jobs.at(7).ended_ns, 300);
    ASSERT_EQ(queue.steps.at(11).attempts.size(), 1u);
    EXPECT_TRUE(queue.steps.at(11).attempts[0] == attempt);
  }
}

TEST(QueueStore, AnswersWithTheCommittedResult) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    ASSERT_TRUE(write(store, some_rows(kKey)).ok());
    StepResult result;
    result.outputs = {{"content", subject->blob, 7}};
    result.metrics = {{"latency_ms", 1.25}};
    result.facts = {{"precision", "fp32"}};
    ASSERT_TRUE(store.begin().ok());
    ASSERT_TRUE(store.apply(CommitResult{kKey.digest(), 11, 4, result}).ok());
    // Seen inside its own transaction already.
    EXPECT_TRUE(store.look_up(kKey.digest())->result);
    ASSERT_TRUE(store.commit().ok());
    const StoredAnswer answer = *store.look_up(kKey.digest());
    ASSERT_TRUE(answer.result);
    EXPECT_TRUE(*answer.result == result);
    EXPECT_EQ(answer.next_generation, 2);
    EXPECT_FALSE(store.look_up(sha256("other"))->result);
  }
}

TEST(QueueStore, KeepsADeterministicFailure) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    ASSERT_TRUE(write(store, some_rows(kKey)).ok());
    StepResult result;
    result.success = false;
    result.fault = {ErrorCode::unsupported, "no such operator"};
    ASSERT_TRUE(write(store, {CommitResult{kKey.digest(), 11, 4, result}}).ok());
    EXPECT_TRUE(*store.look_up(kKey.digest())->result == result);
  }
}

TEST(QueueStore, RefusesAResultWithoutItsBlobs) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    ASSERT_TRUE(write(store, some_rows(kKey)).ok());
    StepResult result;
    result.outputs = {{"content", sha256("never stored"), 7}};
    const Status status = write(store, {CommitResult{kKey.digest(), 11, 4, result}});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::not_found);
    EXPECT_FALSE(store.look_up(kKey.digest())->result);
  }
}

TEST(QueueStore, UsesOfATargetAreOneValueThatIsCheckedForItsLength) {
  const std::vector<StepUse> uses = {{StepKind::tune, sha256("k"), 3, 11, Source::joined},
                                     {StepKind::sign, sha256("l"), 1, 0, Source::cache}};
  const Bytes bytes = encode_uses(uses);
  EXPECT_EQ(bytes.size(), 2 * 52u);  // README.md
  const auto again = decode_uses(as_bytes(bytes));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(*again == uses);
  const auto cut = decode_uses(as_bytes(bytes.substr(0, 60)));
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().code, ErrorCode::corrupt_data);
}

}  // namespace
}  // namespace enginery
