// What row changes count as, and the sums.
#include "coordinator/server/tally.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

using Kind = Tick::Kind;

std::vector<Tick> ticks_of(const RowChange& row) {
  std::vector<Tick> ticks;
  append_ticks(row, ticks);
  return ticks;
}

TargetRow target(TargetState state, Source source) {
  TargetRow row;
  row.state = state;
  row.source = source;
  row.timings_measured = 12;
  row.timings_reused = 3;
  return row;
}

TEST(Ticks, AreTheEndsOfThings) {
  EXPECT_EQ(ticks_of(InsertJob{}), (std::vector<Tick>{{Kind::job_opened}}));
  EXPECT_TRUE(ticks_of(UpdateJob{1, JobState::running, 0}).empty());
  EXPECT_EQ(ticks_of(UpdateJob{1, JobState::failed, 5}),
            (std::vector<Tick>{{Kind::job_ended, {"failed"}}}));
  AttemptRow attempt;
  EXPECT_TRUE(ticks_of(SaveAttempt{attempt}).empty()) << "it has only begun";
  attempt.outcome = OutcomeKind::worker_lost;
  EXPECT_EQ(ticks_of(SaveAttempt{attempt}),
            (std::vector<Tick>{{Kind::attempt_ended, {to_string(OutcomeKind::worker_lost)}}}));
  EXPECT_TRUE(ticks_of(SaveTarget{1, 0, target(TargetState::running, Source::none)}).empty());
  EXPECT_EQ(ticks_of(SaveTarget{1, 0, target(TargetState::done, Source::cache)}),
            (std::vector<Tick>{{Kind::target_ended, {"done", "cache"}}}))
      << "a hit measured nothing";
  EXPECT_EQ(ticks_of(SaveTarget{1, 0, target(TargetState::done, Source::built)}),
            (std::vector<Tick>{{Kind::target_ended, {"done", "built"}},
                               {Kind::timings, {"measured"}, 12},
                               {Kind::timings, {"reused"}, 3}}));
  EXPECT_EQ(ticks_of(AppendEvent{"j1", "leased", {{"step", "4"}}}),
            (std::vector<Tick>{{Kind::event, {"leased"}}, {Kind::step_leased, {"4"}}}));
}

TEST(Tally, CountsJobsOpenFromWhatWasLoaded) {
  Tally tally;
  tally.loaded(3);
  tally.count({{Kind::job_opened}, {Kind::job_ended, {"done"}}, {Kind::job_ended, {"done"}}}, {});
  const TallySums sums = tally.sums();
  EXPECT_EQ(sums.jobs_open, 2u);
  EXPECT_EQ(sums.jobs_submitted, 1u);
  EXPECT_EQ(sums.jobs_ended, (TallySums::Counts{{{"done"}, 2}}));
}

TEST(Tally, TheWaitOfAStepIsFromQueuedToItsFirstLease) {
  Tally tally;
  const auto at = [](int s) { return Nanoseconds(std::chrono::seconds(s)); };
  tally.count({{Kind::step_queued, {"4"}}}, at(10));
  tally.count({{Kind::step_leased, {"4"}}, {Kind::step_leased, {"5"}}}, at(13));
  tally.count({{Kind::step_leased, {"4"}}}, at(99));
  const TallySums sums = tally.sums();
  EXPECT_EQ(sums.step_wait.sum, 3);
  uint64_t all = 0;
  for (const uint64_t count : sums.step_wait.counts) all += count;
  EXPECT_EQ(all, 1u);
}

TEST(Tally, ACommitFallsIntoItsBucket) {
  Tally tally;
  tally.committed(std::chrono::milliseconds(2));
  tally.committed(std::chrono::seconds(9));
  const MetricHistogram commit = tally.sums().commit;
  EXPECT_EQ(commit.counts[1], 1u) << "of at most 2.5 ms";
  EXPECT_EQ(commit.counts.back(), 1u);
}

}  // namespace
}  // namespace enginery
