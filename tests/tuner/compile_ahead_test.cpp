// What is compiled ahead, when, and who hears of it.
#include "tuner/compile_ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>

namespace enginery {
namespace {

// Remembers what it compiled; waits for `gate` with each where it has one.
class CompilingSource final : public TacticSource {
 public:
  CompilingSource(
      std::string name, bool beside_timing, std::function<void()> gate = [] {})
      : name_(std::move(name)), beside_timing_(beside_timing), gate_(std::move(gate)) {}
  SourceTraits traits() const override { return {name_, Trust::may_fault, beside_timing_}; }
  Result<std::vector<Tactic>> offer(const Problem&, const std::set<Precision>&) const override {
    return std::vector<Tactic>();
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::internal, "not asked for"};
  }
  void compile_ahead(const Problem&, const Tactic& tactic) const override {
    gate_();
    std::lock_guard lock(mutex_);
    compiled_.insert(tactic.id);
  }
  std::multiset<std::string> compiled() const {
    std::lock_guard lock(mutex_);
    return compiled_;
  }

 private:
  const std::string name_;
  const bool beside_timing_;
  const std::function<void()> gate_;
  mutable std::mutex mutex_;
  mutable std::multiset<std::string> compiled_;
};

std::vector<Tactic> tactics_of(const std::string& source, int count) {
  std::vector<Tactic> out(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i)
    out[static_cast<size_t>(i)].source = source, out[static_cast<size_t>(i)].id = std::to_string(i);
  return out;
}

const auto kQuiet = [](const CompileAhead::Job&, bool) {};
const auto kNoProgress = [](int, int) {};
const auto kGoOn = [] { return false; };

struct CompileAheadTest : testing::Test {
  TacticSources sources;
  Problem problem;
  std::vector<CompileAhead::Job> jobs;
  std::vector<std::vector<Tactic>> tactics;
  CompilingSource* add(
      const std::string& name, bool beside_timing, int count, std::function<void()> gate = [] {}) {
    auto source = std::make_unique<CompilingSource>(name, beside_timing, std::move(gate));
    CompilingSource* raw = source.get();
    sources.push_back(std::move(source));
    tactics.push_back(tactics_of(name, count));
    for (const Tactic& t : tactics.back()) jobs.push_back({&problem, &t});
    return raw;
  }
};

TEST_F(CompileAheadTest, WaitsForWhatWouldDisturbAndNotForTheRest) {
  std::atomic<bool> open = false;
  CompilingSource* later = add("later", true, 3, [&] { open.wait(false); });
  CompilingSource* first = add("first", false, 40);
  std::atomic<int> last_done = -1;
  {
    CompileAhead ahead(sources, jobs, kQuiet);
    EXPECT_TRUE(
        ahead.wait([&](int done, int total) { EXPECT_EQ(total, 40), last_done = done; }, kGoOn));
    EXPECT_EQ(first->compiled().size(), 40u);
    EXPECT_EQ(later->compiled().size(), 0u);
    EXPECT_LT(last_done, 40);
    open = true;
    open.notify_all();
    while (later->compiled().size() < 3) std::this_thread::yield();
  }
  EXPECT_EQ(later->compiled(), (std::multiset<std::string>{"0", "1", "2"}));
}

TEST_F(CompileAheadTest, EndsWithWhatIsInHand) {
  std::atomic<bool> open = false;
  CompilingSource* slow = add("slow", false, 1000, [&] {
    open.wait(false);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  {
    CompileAhead ahead(sources, jobs, kQuiet);
    EXPECT_FALSE(ahead.wait(kNoProgress, [] { return true; }));
    open = true;
    open.notify_all();
  }
  EXPECT_LT(slow->compiled().size(), 1000u);
}

TEST_F(CompileAheadTest, TellsWhatIsInFlightBeforeAndAfter) {
  add("any", false, 20);
  std::mutex mutex;
  std::map<std::string, std::vector<bool>> heard;
  CompileAhead ahead(sources, jobs, [&](const CompileAhead::Job& job, bool over) {
    std::lock_guard lock(mutex);
    heard[job.tactic->id].push_back(over);
  });
  EXPECT_TRUE(ahead.wait(kNoProgress, kGoOn));
  ASSERT_EQ(heard.size(), 20u);
  for (const auto& [id, calls] : heard) EXPECT_EQ(calls, (std::vector<bool>{false, true})) << id;
}

TEST_F(CompileAheadTest, NothingToCompileIsNothingToWaitFor) {
  CompileAhead ahead(sources, jobs, kQuiet);
  EXPECT_TRUE(ahead.wait([](int, int) { FAIL(); }, kGoOn));
}

}  // namespace
}  // namespace enginery
