// What an agent says and obeys, against a coordinator that is a function and by a clock that a test
// moves: no network, no waiting.
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/options/options.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_coordinator.h"
#include "tests/support/temporary_folder.h"
#include "worker/agent/agent.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kDescribes[] =
    R"(read request; echo '{"device":{"kind":"cpu","name":"a CPU","physical_id":"cpu-0","toolchain":"t=1","compiles_for":["p4"]}}' >&3)";

// One Sync as the coordinator got it.
struct HeardSync {
  RequestId id;
  std::string session;
  SyncRequest sync;
};

// The n-th Sync (from 1 on) and what to answer; nothing: no answer comes.
using Answers = std::function<std::optional<Body>(const HeardSync& heard, size_t n)>;

SyncReply wants(Desired desired) {
  return {100, std::move(desired)};
}

class AgentProtocol : public testing::Test {
 protected:
  class ScriptedLink final : public Link {
   public:
    explicit ScriptedLink(AgentProtocol& test) : test_(test) {}
    Status send(const Message& message) override {
      const Envelope& envelope = message.envelope;
      if (std::holds_alternative<Hello>(envelope.body)) {
        reply(envelope.request, Welcome{});
      } else if (const auto* sync = std::get_if<SyncRequest>(&envelope.body)) {
        test_.heard_.push_back({envelope.request, envelope.session, *sync});
        auto answer = test_.answers_(test_.heard_.back(), test_.heard_.size());
        if (answer) reply(envelope.request, std::move(*answer));
      } else {
        reply(envelope.request, ErrorReply{{ErrorCode::not_found, "this farm has nothing"}});
      }
      return {};
    }
    Result<std::optional<Message>> receive(milliseconds timeout, int) override {
      if (test_.cut_) {
        test_.cut_ = false;
        return Error{ErrorCode::unavailable, "the connection was cut"};
      }
      if (replies_.empty()) {
        test_.clock_.advance(timeout);  // it has waited as long as it was asked to
        std::this_thread::sleep_for(milliseconds(1));
        return std::optional<Message>();
      }
      std::optional<Message> first(std::move(replies_.front()));
      replies_.pop_front();
      return first;
    }

   private:
    void reply(RequestId request, Body body) {
      Message message;
      message.envelope.request = request;
      message.envelope.body = std::move(body);
      replies_.push_back(std::move(message));
    }
    AgentProtocol& test_;
    std::deque<Message> replies_;
  };

  AgentOptions options(const std::string& script = kDescribes) {
    AgentOptions out;
    out.coordinator = "ipc:///fake.sock";
    out.sku = "cpu-sse41";
    out.data = folder_.path / "worker";
    out.name = "w1";
    out.runner = {"/bin/sh", "-c", script};
    out.dial = [this](const std::string&, size_t) -> Result<std::unique_ptr<Link>> {
      return std::unique_ptr<Link>(std::make_unique<ScriptedLink>(*this));
    };
    out.clock = &clock_;
    return out;
  }
  // Runs an agent until an answer is Exit, or it ends by itself; at most 3000 Syncs.
  Status run(Answers answers, AgentOptions agent) {
    answers_ = std::move(answers);
    return run_agent(agent, [this] { return stop_ || heard_.size() > 3000; });
  }
  Status run(Answers answers) { return run(std::move(answers), options()); }

  const test::TemporaryFolder folder_;
  test::FakeClock clock_;
  std::vector<HeardSync> heard_;
  bool cut_ = false;   // the next receive fails
  bool stop_ = false;  // somebody wants the agent to end

 private:
  Answers answers_;
};

TEST_F(AgentProtocol, TheFirstSyncSaysWhoItIsAndWhatItsRunnerFound) {
  ASSERT_TRUE(run([](const HeardSync&, size_t) { return wants(Exit{}); }).ok());
  ASSERT_EQ(heard_.size(), 1u);
  const SyncRequest& self = heard_[0].sync;
  EXPECT_EQ(self.worker, "w1");
  EXPECT_EQ(self.sku, "cpu-sse41");
  EXPECT_EQ(self.kind, "cpu");
  EXPECT_EQ(self.toolchain, "t=1");
  EXPECT_EQ(self.device, "cpu-0");
  EXPECT_EQ(self.health, "a CPU; sandbox: " + probe_sandbox().text);
  EXPECT_EQ(self.compiles_for, std::vector<std::string>{"p4"});
  EXPECT_EQ(self.pid, getpid());
  EXPECT_EQ(self.incarnation, static_cast<uint64_t>(clock_.wall_time().count()))
      << "a worker that starts again is a later one";
  EXPECT_TRUE(std::holds_alternative<Idle>(self.state));
  EXPECT_FALSE(self.prefer_idle);
}

