// The words for states and outcomes, which people and scripts see, and request ids.
#include "schemas/messages.h"

#include <gtest/gtest.h>

#include <set>

namespace enginery {
namespace {

// The words of every enumerator up to the last one, in their order.
template <typename E>
std::vector<std::string> words_up_to(E last) {
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(last); ++i)
    words.emplace_back(to_string(static_cast<E>(i)));
  return words;
}

using Words = std::vector<std::string>;

TEST(Words, OfTheStatesAreWhatPeopleAndScriptsRead) {
  EXPECT_EQ(words_up_to(JobState::cancelled),
            (Words{"submitted", "queued", "running", "done", "failed", "cancelled"}));
  EXPECT_EQ(words_up_to(TargetState::cancelled),
            (Words{"queued", "running", "done", "failed", "cancelled"}));
  EXPECT_EQ(words_up_to(Source::joined), (Words{"", "built", "cache", "joined"}));
  EXPECT_EQ(words_up_to(StepState::quarantined),
            (Words{"waiting", "queued", "leased", "running", "committing", "done", "failed",
                   "cancelled", "quarantined"}));
  EXPECT_EQ(words_up_to(WorkerCondition::quarantined),
            (Words{"idle", "busy", "draining", "lost", "quarantined"}));
  EXPECT_EQ(
      words_up_to(OutcomeKind::input_gone),
      (Words{"succeeded", "failed", "cancelled", "worker_lost", "preempted", "back_pressure",
             "out_of_memory", "storage", "internal", "partitioned", "crashed", "input_gone"}));
}

TEST(Words, OfANumberThatIsNotThereAreUnknown) {
  EXPECT_STREQ(to_string(static_cast<JobState>(6)), "unknown");
  EXPECT_STREQ(to_string(static_cast<TargetState>(5)), "unknown");
  EXPECT_STREQ(to_string(static_cast<Source>(4)), "unknown");
  EXPECT_STREQ(to_string(static_cast<StepState>(9)), "unknown");
  EXPECT_STREQ(to_string(static_cast<WorkerCondition>(5)), "unknown");
  EXPECT_STREQ(to_string(static_cast<OutcomeKind>(12)), "unknown");
}

TEST(States, AreEndsFromDoneOn) {
  const std::set<std::string> ends = {"done", "failed", "cancelled", "quarantined"};
  for (int i = 0; i <= static_cast<int>(StepState::quarantined); ++i) {
    const auto state = static_cast<StepState>(i);
    EXPECT_EQ(is_end(state), ends.contains(to_string(state))) << to_string(state);
  }
  for (int i = 0; i <= static_cast<int>(JobState::cancelled); ++i) {
    const auto state = static_cast<JobState>(i);
    EXPECT_EQ(is_end(state), ends.contains(to_string(state))) << to_string(state);
  }
  for (int i = 0; i <= static_cast<int>(TargetState::cancelled); ++i) {
    const auto state = static_cast<TargetState>(i);
    EXPECT_EQ(is_end(state), ends.contains(to_string(state))) << to_string(state);
  }
}

TEST(RequestIds, AreWrittenWithAllTheirDigits) {
  EXPECT_EQ((RequestId{0, 0x1f}).text(), "0000000000000000000000000000001f");
  EXPECT_EQ((RequestId{~0ull, 0}).text(), "ffffffffffffffff0000000000000000");
}

TEST(RequestIds, AreNeverTheSame) {
  std::set<RequestId> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(make_request_id());
  EXPECT_EQ(ids.size(), 1000u);
}

}  // namespace
}  // namespace enginery
