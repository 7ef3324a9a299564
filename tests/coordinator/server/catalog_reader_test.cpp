// Questions to the catalog in their own thread, over their own connection.
#include "coordinator/server/catalog_reader.h"

#include <gtest/gtest.h>

#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

struct CatalogReaderTest : testing::Test {
  TemporaryFolder folder;
  std::unique_ptr<Catalog> catalog = must(Catalog::open(folder.path));
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0;
  CatalogReader reader{*catalog, must(Catalog::open_reader(*catalog)), SigningKey::generate(),
                       [this] {
                         {
                           const std::lock_guard lock(mutex);
                           ++done;
                         }
                         changed.notify_all();
                       }};

  CatalogReader::Question question(uint64_t id, const std::string& name) {
    return {{"client", {0, id}}, FindEngines{name, "", "", 10}, std::nullopt};
  }
  std::vector<Reply> wait_for(int count) {
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return done >= count; }));
    return reader.take();
  }
};

TEST_F(CatalogReaderTest, AnswersWhileAWriterHoldsTheCatalog) {
  EngineRow row;
  row.digest = must(catalog->blobs().put(as_bytes(std::string_view("engine"))));
  row.name = "net";
  row.sku = "x";
  ASSERT_TRUE(catalog->engines().add(row).ok());
  const Transaction writing = must(Transaction::begin(catalog->database()));
  ASSERT_TRUE(reader.post(question(1, "net")));
  const std::vector<Reply> answers = wait_for(1);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].to.request, (RequestId{0, 1}));
  EXPECT_EQ(std::get<EngineList>(answers[0].body).engines.at(0).engine, row.digest);
}

TEST_F(CatalogReaderTest, AnErrorIsAnAnswer) {
  ASSERT_TRUE(reader.post(question(1, "nothing")));
  const std::vector<Reply> answers = wait_for(1);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(std::get<ErrorReply>(answers[0].body).fault.code, ErrorCode::not_found);
}

TEST_F(CatalogReaderTest, TooManyQuestionsAreDroppedAndRepetitionsAreOne) {
  // The answers wait for the callback, so that the questions wait too.
  std::unique_lock lock(mutex);
  ASSERT_TRUE(reader.post(question(1, "a")));
  int taken = 0;
  for (uint64_t id = 2; id < 1000; ++id) taken += reader.post(question(id, "a"));
  EXPECT_GE(taken, 63);
  EXPECT_LE(taken, 65);
  EXPECT_FALSE(reader.post(question(2000, "a")));
  EXPECT_TRUE(reader.post(question(60, "a")));  // it waits already
}

TEST_F(CatalogReaderTest, AQuestionForEventsIsHeldUntilTheJournalGrows) {
  constexpr uint32_t kLong = 20000;
  ASSERT_TRUE(reader.post({{"client", {0, 1}}, ListEvents{"", 0, 0, 10, kLong}, std::nullopt}));
  ASSERT_TRUE(reader.post(question(2, "x")));
  EXPECT_EQ(wait_for(1).at(0).to.request, (RequestId{0, 2})) << "it holds up nobody";
  EXPECT_TRUE(reader.post({{"client", {0, 1}}, ListEvents{"", 0, 0, 10, kLong}, std::nullopt}))
      << "a repetition is the same question";
  const int64_t number = must(catalog->events().append({0, "j1", 5, "leased", R"({"a":"b"})"}));
  reader.journal_grew();
  const std::vector<Reply> answers = wait_for(2);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].to.request, (RequestId{0, 1}));
  const auto& list = std::get<EventList>(answers[0].body);
  ASSERT_EQ(list.events.size(), 1u);
  EXPECT_EQ(list.events[0], (EventView{number, "j1", 5, "leased", {{"a", "b"}}}));
  EXPECT_EQ(list.next, number);
}

TEST_F(CatalogReaderTest, AHeldQuestionIsAnsweredWhenItsTimeIsOver) {
  ASSERT_TRUE(reader.post({{"client", {0, 1}}, ListEvents{"", 0, 0, 10, 30}, std::nullopt}));
  const std::vector<Reply> answers = wait_for(1);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(std::get<EventList>(answers[0].body).events.empty());
}

TEST_F(CatalogReaderTest, WritesNothing) {
  const auto own = must(Catalog::open_reader(*catalog));
  EXPECT_FALSE(own->timings().record_key(ActionKey("device", "local")).ok());
  EXPECT_FALSE(own->blobs().put(as_bytes(std::string_view("x"))).ok());
}

}  // namespace
}  // namespace enginery