TEST_F(AgentProtocol, SaysWhatItsDevicesSensorsSayEveryFewSeconds) {
  AgentOptions agent = options();
  std::vector<std::string> asked;
  agent.sensors = [&](const std::string& device) {
    asked.push_back(device);
    return DeviceReading{1000.0 + static_cast<double>(asked.size()), 0, 50, 0, 0};
  };
  constexpr size_t kSyncs = 100;
  const Nanoseconds start = clock_.monotonic();
  ASSERT_TRUE(run(
                  [&](const HeardSync&, size_t n) -> std::optional<Body> {
                    clock_.advance(milliseconds(100));
                    return n < kSyncs ? wants(Keep{}) : wants(Exit{});
                  },
                  agent)
                  .ok());
  EXPECT_EQ(heard_.front().sync.reading, (DeviceReading{1001, 0, 50, 0, 0}));
  EXPECT_GT(heard_.back().sync.reading.clock_mhz, 1001);
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked.front(), "cpu-0");
  EXPECT_LE(asked.size(), static_cast<size_t>((clock_.monotonic() - start) / seconds(4)) + 1);
}

TEST_F(AgentProtocol, WithoutANameItIsCalledByHostSkuAndDevice) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  for (const auto& [index, suffix] : {std::pair{0, ""}, {2, "-2"}}) {
    AgentOptions agent = options();
    agent.name = "";
    agent.device_index = index;
    ASSERT_TRUE(run([](const HeardSync&, size_t) { return wants(Exit{}); }, agent).ok());
    EXPECT_EQ(heard_.back().sync.worker, std::string(host) + "/cpu-sse41" + suffix);
  }
}

TEST_F(AgentProtocol, ASyncWithoutAnAnswerIsRepeatedAsItWasEveryTwoSeconds) {
  std::vector<Nanoseconds> at;
  ASSERT_TRUE(run([&](const HeardSync&, size_t n) -> std::optional<Body> {
                at.push_back(clock_.monotonic());
                if (n < 4) return std::nullopt;
                return wants(Exit{});
              }).ok());
  ASSERT_EQ(heard_.size(), 4u);
  for (size_t i = 1; i < heard_.size(); ++i) {
    EXPECT_EQ(heard_[i].id, heard_[0].id) << "the coordinator may have it already";
    EXPECT_EQ(heard_[i].sync, heard_[0].sync);
    EXPECT_EQ(at[i] - at[i - 1], seconds(2));
  }
}

TEST_F(AgentProtocol, AnAnsweredSyncIsFollowedByANewOne) {
  ASSERT_TRUE(run([&](const HeardSync&, size_t n) {
                return wants(n < 3 ? Desired(Keep{}) : Desired(Exit{}));
              }).ok());
  ASSERT_EQ(heard_.size(), 3u);
  EXPECT_NE(heard_[1].id, heard_[0].id);
  EXPECT_EQ(heard_[1].sync.sequence, heard_[0].sync.sequence + 1);
  EXPECT_EQ(heard_[2].sync.sequence, heard_[0].sync.sequence + 2);
  EXPECT_EQ(heard_[1].session, heard_[0].session);
}

TEST_F(AgentProtocol, ALostConnectionIsMadeAgainAndTheSessionGoesOn) {
  ASSERT_TRUE(run([&](const HeardSync&, size_t n) -> std::optional<Body> {
                cut_ = n == 1;
                if (n == 1) return std::nullopt;
                return wants(Exit{});
              }).ok());
  ASSERT_EQ(heard_.size(), 2u);
  EXPECT_EQ(heard_[1].session, heard_[0].session);
  EXPECT_EQ(heard_[1].sync, heard_[0].sync) << "it was never answered, so it is said again";
}

TEST_F(AgentProtocol, WhatRepetitionCannotRepairEndsTheWorker) {
  for (const ErrorCode code : {ErrorCode::usage, ErrorCode::unsupported, ErrorCode::untrusted}) {
    const Status end = run([&](const HeardSync&, size_t) {
      return ErrorReply{{code, "another w1 is here"}};
    });
    ASSERT_FALSE(end.ok());
    EXPECT_EQ(end.error().code, code);
    EXPECT_EQ(end.error().message, "the coordinator refuses this worker: another w1 is here");
  }
}

TEST_F(AgentProtocol, ATroubleOfTheCoordinatorIsWaitedForTwoSeconds) {
  std::vector<Nanoseconds> at;
  ASSERT_TRUE(run([&](const HeardSync&, size_t n) -> std::optional<Body> {
                at.push_back(clock_.monotonic());
                if (n == 1) return ErrorReply{{ErrorCode::storage, "its disk is full"}};
                return wants(Exit{});
              }).ok());
  ASSERT_EQ(at.size(), 2u);
  EXPECT_GE(at[1] - at[0], seconds(2));
}

