// The timing cache in a file: what is kept, when it is written, what is refused.
#include "worker/timing/timing_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/file.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/timing_of.h"

namespace enginery {
namespace {

using test::timing_of;

class TimingFile : public testing::Test {
 protected:
  Result<std::unique_ptr<FileTimingStore>> open() { return FileTimingStore::open(file_, clock_); }
  std::unique_ptr<FileTimingStore> opened() {
    auto store = open();
    EXPECT_TRUE(store.ok()) << store.error().message;
    return std::move(*store);
  }
  // Tactics that the file has of a problem; -1 where there is no file.
  int stored(const std::string& device = "d", const std::string& problem = "p") {
    const auto text = read_file(file_);
    if (!text.ok()) return -1;
    const auto entries = parse_timings(*text);
    EXPECT_TRUE(entries.ok()) << *text;
    return static_cast<int>(std::count_if(entries->begin(), entries->end(), [&](const auto& e) {
      return e.device == device && e.problem == problem;
    }));
  }

  const test::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path / "timings.json";
  test::FakeClock clock_;
};

TEST_F(TimingFile, RemembersAcrossProcesses) {
  {
    const auto store = opened();
    for (int i = 0; i < 10; ++i)
      ASSERT_TRUE(store->put("d", "p", timing_of("t" + std::to_string(i), i)).ok());
    ASSERT_TRUE(store->save().ok());
  }
  const auto store = opened();
  auto found = store->find("d", "p");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 10u);
  EXPECT_EQ((*found)[3].statistics.median_us, 4);
  EXPECT_TRUE(store->find("d", "another")->empty());
}

TEST_F(TimingFile, IsWrittenWhenTheLastWritingIsThreeSecondsPast) {
  const auto store = opened();
  ASSERT_TRUE(store->put("d", "p", timing_of("a", 1)).ok());
  EXPECT_EQ(stored(), 1) << "the first one at once";
  clock_.advance(std::chrono::milliseconds(2999));
  ASSERT_TRUE(store->put("d", "p", timing_of("b", 1)).ok());
  EXPECT_EQ(stored(), 1);
  clock_.advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(store->put("d", "p", timing_of("c", 1)).ok());
  EXPECT_EQ(stored(), 3);
  ASSERT_TRUE(store->put("d", "p", timing_of("e", 1)).ok());
  EXPECT_EQ(stored(), 3) << "three seconds from the last writing, not from the first";
  ASSERT_TRUE(store->save().ok());
  EXPECT_EQ(stored(), 4);
}

TEST_F(TimingFile, IsLeftAloneWhereNothingIsNew) {
  ASSERT_TRUE(opened()->save().ok());
  EXPECT_EQ(stored(), -1) << "a build that measured nothing makes no file";
  const auto store = opened();
  ASSERT_TRUE(store->put("d", "p", timing_of("a", 1)).ok());
  std::filesystem::remove(file_);
  ASSERT_TRUE(store->save().ok());
  EXPECT_EQ(stored(), -1) << "what was written is not new any more";
}

TEST_F(TimingFile, AddsToWhatWasThere) {
  ASSERT_TRUE(opened()->put("d", "p", timing_of("a", 1)).ok());
  const auto store = opened();
  ASSERT_TRUE(store->put("d", "p", timing_of("a", 7, 2000)).ok());
  ASSERT_TRUE(store->put("d", "q", timing_of("a", 1)).ok());
  ASSERT_TRUE(store->put("other", "p", timing_of("a", 1)).ok());
  ASSERT_TRUE(store->save().ok());
  EXPECT_EQ(stored("d", "p"), 1) << "the later timing of a tactic takes the earlier one's place";
  EXPECT_EQ(stored("d", "q"), 1);
  EXPECT_EQ(stored("other", "p"), 1);
}

TEST_F(TimingFile, OfTheSameTimingsIsTheSameWhateverTheirOrder) {
  std::vector<TimingEntryText> entries{
      {"d", "p", timing_of("a", 1)}, {"d", "q", timing_of("b", 2)}, {"e", "p", timing_of("c", 3)}};
  const std::string text = timings_to_json(entries);
  std::reverse(entries.begin(), entries.end());
  EXPECT_EQ(timings_to_json(entries), text);
}

TEST_F(TimingFile, KeepsNewsThatCouldNotBeWritten) {
  const auto store = FileTimingStore::open(folder_.path / "later/timings.json", clock_);
  ASSERT_TRUE(store.ok());
  const Status refused = (*store)->put("d", "p", timing_of("a", 1));
  ASSERT_FALSE(refused.ok()) << "its folder is not there yet";
  EXPECT_EQ(refused.error().code, ErrorCode::storage) << refused.error().message;
  EXPECT_NE(refused.error().message.find("later/timings.json"), std::string::npos)
      << refused.error().message;
  ASSERT_TRUE(make_folder(folder_.path / "later").ok());
  ASSERT_TRUE((*store)->save().ok());
  EXPECT_EQ(parse_timings(*read_file(folder_.path / "later/timings.json"))->size(), 1u);
}

TEST_F(TimingFile, RefusesWhatIsNoTimingCache) {
  const std::string head = R"({"schema":"enginery.timings/1","devices":[)";
  const std::string rows[] = {
      "",
      "[]",
      "null",
      R"({"schema":"other/1"})",
      R"({"schema":"enginery.timings/2","devices":[]})",
      R"({"schema":7,"devices":[]})",
      R"({"schema":"enginery.timings/1"})",
      head + R"({"device":1,"problems":[]}, 3]})",
      head + R"({"device":"d"}]})",
      head + R"({"device":"d","problems":[{"problem":"p"}]}]})",
      head + R"({"device":"d","problems":[{"problem":["p"],"timings":[{"tactic":"t"}]}]}]})",
      head + R"({"device":"d","problems":[{"problem":"p","timings":[{"samples":3}]}]}]})",
  };
  for (const std::string& text : rows) {
    ASSERT_TRUE(write_file(file_, text).ok());
    const auto store = open();
    ASSERT_FALSE(store.ok()) << text;
    EXPECT_EQ(store.error().code, ErrorCode::corrupt_data) << text;
    EXPECT_NE(store.error().message.find(file_.string()), std::string::npos)
        << store.error().message;
    EXPECT_EQ(*read_file(file_), text) << "a file that is not ours is never written over";
  }
}

// A writing that was interrupted, or a disk that lost its end: at no length is it read as less
// than it was.
TEST_F(TimingFile, RefusesAFileThatWasCutAnywhere) {
  const std::string whole =
      timings_to_json({{"d", "p", timing_of("a", 1)}, {"d", "q", timing_of("b", 2)}});
  ASSERT_TRUE(parse_timings(whole).ok());
  for (size_t size = 0; size + 1 < whole.size(); ++size)
    EXPECT_FALSE(parse_timings(whole.substr(0, size)).ok()) << size << " of " << whole.size();
}

TEST_F(TimingFile, TakesFieldsOfLaterVersions) {
  const auto entries = parse_timings(
      R"({"schema":"enginery.timings/1","made_by":"9.9","devices":[{"device":"d","host":"h","problems":[
          {"problem":"p","shape":[1,2],"timings":[{"tactic":"t","colour":"red","median_us":5}]}]}]})");
  ASSERT_TRUE(entries.ok()) << entries.error().message;
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ(entries->front().timing.tactic, "t");
  EXPECT_EQ(entries->front().timing.statistics.median_us, 5);
}

TEST_F(TimingFile, ReplacesBytesOfAKeyThatAreNoText) {
  const std::string text = timings_to_json({{"d\xff", "p", timing_of("a", 1)}});
  const auto entries = parse_timings(text);
  ASSERT_TRUE(entries.ok()) << text;
  EXPECT_EQ(entries->front().device, "d\xEF\xBF\xBD");
}

}  // namespace
}  // namespace enginery
