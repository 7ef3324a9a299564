#include "coordinator/core/polls.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

using std::chrono::seconds;

ReplyTo reply_to(const std::string& route) {
  return {route, {0, 1}};
}

std::vector<std::string> routes(const std::vector<ReplyTo>& replies) {
  std::vector<std::string> out;
  for (const ReplyTo& to : replies) out.push_back(to.route);
  return out;
}

TEST(Polls, TimersComeOutWhenTheyAreDueEarliestFirst) {
  Polls polls;
  EXPECT_FALSE(polls.next_timer());
  polls.arm({{seconds(3), TimerKind::back_off, 7}, {seconds(1), TimerKind::job_poll, 8}});
  EXPECT_EQ(polls.next_timer(), seconds(1));
  EXPECT_FALSE(polls.take_due(seconds(0)));
  const auto first = polls.take_due(seconds(3)), second = polls.take_due(seconds(3));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->id, 8u);
  EXPECT_EQ(second->kind, TimerKind::back_off);
  EXPECT_FALSE(polls.take_due(seconds(9)));
}

TEST(Polls, ASyncIsHeldOncePerWorker) {
  Polls polls;
  polls.hold_sync(1, reply_to("old"), seconds(5));
  polls.hold_sync(1, reply_to("new"), seconds(6));
  polls.keep_sync(1);
  EXPECT_EQ(polls.sync_deadline(1), seconds(6));
  EXPECT_FALSE(polls.sync_deadline(2));
  EXPECT_EQ(polls.next_timer(), seconds(6));
  const auto taken = polls.take_sync(1);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->route, "new");
  EXPECT_FALSE(polls.take_sync(1));
}

TEST(Polls, ANewDeadlineHasATimerOfItsOwn) {
  Polls polls;
  polls.hold_sync(1, reply_to("w"), seconds(5));
  polls.keep_sync_until(1, seconds(2));
  EXPECT_EQ(polls.sync_deadline(1), seconds(2));
  EXPECT_EQ(polls.next_timer(), seconds(2));
  polls.keep_sync_until(2, seconds(1));  // holds nothing: no timer
  EXPECT_EQ(polls.next_timer(), seconds(2));
}

TEST(Polls, AHeldReplyWithoutATimerIsABrokenRule) {
  Polls polls;
  EXPECT_EQ(polls.check(), "");
  polls.hold_sync(1, reply_to("w"), seconds(5));
  EXPECT_NE(polls.check(), "");
  polls.keep_sync(1);
  EXPECT_EQ(polls.check(), "");
}

TEST(Polls, AChangeLeavesThoseWhoWaitForTheEnd) {
  Polls polls;
  polls.hold_job(1, reply_to("change"), PollFor::any_change, seconds(5));
  polls.hold_job(1, reply_to("end"), PollFor::the_end, seconds(5));
  polls.hold_job(2, reply_to("another job"), PollFor::any_change, seconds(5));
  EXPECT_EQ(routes(polls.take_job(1, PollFor::any_change)), std::vector<std::string>{"change"});
  EXPECT_EQ(routes(polls.take_job(1, PollFor::the_end)), std::vector<std::string>{"end"});
  EXPECT_TRUE(polls.take_job(1, PollFor::the_end).empty());
}

TEST(Polls, ARepeatedWaitIsHeldOnce) {
  Polls polls;
  polls.hold_job(1, reply_to("c"), PollFor::any_change, seconds(5));
  polls.hold_job(1, reply_to("c"), PollFor::any_change, seconds(9));
  EXPECT_TRUE(polls.take_expired(1, seconds(4)).empty());
  EXPECT_EQ(polls.take_expired(1, seconds(5)).size(), 1u);
  EXPECT_TRUE(polls.take_expired(1, seconds(9)).empty());
}

TEST(Polls, TimersOfOneInstantComeByKindAndNumber) {
  Polls polls;
  const Nanoseconds at = seconds(1);
  polls.arm({{at, TimerKind::sign_again, 1},
             {at, TimerKind::worker_lost, 2},
             {at, TimerKind::worker_poll, 9},
             {at, TimerKind::worker_poll, 3}});
  std::vector<uint64_t> order;
  while (const auto timer = polls.take_due(at)) order.push_back(timer->id);
  EXPECT_EQ(order, (std::vector<uint64_t>{3, 9, 2, 1}));  // a Sync is answered before it is lost
}

TEST(Polls, AReplyThatWasTakenLeavesATimerThatMeansNothing) {
  Polls polls;
  polls.hold_sync(1, reply_to("w"), seconds(5));
  polls.keep_sync(1);
  polls.take_sync(1);
  EXPECT_EQ(polls.next_timer(), seconds(5));
  ASSERT_TRUE(polls.take_due(seconds(5)));
  EXPECT_FALSE(polls.sync_deadline(1));
  EXPECT_EQ(polls.check(), "");
}

TEST(Polls, ASyncHeldAnewNeedsATimerOfItsOwn) {
  Polls polls;
  polls.hold_sync(1, reply_to("w"), seconds(5));
  polls.keep_sync(1);
  polls.hold_sync(1, reply_to("w"), seconds(6));
  EXPECT_NE(polls.check(), "");  // the armed one is for another instant
  polls.keep_sync(1);
  EXPECT_EQ(polls.check(), "");
}

TEST(Polls, OnlyTheWaitsWhoseTimeHasComeExpire) {
  Polls polls;
  for (uint64_t i = 1; i <= 4; ++i)
    polls.hold_job(1, {"c" + std::to_string(i), {0, i}}, PollFor::the_end, seconds(i));
  EXPECT_EQ(routes(polls.take_expired(1, seconds(2))), (std::vector<std::string>{"c1", "c2"}));
  EXPECT_EQ(routes(polls.take_job(1, PollFor::the_end)), (std::vector<std::string>{"c3", "c4"}));
}

TEST(Polls, TwoRequestsOfOneClientAreHeldBoth) {
  Polls polls;
  polls.hold_job(1, {"c", {0, 1}}, PollFor::any_change, seconds(5));
  polls.hold_job(1, {"c", {0, 2}}, PollFor::any_change, seconds(5));
  EXPECT_EQ(polls.take_job(1, PollFor::any_change).size(), 2u);
}

}  // namespace
}  // namespace enginery
