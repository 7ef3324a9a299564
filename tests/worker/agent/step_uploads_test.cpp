// A step's log and timings on their way to the farm: whole, in order, and never in the runner's
// way.
#include "worker/agent/step_uploads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "pipeline/keys.h"
#include "tests/support/fake_coordinator.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const StepRef kLease{"j1", 3, 7};

// A farm that keeps what it is sent; `first` answers before it does, where it has an answer.
class KeepingFarm {
 public:
  std::function<std::optional<Body>(const Body&)> first = [](const Body&) { return std::nullopt; };

  FarmAddress address() {
    return {"fake", "tester", dial_of([this](const Body& body) { return answer(body); })};
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  std::vector<PutTimings> timings() {
    const std::lock_guard lock(mutex_);
    return timings_;
  }

 private:
  Body answer(const Body& body) {
    if (auto reply = first(body)) return *reply;
    const std::lock_guard lock(mutex_);
    if (const auto* append = std::get_if<AppendLog>(&body)) {
      EXPECT_EQ(append->ref, kLease);
      EXPECT_EQ(append->offset, log_.size()) << "a gap, or bytes that came twice";
      log_ += append->text;
      return AppendReply{log_.size()};
    }
    timings_.push_back(std::get<PutTimings>(body));
    return PutTimingsReply{timings_.back().entries.size()};
  }

  std::mutex mutex_;
  std::string log_;
  std::vector<PutTimings> timings_;
};

RunnerTiming measured(const std::string& problem, const std::string& tactic) {
  return {"sku=x\n", problem, tactic, "{\"tactic\":\"" + tactic + "\"}", 5};
}

TEST(StepUploads, AppendLinesToTheLeasesOwnLog) {
  KeepingFarm farm;
  StepUploads uploads(farm.address(), kLease, [] { return false; });
  uploads.log("one");
  uploads.log("two");
  uploads.flush(seconds(20));
  EXPECT_EQ(farm.log(), "one\ntwo\n");
  uploads.log("three");
  uploads.flush(seconds(20));
  EXPECT_EQ(farm.log(), "one\ntwo\nthree\n");
}

TEST(StepUploads, CutALongLogIntoPiecesThatAMessageTakes) {
  KeepingFarm farm;
  std::atomic<int> pieces = 0;
  farm.first = [&](const Body& body) -> std::optional<Body> {
    EXPECT_LE(std::get<AppendLog>(body).text.size(), 256u * 1024);
    ++pieces;
    return std::nullopt;
  };
  StepUploads uploads(farm.address(), kLease, [] { return false; });
  std::string expected;
  for (int i = 0; i < 7; ++i) {
    const std::string line(100'000, static_cast<char>('a' + i));
    uploads.log(line);
    expected += line + "\n";
  }
  uploads.flush(seconds(20));
  EXPECT_EQ(farm.log(), expected);
  EXPECT_GE(pieces, 3);
}

TEST(StepUploads, SendTimingsWithTheBytesOfTheirKeys) {
  KeepingFarm farm;
  StepUploads uploads(farm.address(), kLease, [] { return false; });
  uploads.timing(measured("conv |", "a"));
  uploads.timing(measured("conv |", "b"));
  uploads.flush(seconds(20));
  size_t entries = 0;
  for (const PutTimings& put : farm.timings()) {
    EXPECT_EQ(put.keys.size(), 2u) << "a device and a problem, each once";
    for (const ActionKey& key : {timing_device_key("sku=x\n"), timing_problem_key("conv |")})
      EXPECT_EQ(std::count(put.keys.begin(), put.keys.end(), key.bytes()), 1);
    for (const TimingEntry& entry : put.entries) {
      EXPECT_EQ(entry.device, timing_device_key("sku=x\n").digest());
      EXPECT_EQ(entry.problem, timing_problem_key("conv |").digest());
      EXPECT_EQ(entry.measured_ns, 5);
      ++entries;
    }
  }
  EXPECT_EQ(entries, 2u);
}

// A coordinator that takes its time: the runner's lines are taken at once, and what is too much
// for the memory is counted.
TEST(StepUploads, DropAndCountWhatIsTooMuchWhileNobodyAnswers) {
  KeepingFarm farm;
  std::promise<void> asked, go_on;
  std::atomic<bool> is_first = true;
  auto may_go_on = go_on.get_future().share();
  farm.first = [&](const Body&) -> std::optional<Body> {
    if (is_first.exchange(false)) {
      asked.set_value();
      may_go_on.wait();
    }
    return std::nullopt;
  };
  StepUploads uploads(farm.address(), kLease, [] { return false; });
  uploads.log("first");
  asked.get_future().wait();
  for (int i = 0; i < 30; ++i) uploads.log(std::string(99'999, 'x'));
  go_on.set_value();
  uploads.flush(seconds(20));
  const std::string log = farm.log();
  EXPECT_TRUE(log.starts_with("first\nxxx"));
  EXPECT_TRUE(log.ends_with("... 19 lines were dropped\n")) << log.substr(log.size() - 60);
  uploads.log("later");
  uploads.flush(seconds(20));
  EXPECT_TRUE(farm.log().ends_with("dropped\nlater\n")) << "counted once";
}

TEST(StepUploads, AskAgainWhereTheCoordinatorWasAway) {
  KeepingFarm farm;
  std::atomic<int> asked = 0;
  farm.first = [&](const Body&) -> std::optional<Body> {
    if (++asked > 2) return std::nullopt;
    return ErrorReply{{ErrorCode::unavailable, "away"}};
  };
  StepUploads uploads(farm.address(), kLease, [] { return false; });
  uploads.log("one");
  uploads.flush(seconds(20));
  EXPECT_EQ(farm.log(), "one\n");
  EXPECT_EQ(asked, 3);
}

TEST(StepUploads, GoOnAfterAnErrorThatRepetitionDoesNotMend) {
  KeepingFarm farm;
  std::atomic<bool> refused = false;
  farm.first = [&](const Body& body) -> std::optional<Body> {
    const bool is_timing = std::holds_alternative<PutTimings>(body);
    if (!is_timing || refused.exchange(true)) return std::nullopt;
    return ErrorReply{{ErrorCode::storage, "full"}};
  };
  StepUploads uploads(farm.address(), kLease, [] { return false; });
  uploads.timing(measured("p", "a"));
  uploads.flush(seconds(20));
  uploads.timing(measured("p", "b"));
  uploads.log("still here");
  uploads.flush(seconds(20));
  EXPECT_EQ(farm.log(), "still here\n");
  ASSERT_EQ(farm.timings().size(), 1u);
  EXPECT_EQ(farm.timings()[0].entries[0].tactic, "b");
}

TEST(StepUploads, EndSoonWhereTheCoordinatorStaysAway) {
  const auto start = std::chrono::steady_clock::now();
  {
    KeepingFarm farm;
    farm.first = [](const Body&) -> std::optional<Body> {
      return ErrorReply{{ErrorCode::unavailable, "away"}};
    };
    StepUploads uploads(farm.address(), kLease, [] { return false; });
    uploads.log("one");
    uploads.flush(milliseconds(100));
    EXPECT_EQ(farm.log(), "");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10));
}

TEST(StepUploads, DropWhatIsLeftOfACancelledStep) {
  KeepingFarm farm;
  farm.first = [](const Body&) -> std::optional<Body> {
    return ErrorReply{{ErrorCode::unavailable, "away"}};
  };
  StepUploads uploads(farm.address(), kLease, [] { return true; });
  uploads.log("one");
  const auto start = std::chrono::steady_clock::now();
  uploads.flush(seconds(20));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10)) << "nothing is waited for";
}

}  // namespace
}  // namespace enginery
