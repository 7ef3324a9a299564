// Engines by name, tag, digest and job, and why a key was a miss, asked of a catalog in memory.
#include "coordinator/server/catalog_questions.h"

#include <gtest/gtest.h>

#include "cache/memory_blob_store.h"
#include "coordinator/core/core.h"
#include "coordinator/store/sqlite_store.h"
#include "pipeline/engine_set.h"
#include "tests/coordinator/farm_fixture.h"
#include "tests/coordinator/still_clock.h"

namespace enginery {
namespace {

struct CatalogQuestionsTest : testing::Test {
  StillClock clock;
  MemoryBlobStore blobs;
  std::unique_ptr<Catalog> catalog = must(Catalog::open_in_memory(blobs, clock));
  LoadedQueue queue;

  Digest add_engine(const std::string& name, const std::string& sku, const std::string& content) {
    EngineRow row;
    row.digest = must(blobs.put(as_bytes(content)));
    row.name = name;
    row.sku = sku;
    row.key = sha256("key of " + content);
    row.precision = "fp32";
    EXPECT_TRUE(catalog->engines().add(row).ok());
    return row.digest;
  }
  void add_tag(const std::string& name, const std::string& tag, const std::string& sku,
               const Digest& engine) {
    EXPECT_TRUE(catalog->engines().set_tag({name, tag, sku, engine, 0}).ok());
  }
  // Job 1 with a target for each SKU; the first ones have these engines.
  void add_job(const std::vector<std::string>& skus, const std::vector<Digest>& engines) {
    JobRow& job = queue.jobs[1];
    job.number = 1;
    job.state = JobState::done;
    job.request = make_submit("m", skus);
    job.request.name = "submitted";
    job.targets.resize(skus.size());
    for (size_t i = 0; i < skus.size(); ++i) {
      job.targets[i].state = i < engines.size() ? TargetState::done : TargetState::failed;
      if (i < engines.size()) job.targets[i].engine = engines[i];
    }
  }
  Result<EngineList> find(const FindEngines& request) {
    Core core({}, queue);
    core.start({});
    return find_engines(*catalog, core.view(request.name), request);
  }
  std::vector<Digest> found(const FindEngines& request) {
    std::vector<Digest> digests;
    for (const EngineView& engine : must(find(request)).engines) digests.push_back(engine.engine);
    return digests;
  }
  ErrorCode refused(const FindEngines& request) {
    const Result<EngineList> list = find(request);
    EXPECT_FALSE(list.ok()) << request.name;
    return list.ok() ? ErrorCode::internal : list.error().code;
  }
  Result<WhyMissReply> why(const std::string& subject) {
    Core core({}, queue);
    core.start({});
    return why_miss(*catalog, core.view(subject), {subject});
  }
};

using Digests = std::vector<Digest>;

TEST_F(CatalogQuestionsTest, ANameHasItsNewestEngineFirst) {
  const Digest old = add_engine("net", "x", "1"), other = add_engine("other", "x", "2");
  const Digest newest = add_engine("net", "y", "3");
  EXPECT_EQ(found({"net", "", "", 10}), (Digests{newest, old}));
  EXPECT_EQ(found({"net", "", "x", 10}), Digests{old});
  EXPECT_EQ(found({"net", "", "", 1}), Digests{newest});
  EXPECT_EQ(found({"", "", "", 10}), (Digests{newest, other, old}));  // everything
}

// The newest 1000 of a name are not all that there is: a SKU that is rarely built has its own.
TEST_F(CatalogQuestionsTest, ASkuThatIsRarelyBuiltIsFoundBehindManyOthers) {
  const Digest rare = add_engine("net", "rare", "1");
  for (int i = 0; i < 20; ++i) add_engine("net", "often", "often " + std::to_string(i));
  EXPECT_EQ(found({"net", "", "rare", 10}), Digests{rare});
  EXPECT_TRUE(found({"net", "", "never", 10}).empty());
  EXPECT_EQ(refused({"unknown", "", "rare", 10}), ErrorCode::not_found);
}

TEST_F(CatalogQuestionsTest, ALimitOfNothingIsOne) {
  add_engine("net", "x", "1");
  add_engine("net", "y", "2");
  EXPECT_EQ(found({"net", "", "", 0}).size(), 1u);
}

TEST_F(CatalogQuestionsTest, ADigestIsFoundByItsBeginningWhateverItsName) {
  const Digest engine = add_engine("net", "x", "1");
  EXPECT_EQ(found({engine.text(), "", "", 10}), Digests{engine});
  EXPECT_EQ(found({"sha256:" + engine.hex().substr(0, 8), "", "", 10}), Digests{engine});
  EXPECT_TRUE(found({engine.text(), "", "y", 10}).empty());  // of another SKU
  EXPECT_EQ(refused({sha256("none").text()}), ErrorCode::not_found);
  EXPECT_EQ(refused({"sha256:1234567"}), ErrorCode::invalid_argument);
}

TEST_F(CatalogQuestionsTest, ATagHasAnEngineForEachSku) {
  const Digest x = add_engine("net", "x", "1"), y = add_engine("net", "y", "2");
  add_engine("net", "x", "newer and not tagged");
  add_tag("net", "prod", "x", x);
  add_tag("net", "prod", "y", y);
  EXPECT_EQ(found({"net", "prod", "", 10}), (Digests{x, y}));
  EXPECT_EQ(found({"net", "prod", "y", 10}), Digests{y});
  EXPECT_EQ(refused({"net", "test", "", 10}), ErrorCode::not_found);
  EXPECT_EQ(refused({"net", "prod", "z", 10}), ErrorCode::not_found);
  EXPECT_EQ(refused({"other", "prod", "", 10}), ErrorCode::not_found);
}

TEST_F(CatalogQuestionsTest, ATaggedEngineWhoseFileIsGoneIsLeftOut) {
  const Digest x = add_engine("net", "x", "1"), y = add_engine("net", "y", "2");
  add_tag("net", "prod", "x", x);
  add_tag("net", "prod", "y", y);
  EXPECT_TRUE(blobs.remove(x).ok());
  EXPECT_EQ(found({"net", "prod", "", 10}), Digests{y});
}

TEST_F(CatalogQuestionsTest, AJobHasTheEnginesOfItsFinishedTargetsUnderItsOwnName) {
  const Digest x = add_engine("somebody else's", "x", "1");
  add_job({"x", "y"}, {x});
  const EngineList list = must(find({"j1", "", "", 10}));
  ASSERT_EQ(list.engines.size(), 1u);
  EXPECT_EQ(list.engines[0].engine, x);
  EXPECT_EQ(list.engines[0].name, "submitted");
  EXPECT_EQ(list.engines[0].job, "j1");
  EXPECT_TRUE(found({"j1", "", "y", 10}).empty());
}

TEST_F(CatalogQuestionsTest, AnUnknownNameIsNotFoundWithAShortSentence) {
  EXPECT_EQ(refused({"nothing"}), ErrorCode::not_found);
  EXPECT_LT(find({std::string(100'000, 'n')}).error().message.size(), 200u);
}

// --- why a key was a miss

ActionKey engine_key_of(const std::string& model, const std::string& sku) {
  return ActionKey("engine", "local").add("model", sha256(model).text()).add("sku", sku);
}

TEST_F(CatalogQuestionsTest, AMissNamesTheNearestKeyAndTheFieldsThatDiffer) {
  const ActionKey had = engine_key_of("old", "x"), wanted = engine_key_of("new", "x");
  ActionResult result;
  result.key = had.digest();
  result.outcome = "{}";
  ASSERT_TRUE(catalog->results().commit(had, result).ok());
  ASSERT_TRUE(catalog->results().record_action(wanted).ok());
  const WhyMissReply reply = must(why(wanted.digest().text()));
  ASSERT_EQ(reply.misses.size(), 1u);
  const MissView& miss = reply.misses[0];
  EXPECT_FALSE(miss.present);
  EXPECT_EQ(miss.nearest, had.digest());
  EXPECT_EQ(miss.sku, "x");
  ASSERT_EQ(miss.differs.size(), 1u);
  EXPECT_EQ(miss.differs[0].field, "model");
}

TEST_F(CatalogQuestionsTest, AKeyWithAResultIsNoMiss) {
  const ActionKey key = engine_key_of("m", "x");
  ActionResult result;
  result.key = key.digest();
  result.outcome = "{}";
  ASSERT_TRUE(catalog->results().commit(key, result).ok());
  EXPECT_TRUE(must(why(key.digest().hex())).misses.at(0).present);
}

TEST_F(CatalogQuestionsTest, TheFirstMissOfACatalogHasNoNearestKey) {
  const ActionKey key = engine_key_of("m", "x");
  ASSERT_TRUE(catalog->results().record_action(key).ok());
  const MissView miss = must(why(key.digest().hex())).misses.at(0);
  EXPECT_FALSE(miss.nearest);
  EXPECT_TRUE(miss.differs.empty());
}

TEST_F(CatalogQuestionsTest, AJobHasAMissForEachTarget) {
  add_job({"x", "y"}, {});
  Core core({}, queue);
  for (const Digest& key : core.engine_keys("j1"))
    EXPECT_FALSE(catalog->results().find_action(key).ok());  // not recorded yet
  EXPECT_FALSE(why("j1").ok());
  for (const TargetRequest& target : queue.jobs[1].request.targets) {
    ActionKey key("engine", "local");
    for (const NamedText& field : target.engine_key) key.add(field.name, field.value);
    ASSERT_TRUE(catalog->results().record_action(key).ok());
  }
  const WhyMissReply reply = must(why("j1"));
  ASSERT_EQ(reply.misses.size(), 2u);
  EXPECT_EQ(reply.misses[0].sku, "x");
  EXPECT_EQ(reply.misses[1].sku, "y");
}

// The job's own result, and others that came after it, explain nothing of why it was built.
TEST_F(CatalogQuestionsTest, AJobIsExplainedWithWhatThereWasWhenItCame) {
  const auto commit = [&](const ActionKey& key) {
    ActionResult result;
    result.key = key.digest();
    result.outcome = "{}";
    ASSERT_TRUE(catalog->results().commit(key, result).ok());
  };
  add_job({"x"}, {});
  const std::vector<NamedText>& fields = queue.jobs[1].request.targets[0].engine_key;
  ActionKey own("engine", "local"), later("engine", "local");
  for (const NamedText& field : fields) own.add(field.name, field.value);
  for (const NamedText& field : fields) later.add(field.name, field.value + "'");
  const ActionKey before = engine_key_of("another model", "x");
  commit(before);
  clock.now += std::chrono::seconds(1);
  queue.jobs[1].submitted_ns = clock.now.count();
  ASSERT_TRUE(catalog->results().record_action(own).ok());
  clock.now += std::chrono::seconds(1);
  for (const ActionKey& key : {own, later}) commit(key);

  const MissView miss = must(why("j1")).misses.at(0);
  EXPECT_FALSE(miss.present);
  EXPECT_EQ(miss.nearest, before.digest());
  EXPECT_TRUE(must(why(own.digest().hex())).misses.at(0).present) << "asked for the key: it is now";
}

TEST_F(CatalogQuestionsTest, WhatIsNeitherAJobNorAKeyIsRefused) {
  for (const char* subject : {"j99", "", "not hex", "sha256:12"}) EXPECT_FALSE(why(subject).ok());
}

TEST_F(CatalogQuestionsTest, EventsComeFromTheNewestATimeOrAPlace) {
  for (int64_t i = 1; i <= 5; ++i)
    must(catalog->events().append({0, i % 2 == 1 ? "j1" : "", i * 10, "k", R"({"n":"x"})"}));
  const struct {
    const char* what;
    ListEvents request;
    std::vector<int64_t> times;
    bool more;
  } rows[] = {
      {"the newest", {"", 0, 0, 2, 0}, {40, 50}, false},
      {"of a job", {"j1", 0, 0, 2, 0}, {30, 50}, false},
      {"since a time", {"", 0, 25, 0, 0}, {30, 40, 50}, false},
      {"all", {"", 0, 1, 0, 0}, {10, 20, 30, 40, 50}, false},
      {"a page", {"", 0, 1, 2, 0}, {10, 20}, true},
      {"behind a place", {"", 3, 0, 0, 0}, {40, 50}, false},
      {"behind the end", {"", 5, 0, 0, 0}, {}, false},
  };
  for (const auto& row : rows) {
    const EventList list = must(list_events(*catalog, row.request));
    std::vector<int64_t> times;
    for (const EventView& event : list.events) times.push_back(event.time_ns);
    EXPECT_EQ(times, row.times) << row.what;
    EXPECT_EQ(list.more, row.more) << row.what;
    EXPECT_EQ(list.next, row.times.empty() ? 5 : row.times.back() / 10) << row.what;
  }
}

// Whoever sees one tenant's jobs gets the newest of those, however many others' lie between.
TEST_F(CatalogQuestionsTest, EventsAreThoseOfTheJobsThatAreSeen) {
  must(make_sqlite_store(*catalog));
  for (const auto& [job, tenant] : std::map<int, std::string>{{1, "blue"}, {2, "red"}})
    ASSERT_TRUE(
        catalog->database()
            .execute(
                "INSERT INTO queue_job(number, request_high, request_low, state, submitted_ns, "
                "ended_ns, request, tenant) VALUES(?1, 0, ?1, 0, 0, 0, x'', ?2)",
                job, tenant)
            .ok());
  for (int64_t i = 1; i <= 40; ++i) {
    const char* job = i % 20 == 0 ? "j1" : i % 3 == 0 ? "" : "j2";
    must(catalog->events().append({0, job, i, "k", "{}"}));
  }
  const auto times_of = [&](const ListEvents& request, const Sight& sight) {
    std::vector<int64_t> times;
    for (const EventView& event : must(list_events(*catalog, request, sight)).events)
      times.push_back(event.time_ns);
    return times;
  };
  using Found = std::vector<int64_t>;
  EXPECT_EQ(times_of({"", 0, 0, 2, 0}, "blue"), (Found{20, 40})) << "the newest";
  EXPECT_EQ(times_of({"", 0, 0, 1, 0}, "blue"), Found{40});
  EXPECT_EQ(times_of({"", 0, 1, 1, 0}, "blue"), Found{20}) << "a page";
  EXPECT_EQ(times_of({"", 20, 0, 1, 0}, "blue"), Found{40}) << "the next one";
  EXPECT_EQ(times_of({"j2", 0, 1, 0, 0}, "blue"), Found{});
  EXPECT_EQ(times_of({"", 0, 1, 0, 0}, "green"), Found{});
  EXPECT_EQ(times_of({"", 0, 0, 3, 0}, std::nullopt), (Found{38, 39, 40}));
}

struct EngineSetTest : CatalogQuestionsTest {
  SigningKey key = SigningKey::generate();
  Result<EngineSet> set(const std::string& name) {
    Core core({}, queue);
    core.start({});
    TRY(const SetReply reply, make_set(*catalog, core.view(name), {name, ""}, key));
    TRY(SignedSet read, read_set(as_bytes(reply.set), {{key.public_key()}}));
    return std::move(read.set);
  }
};

TEST_F(EngineSetTest, OfAJobHasItsEnginesAndSaysWhatIsMissing) {
  const Digest a = add_engine("submitted", "a", "engine a"),
               b = add_engine("submitted", "b", "engine b");
  add_job({"b", "a", "c"}, {b, a});
  const EngineSet set = must(this->set("j1"));
  EXPECT_EQ(set.name, "submitted");
  EXPECT_EQ(set.job, "j1");
  ASSERT_EQ(set.engines.size(), 2u);
  EXPECT_EQ(set.engines[0].engine, a) << "in the order of SKUs";
  EXPECT_EQ(set.engines[1].engine, b);
  EXPECT_EQ(set.engines[0].key, sha256("key of engine a"));
  ASSERT_EQ(set.missing.size(), 1u);
  EXPECT_EQ(set.missing[0].sku, "c");
  EXPECT_TRUE(set.missing[0].reason.starts_with("failed")) << set.missing[0].reason;
}

TEST_F(EngineSetTest, OfANameHasTheNewestOfEachSku) {
  add_engine("net", "a", "old a");
  const Digest a = add_engine("net", "a", "new a"), b = add_engine("net", "b", "b");
  const EngineSet set = must(this->set("net"));
  EXPECT_EQ(set.job, "");
  ASSERT_EQ(set.engines.size(), 2u);
  EXPECT_EQ(set.engines[0].engine, a);
  EXPECT_EQ(set.engines[1].engine, b);
}

TEST_F(EngineSetTest, MixesNoModels) {
  EngineRow row;
  row.digest = must(blobs.put(as_bytes(std::string_view("of another model"))));
  row.name = "net";
  row.sku = "b";
  row.model = sha256("another model");
  ASSERT_TRUE(catalog->engines().add(row).ok());
  add_engine("net", "a", "newer");
  const EngineSet set = must(this->set("net"));
  ASSERT_EQ(set.engines.size(), 1u);
  EXPECT_EQ(set.engines[0].sku, "a");
}

TEST_F(EngineSetTest, IsRefusedForWhatHasNone) {
  add_job({"a"}, {});
  queue.jobs[1].state = JobState::running;
  queue.jobs[1].targets[0].state = TargetState::queued;
  EXPECT_EQ(set("j1").error().code, ErrorCode::not_found);
  EXPECT_EQ(set("nosuch").error().code, ErrorCode::not_found);
  EXPECT_EQ(set("sha256:0011223344").error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace enginery
