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

// One that measures for the other one.
StepRow some_assistant(const StepRow& leader) {
  StepRow step = leader;
  step.id = 12;
  step.assists = leader.id;
  step.worker = "w2";
  step.device = "host 2";
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
    const StepRow assistant = some_assistant(some_step(kKey.digest()));
    ASSERT_TRUE(write(subject->store(), {SaveStep{assistant}}).ok());
    const Result<LoadedQueue> queue = subject->store().load();
    ASSERT_TRUE(queue.ok()) << queue.error().message;
    ASSERT_EQ(queue->jobs.size(), 1u);
    EXPECT_TRUE(queue->jobs.at(7) == some_job());
    StepRow step = some_step(kKey.digest());
    step.attempts = {{11, 4, "w", 8, 100, 0, std::nullopt, ""}};
    EXPECT_TRUE(queue->steps.at(11) == step);
    EXPECT_TRUE(queue->steps.at(12) == assistant);
    EXPECT_TRUE(queue->skus.at({"x", "t"}) == (SeenSku{"x", "cpu", "t", 5}));
  }
}

TEST(QueueStore, KeepsEveryToolchainOfASku) {
  for (const auto& subject : subjects()) {
    ASSERT_TRUE(
        write(subject->store(), {SaveSku{{"x", "cpu", "old", 5}}, SaveSku{{"x", "cpu", "new", 6}},
                                 SaveSku{{"x", "cpu", "old", 7}}})
            .ok());
    const Result<LoadedQueue> queue = subject->store().load();
    ASSERT_TRUE(queue.ok()) << queue.error().message;
    ASSERT_EQ(queue->skus.size(), 2u);
    EXPECT_EQ(queue->skus.at({"x", "old"}).seen_ns, 7);
    EXPECT_EQ(queue->skus.at({"x", "new"}).seen_ns, 6);
  }
}

TEST(QueueStore, KeepsWhatWasAskedOfAWorkerUntilItIsTakenBack) {
  const WorkerWish leave{"w", Wish::exit, 7}, stay{"w", Wish::resume, 7};
  for (const auto& subject : subjects()) {
    ASSERT_TRUE(write(subject->store(), {SaveWish{leave}, SaveWish{stay}}).ok());
    const LoadedQueue kept = must(subject->store().load());
    EXPECT_EQ(kept.wishes, (std::map<std::string, WorkerWish>{{"w", stay}}));
    ASSERT_TRUE(write(subject->store(), {SaveWish{{"w", Wish::none, 7}}}).ok());
    EXPECT_TRUE(must(subject->store().load()).wishes.empty());
  }
}

TEST(QueueStore, KeepsTroublesAndQuarantinesUntilTheyAreTakenBack) {
  const KeyTrouble trouble{sha256("key"), 2, 77, "w: fell silent"};
  const QuarantinedWorker held{"w", "its disk is full", 78};
  for (const auto& subject : subjects()) {
    KeyTrouble earlier = trouble;
    earlier.kills = 1;
    ASSERT_TRUE(write(subject->store(),
                      {SaveKeyTrouble{earlier}, SaveKeyTrouble{trouble}, SaveQuarantine{held}})
                    .ok());
    const Result<LoadedQueue> kept = subject->store().load();
    ASSERT_TRUE(kept.ok()) << kept.error().message;
    EXPECT_EQ(kept->troubles, (std::map<Digest, KeyTrouble>{{trouble.key, trouble}}));
    EXPECT_EQ(kept->quarantines, (std::map<std::string, QuarantinedWorker>{{"w", held}}));
    ASSERT_TRUE(write(subject->store(),
                      {SaveKeyTrouble{{trouble.key, 0, 0, ""}}, SaveQuarantine{{"w", "", 0}}})
                    .ok());
    const Result<LoadedQueue> gone = subject->store().load();
    ASSERT_TRUE(gone.ok()) << gone.error().message;
    EXPECT_TRUE(gone->troubles.empty());
    EXPECT_TRUE(gone->quarantines.empty());
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

TEST(QueueStore, KeepsNumbersAtTheEndsOfTheirTypes) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    JobRow job = some_job();
    job.request_id = {~0ull, ~0ull};
    job.submitted_ns = INT64_MIN;
    job.ended_ns = INT64_MAX;
    job.targets[0].size_bytes = job.targets[0].timings_measured = ~0ull;
    job.targets[0].accuracy = HeldOutFigures{~0ull, -200, 97.25, 60.5, 59.75};
    job.targets[0].calibration = sha256("scales").text();
    job.targets[0].note = "in float";
    job.targets[0].latency_ms = 1e-300;
    StepRow step = some_step(kKey.digest());
    step.epoch = step.commits = ~0ull;
    step.generation = INT64_MAX;
    ASSERT_TRUE(write(store, {InsertJob{job}, RecordAction{kKey.bytes()}, SaveStep{step}}).ok());
    const LoadedQueue queue = *store.load();
    EXPECT_TRUE(queue.jobs.at(7) == job);
    EXPECT_TRUE(queue.steps.at(11) == step);
  }
}