// Asked for a self-test until it says how it went: the problem that it found.
TEST_F(AgentProtocol, AWorkerThatIsAskedToTestsItselfAndSaysWhatItFound) {
  const std::string examines =
      R"(read request; case "$request" in *describe*) )" + std::string(kDescribes).substr(14) +
      R"(;; *examine*) echo '{"end":{"kind":"internal","fault":{"code":"internal","message":"its memory forgets"},"outputs":[],"metrics":[],"facts":[]}}' >&3;; esac)";
  ASSERT_TRUE(run(
                  [](const HeardSync& heard, size_t) {
                    // The runner's process has the time of 3000 Syncs: 6 s.
                    std::this_thread::sleep_for(milliseconds(2));
                    return wants(heard.sync.examined == 7 ? Desired(Exit{}) : Desired(Examine{7}));
                  },
                  options(examines))
                  .ok());
  EXPECT_EQ(heard_.back().sync.examined, 7u);
  EXPECT_EQ(heard_.back().sync.exam_problem, "its memory forgets");
  EXPECT_TRUE(std::holds_alternative<Idle>(heard_.back().sync.state));
}

TEST_F(AgentProtocol, ADrainedWorkerSaysThatItWantsNoMore) {
  ASSERT_TRUE(run([&](const HeardSync&, size_t n) {
                return wants(n == 1 ? Desired(Drain{}) : Desired(Exit{}));
              }).ok());
  EXPECT_FALSE(heard_[0].sync.prefer_idle);
  EXPECT_TRUE(heard_[1].sync.prefer_idle);
}

TEST_F(AgentProtocol, AnIdleWorkerThatIsToldToStopEndsAtOnce) {
  ASSERT_TRUE(run([&](const HeardSync&, size_t n) {
                stop_ = n == 2;
                return wants(Keep{});
              }).ok());
  EXPECT_LE(heard_.size(), 3u);
}

// A step's end is said until it is heard, whatever else is lost.
TEST_F(AgentProtocol, AStepThatCannotBeginIsReportedUntilTheCoordinatorHasHeard) {
  RunStep step;
  step.ref = {"j1", 4, 2};
  step.kind = "dance";
  size_t reports = 0;
  ASSERT_TRUE(run([&](const HeardSync& heard, size_t n) -> std::optional<Body> {
                if (n == 1) return wants(step);
                const auto* finished = std::get_if<Finished>(&heard.sync.state);
                if (finished && ++reports < 3) return wants(Keep{});
                if (finished) return wants(BeIdle{});
                return wants(reports > 0 ? Desired(Exit{}) : Desired(Keep{}));
              }).ok());
  EXPECT_EQ(reports, 3u);
  EXPECT_TRUE(std::holds_alternative<Idle>(heard_.back().sync.state));
  const auto finished = std::find_if(heard_.begin(), heard_.end(), [](const HeardSync& heard) {
    return std::holds_alternative<Finished>(heard.sync.state);
  });
  const auto& end = std::get<Finished>(finished->sync.state);
  EXPECT_EQ(end.ref, step.ref);
  EXPECT_NE(end.outcome.kind, OutcomeKind::succeeded);
  EXPECT_NE(end.outcome.fault.message.find("'dance'"), std::string::npos);
}

TEST_F(AgentProtocol, AModelThatTheFarmLacksIsTheFarmsTrouble) {
  RunStep step;
  step.ref = {"j1", 4, 2};
  step.kind = "validate";
  step.model = sha256("a model");
  step.options = to_text(BuildOptions());
  Outcome end;
  ASSERT_TRUE(run([&](const HeardSync& heard, size_t n) -> std::optional<Body> {
                if (n == 1) return wants(step);
                const auto* finished = std::get_if<Finished>(&heard.sync.state);
                if (finished) end = finished->outcome;
                return wants(finished ? Desired(Exit{}) : Desired(Keep{}));
              }).ok());
  EXPECT_EQ(end.kind, OutcomeKind::input_gone) << end.fault.message;
  EXPECT_NE(end.fault.message.find("fetch model"), std::string::npos) << end.fault.message;
}

TEST_F(AgentProtocol, ADeviceThatIsNotThereEndsItBeforeItServes) {
  const struct {
    const char* script;
    ErrorCode code;
    const char* message;
  } rows[] = {
      {R"(read r; echo '{"end":{"kind":"failed","fault":{"code":"incompatible","message":"no such GPU"},"outputs":[],"metrics":[],"facts":[]}}' >&3)",
       ErrorCode::incompatible, "worker for cpu-sse41: no such GPU"},
      {"exit 3", ErrorCode::internal, "exit status 3"},
  };
  for (const auto& row : rows) {
    const Status end =
        run([](const HeardSync&, size_t) { return wants(Exit{}); }, options(row.script));
    ASSERT_FALSE(end.ok());
    EXPECT_EQ(end.error().code, row.code);
    EXPECT_NE(end.error().message.find(row.message), std::string::npos) << end.error().message;
  }
  EXPECT_TRUE(heard_.empty());
}

}  // namespace
}  // namespace enginery
