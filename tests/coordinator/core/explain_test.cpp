#include <chrono>

#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

using std::chrono::seconds;

std::string why(CoreHarness& farm, const std::string& job) {
  const ExplainReply reply = body_of<ExplainReply>(farm.ask(ExplainJob{job}));
  return reply.targets.empty() ? "" : reply.targets[0].reason;
}

TEST(Explain, AWorkerBetweenTwoSyncsIsConnected) {
  CoreHarness farm;
  farm.sync("w", "x", Idle{});
  farm.pass(seconds(6));  // its question was answered, and it has not asked again yet
  ASSERT_TRUE(farm.heard("w"));
  const std::string job = farm.submit(make_submit("m", {"x"})).id;
  EXPECT_EQ(why(farm, job), "validate waits for one of 1 worker(s)");
  farm.pass(seconds(20));
  EXPECT_EQ(why(farm, job), "waits for any worker: none is connected");
}

TEST(Explain, AWorkerWithALeaseIsConnectedAcrossARestart) {
  CoreHarness farm;
  farm.submit(make_submit("m", {"x"}));
  const RunStep tune = run_of(farm.finish("w", "x", run_of(farm.sync("w", "x", Idle{}))));
  farm.sync("w", "x", Running{tune.ref, {}});
  const std::string other = farm.submit(make_submit("m2", {"x"}, "net 2")).id;
  farm.restart();
  EXPECT_EQ(why(farm, other), "validate waits for one of 1 worker(s)");
  farm.pass(seconds(20));
  EXPECT_EQ(why(farm, other), "waits for any worker: none is connected");
}

TEST(Explain, JustAfterARestartNobodyIsSaidToBeAbsent) {
  CoreHarness farm;
  farm.sync("w", "x", Idle{});
  farm.pass(seconds(60));
  farm.restart();
  SubmitRequest request = make_submit("m", {"x"});
  request.wait_for_workers = true;
  const std::string job = farm.submit(request).id;
  farm.pass(seconds(3));
  EXPECT_EQ(why(farm, job),
            "waits for any worker: none has been heard of since the coordinator started 3 s ago");
}

TEST(Explain, AWorkerWithAnotherToolchainIsNotSaidToBeAbsent) {
  CoreHarness farm;
  const RunStep validate = [&] {
    farm.sync("w", "x", Idle{});
    SubmitRequest request = make_submit("m", {"x"});
    request.targets[0].toolchain = "tool 1";
    farm.submit(request);
    return run_of(farm.heard("w"));
  }();
  SyncRequest upgraded;
  upgraded.worker = "w2";
  upgraded.incarnation = upgraded.sequence = 1;
  upgraded.sku = "x";
  upgraded.kind = "cpu";
  upgraded.toolchain = "tool 2";
  upgraded.device = "d";
  upgraded.state = Idle{};
  farm.ask(upgraded, "w2");
  farm.finish("w", "x", validate);
  EXPECT_EQ(why(farm, "j1"), "tune was given to 'w'");
  farm.pass(seconds(20));  // the first worker is gone; the other asks on
  upgraded.sequence = 2;
  farm.ask(upgraded, "w2");
  EXPECT_EQ(why(farm, "j1"),
            "tune waits for a worker of SKU 'x': those that are connected have another toolchain "
            "than the job was made for");
}

}  // namespace
}  // namespace enginery