TEST(QueueStore, KeepsTextsWithAnyBytes) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    const std::string odd("zero \0, \xff and \n", 15);
    JobRow job = some_job();
    job.request.model_name = odd;
    job.targets[0].fault = Fault{ErrorCode::internal, odd};
    const AttemptRow attempt{11, 4, "w", 8, 100, 200, OutcomeKind::failed, odd};
    ASSERT_TRUE(write(store, {InsertJob{job}, RecordAction{kKey.bytes()},
                              SaveStep{some_step(kKey.digest())}, SaveAttempt{attempt}})
                    .ok());
    const LoadedQueue queue = *store.load();
    EXPECT_EQ(queue.jobs.at(7).request.model_name, odd);
    EXPECT_EQ(queue.jobs.at(7).targets[0].fault->message, odd);
    EXPECT_EQ(queue.steps.at(11).attempts.at(0).message, odd);
  }
}

TEST(QueueStore, AttemptsComeBackInTheOrderOfTheirEpochs) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    ASSERT_TRUE(
        write(store, {RecordAction{kKey.bytes()}, SaveStep{some_step(kKey.digest())}}).ok());
    for (uint64_t epoch = 1; epoch <= 12; ++epoch)
      ASSERT_TRUE(write(store, {SaveAttempt{{11, epoch, "w", 1, 0, 0, std::nullopt, ""}}}).ok());
    const std::vector<AttemptRow> attempts = store.load()->steps.at(11).attempts;
    ASSERT_EQ(attempts.size(), 12u);
    for (uint64_t i = 0; i < 12; ++i) EXPECT_EQ(attempts[i].epoch, i + 1);
  }
}

TEST(QueueStore, TheNewestGenerationAnswers) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    ASSERT_TRUE(write(store, some_rows(kKey)).ok());
    for (int64_t generation : {1, 2}) {
      StepResult result;
      result.generation = generation;
      result.facts = {{"of", std::to_string(generation)}};
      StepRow step = some_step(kKey.digest());
      step.id = 20 + static_cast<uint64_t>(generation);
      ASSERT_TRUE(write(store, {SaveStep{step}}).ok());
      ASSERT_TRUE(write(store, {CommitResult{kKey.digest(), step.id, 4, result}}).ok());
    }
    const StoredAnswer answer = *store.look_up(kKey.digest());
    EXPECT_EQ(answer.next_generation, 3);
    ASSERT_TRUE(answer.result);
    EXPECT_EQ(answer.result->facts.at(0).value, "2");
  }
}

TEST(QueueStore, AKeyThatNobodyAskedForHasAFirstGeneration) {
  for (const auto& subject : subjects()) {
    const StoredAnswer answer = *subject->store().look_up(sha256("never"));
    EXPECT_FALSE(answer.result);
    EXPECT_EQ(answer.next_generation, 1);
  }
}

TEST(QueueStore, RefusesAnEngineWithoutItsFile) {
  for (const auto& subject : subjects()) {
    QueueStore& store = subject->store();
    EngineView engine;
    engine.name = "net";
    engine.engine = sha256("never stored");
    const Status status = write(store, {AddEngine{engine, {"prod"}}});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::not_found);
    engine.engine = subject->blob;
    EXPECT_TRUE(write(store, {AddEngine{engine, {"prod"}}}).ok());
  }
}

}  // namespace
}  // namespace enginery
