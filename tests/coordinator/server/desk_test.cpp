// Requests of this process to the control thread.
#include "coordinator/server/desk.h"

#include <gtest/gtest.h>

#include <thread>

namespace enginery {
namespace {

using std::chrono::milliseconds;

TEST(Desk, HandsARequestOverAndTheAnswerBack) {
  int rings = 0;
  Desk desk([&] { ++rings; });
  std::thread control([&] {
    std::vector<Incoming> taken;
    while (taken.empty()) taken = desk.take();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0].route, "") << "no peer has such a route";
    EXPECT_TRUE(std::holds_alternative<ListSkus>(taken[0].message.envelope.body));
    desk.answer(taken[0].message.envelope.request, SkuList{{{"cpu-avx2", "cpu", "t", 1, 1, 0}}});
  });
  const Result<Body> answer = desk.ask(ListSkus{}, milliseconds(20000));
  control.join();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(std::get<SkuList>(*answer).skus.size(), 1u);
  EXPECT_EQ(rings, 1);
}

TEST(Desk, AnErrorReplyIsAnError) {
  Desk desk([] {});
  std::thread control([&] {
    std::vector<Incoming> taken;
    while (taken.empty()) taken = desk.take();
    desk.answer(taken[0].message.envelope.request, ErrorReply{{ErrorCode::not_found, "no such"}});
  });
  const Result<Body> answer = desk.ask(ShowJob{"j1"}, milliseconds(20000));
  control.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::not_found);
  EXPECT_EQ(answer.error().message, "no such");
}

TEST(Desk, WhoWaitsInVainHearsSoAndALateAnswerIsDropped) {
  Desk desk([] {});
  const Result<Body> answer = desk.ask(ListSkus{}, milliseconds(10));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  const std::vector<Incoming> taken = desk.take();
  ASSERT_EQ(taken.size(), 1u);
  desk.answer(taken[0].message.envelope.request, SkuList{});
}

}  // namespace
}  // namespace enginery
