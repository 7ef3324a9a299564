// The queue's tables themselves: what the catalog's other readers find of it, how rows that nobody
// should have written are refused, and the schema's history.
#include "coordinator/store/sqlite_store.h"

#include <gtest/gtest.h>

#include "cache/memory_blob_store.h"
#include "schemas/codec.h"
#include "tests/coordinator/farm_fixture.h"
#include "tests/coordinator/still_clock.h"

namespace enginery {
namespace {

struct SqliteStoreTest : testing::Test {
  StillClock clock;
  MemoryBlobStore blobs;
  std::unique_ptr<Catalog> catalog = must(Catalog::open_in_memory(blobs, clock));
  std::unique_ptr<QueueStore> store = must(make_sqlite_store(*catalog));
  const ActionKey key = ActionKey("tune", "local").add("structure", "s");

  Status write(const std::vector<RowChange>& rows) {
    CHECK_OK(store->begin());
    for (const RowChange& row : rows) {
      if (const Status status = store->apply(row); !status.ok()) {
        store->roll_back();
        return status;
      }
    }
    return store->commit();
  }
  // A job with one target, a step and an attempt.
  void SetUp() override {
    JobRow job;
    job.number = 1;
    job.request_id = {1, 1};
    job.request = make_submit("m", {"x"});
    job.targets.resize(1);
    StepRow step;
    step.id = 2;
    step.job = 1;
    step.key = key.digest();
    const AttemptRow attempt{2, 1, "w", 1, 0, 0, std::nullopt, ""};
    const Status written =
        write({InsertJob{job}, RecordAction{key.bytes()}, SaveStep{step}, SaveAttempt{attempt}});
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  // What the store says after one statement that nobody should have run.
  std::string load_after(const std::string& sql, const std::optional<Bytes>& bytes = {}) {
    const auto changed = bytes ? catalog->database().execute(sql, as_bytes(*bytes))
                               : catalog->database().execute(sql);
    EXPECT_TRUE(changed.ok()) << changed.error().message;
    const Result<LoadedQueue> queue = store->load();
    if (queue.ok()) return "";
    EXPECT_EQ(queue.error().code, ErrorCode::corrupt_data);
    return queue.error().message;
  }
  int64_t count(const std::string& what) {
    return must(catalog->database().find_integer("SELECT count(*) FROM " + what)).value_or(-1);
  }
};

// --- what others read

TEST_F(SqliteStoreTest, EventsGoIntoTheCatalogsLogWithTheTimeAndTheFieldsAsJson) {
  ASSERT_TRUE(write({AppendEvent{"j1", "queued", {{"step", "2"}, {"sku", "x\xff"}}}}).ok());
  const auto events = must(catalog->events().list("j1", 0, 10));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, "queued");
  EXPECT_EQ(events[0].time_ns, clock.now.count());
  EXPECT_EQ(events[0].json, "{\"sku\":\"x\xef\xbf\xbd\",\"step\":\"2\"}");
}

TEST_F(SqliteStoreTest, AFinishedEngineIsInTheCatalogUnderItsNameAndTags) {
  EngineView engine;
  engine.name = "net";
  engine.sku = "x";
  engine.engine = must(blobs.put(as_bytes("engine")));
  engine.precision = "fp16";
  ASSERT_TRUE(write({AddEngine{engine, {"prod", "v2"}}}).ok());
  for (const char* tag : {"prod", "v2"})
    EXPECT_EQ(must(catalog->engines().tagged("net", tag, "x")).digest, engine.engine) << tag;
  EXPECT_EQ(must(catalog->engines().newest("net", "x")).precision, "fp16");
}

TEST_F(SqliteStoreTest, AResultIsTheCatalogsWithItsEpoch) {
  StepResult result;
  result.metrics = {{"latency_ms", 1.5}};
  ASSERT_TRUE(write({CommitResult{key.digest(), 2, 7, result}}).ok());
  const auto found = must(catalog->results().lookup(key.digest()));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->epoch, 7);
  EXPECT_EQ(must(catalog->results().commits(key.digest(), 1)), 1);
}

TEST_F(SqliteStoreTest, ACalibrationIsListedInTheCatalog) {
  StepResult result;
  const Digest blob = must(blobs.put(as_bytes("histograms")));
  result.outputs = {{"calibration", blob, 10}};
  ASSERT_TRUE(write({CommitResult{key.digest(), 2, 7, result}}).ok());
  EXPECT_EQ(must(catalog->calibrations().find(key.digest())), blob);
}

// A local build over the same folder was first: its result stays, and the queue goes on.
TEST_F(SqliteStoreTest, AResultThatIsThereAlreadyStays) {
  StepResult first, second;
  first.facts = {{"who", "first"}};
  second.facts = {{"who", "second"}};
  ASSERT_TRUE(catalog->results().commit(key, to_action_result(key.digest(), first)).ok());
  ASSERT_TRUE(write({CommitResult{key.digest(), 2, 1, second}}).ok());
  EXPECT_EQ(must(store->look_up(key.digest())).result->facts.at(0).value, "first");
}

TEST_F(SqliteStoreTest, AResultWithoutItsBlobsIsNoAnswerButCounts) {
  StepResult result;
  const Digest blob = must(blobs.put(as_bytes("choices")));
  result.outputs = {{"choices", blob, 7}};
  ASSERT_TRUE(write({CommitResult{key.digest(), 2, 1, result}}).ok());
  ASSERT_TRUE(blobs.remove(blob).ok());
  const StoredAnswer answer = must(store->look_up(key.digest()));
  EXPECT_FALSE(answer.result);
  EXPECT_EQ(answer.next_generation, 2);
}

// --- rows that break a rule are refused

TEST_F(SqliteStoreTest, ARequestMakesOneJob) {
  JobRow again;
  again.number = 9;
  again.request_id = {1, 1};
  EXPECT_FALSE(write({InsertJob{again}}).ok());
  EXPECT_EQ(count("queue_job"), 1);
}

TEST_F(SqliteStoreTest, ATargetNeedsItsJobAndAnAttemptItsStep) {
  EXPECT_FALSE(write({SaveTarget{99, 0, {}}}).ok());
  EXPECT_FALSE(write({SaveAttempt{{99, 1, "w", 1, 0, 0, std::nullopt, ""}}}).ok());
}

TEST_F(SqliteStoreTest, AKeyThatIsNoneIsRefused) {
  const Status status = write({RecordAction{"no key"}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::corrupt_data);
}

TEST_F(SqliteStoreTest, AResultNeedsItsKey) {
  const Status status = write({CommitResult{sha256("unknown"), 2, 1, {}}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::not_found);
}

TEST_F(SqliteStoreTest, WhatABatchWroteBeforeItsBadRowIsGone) {
  EXPECT_FALSE(write({SaveSku{{"z", "cpu", "t", 1}}, RecordAction{"no key"}}).ok());
  EXPECT_EQ(count("queue_sku"), 0);
}

TEST_F(SqliteStoreTest, AStepKeepsWhatItWasMadeWith) {
  StepRow changed;
  changed.id = 2;
  changed.job = 77;
  changed.kind = StepKind::profile;
  changed.sku = "another";
  changed.epoch = 5;
  ASSERT_TRUE(write({SaveStep{changed}}).ok());
  const StepRow row = must(store->load()).steps.at(2);
  EXPECT_EQ(row.epoch, 5u);
  EXPECT_EQ(row.job, 1u);
  EXPECT_EQ(row.kind, StepKind::validate);
  EXPECT_EQ(row.key, key.digest());
}

// --- rows that this program cannot read

TEST_F(SqliteStoreTest, ADamagedRequestNamesItsJob) {
  const std::string message =
      load_after("UPDATE queue_job SET request=?1", Bytes("no message at all"));
  EXPECT_TRUE(message.starts_with("queue: j1: ")) << message;
}

TEST_F(SqliteStoreTest, AnotherMessageInARequestsPlaceIsRefused) {
  Envelope envelope;
  envelope.body = ListJobs{};
  EXPECT_EQ(load_after("UPDATE queue_job SET request=?1", *encode(envelope)),
            "queue: j1 is not a submit");
}

TEST_F(SqliteStoreTest, CutUsesAreRefused) {
  EXPECT_NE(load_after("UPDATE queue_target SET uses=?1", Bytes(51, '\0')), "");
  EXPECT_EQ(load_after("UPDATE queue_target SET uses=?1", Bytes(104, '\0')), "");
  EXPECT_NE(load_after("UPDATE queue_target SET uses=?1", Bytes(52, '\x7f')), "");  // source
}

TEST_F(SqliteStoreTest, AStateThatThisProgramLacksIsRefused) {
  for (const char* sql : {"UPDATE queue_job SET state=6", "UPDATE queue_target SET state=5",
                          "UPDATE queue_target SET source=4", "UPDATE queue_step SET state=9",
                          "UPDATE queue_attempt SET outcome=12"}) {
    EXPECT_NE(load_after(sql), "") << sql;
    for (const char* repair :
         {"UPDATE queue_job SET state=0", "UPDATE queue_step SET state=0",
          "UPDATE queue_target SET state=0, source=0", "UPDATE queue_attempt SET outcome=NULL"})
      EXPECT_TRUE(catalog->database().execute(repair).ok());
  }
  EXPECT_EQ(load_after("UPDATE queue_job SET state=5"), "");  // cancelled: the last one
}

TEST_F(SqliteStoreTest, RowsWithoutTheirOwnersAreRefused) {
  EXPECT_TRUE(catalog->database().script("PRAGMA foreign_keys=OFF").ok());
  EXPECT_NE(load_after("UPDATE queue_target SET job=99"), "");
  EXPECT_EQ(load_after("UPDATE queue_target SET job=1"), "");
  EXPECT_NE(load_after("UPDATE queue_attempt SET step=99"), "");
}

// --- the schema's history

TEST_F(SqliteStoreTest, OpeningTheTablesAgainKeepsTheirRows) {
  store = must(make_sqlite_store(*catalog));
  EXPECT_EQ(must(store->load()).jobs.size(), 1u);
  EXPECT_EQ(count("schema_version WHERE module='coordinator' AND version>=3"), 1);
}

TEST_F(SqliteStoreTest, TablesOfANewerProgramAreRefused) {
  ASSERT_TRUE(catalog->database()
                  .execute("UPDATE schema_version SET version=99 WHERE module='coordinator'")
                  .ok());
  const auto again = make_sqlite_store(*catalog);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::incompatible);
}

TEST_F(SqliteStoreTest, ADeletedJobTakesItsTargetsAlongAndAStepItsAttempts) {
  ASSERT_TRUE(catalog->database().execute("DELETE FROM queue_job").ok());
  EXPECT_EQ(count("queue_target"), 0);
  ASSERT_TRUE(catalog->database().execute("DELETE FROM queue_step").ok());
  EXPECT_EQ(count("queue_attempt"), 0);
}

}  // namespace
}  // namespace enginery
