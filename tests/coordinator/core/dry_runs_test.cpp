// What a dry run says: what each target would come from, without making anything.
#include "coordinator/core/dry_runs.h"

#include <span>

#include "tests/coordinator/core/core_harness.h"

namespace enginery {
namespace {

StepResult with_blob(const std::string& name, uint64_t size_bytes = 9) {
  StepResult result;
  result.outputs = {{name, sha256(name), size_bytes}};
  return result;
}

// What the catalog and the queue have, and what is said of the target.
struct Found {
  const char* what;
  bool engine, tuning, engine_in_flight, tuning_in_flight, rebuild;
  Source source;
  const char* note;
};

struct DryRunTest : testing::Test {
  CoreOptions options;
  Queue queue{options};
  DryRuns dry_runs{queue, options};
  Effects effects;

  template <typename Event>
  void turn(Event event) {
    effects = {};
    Turn turn({}, effects);
    event(turn);
  }
  void begin(const SubmitRequest& submit, uint64_t id = 1) {
    const Request request{{"client", {0, id}}, "client", submit, {}};
    turn([&](Turn& t) { dry_runs.begin(request, submit, t); });
  }
  // Answers a lookup: with the result, or with nothing.
  void answer(const Lookup& lookup, std::optional<StepResult> result = {}) {
    turn([&](Turn& t) { dry_runs.answer({lookup.token, lookup.key, std::move(result), 1}, t); });
  }
  // Adds a step with the key that is in flight.
  void run(const Digest& key) {
    turn([&](Turn& t) {
      StepRow row;
      row.key = key;
      queue.add(row, "key", t);
    });
  }
  TargetView target(size_t index = 0) const {
    if (effects.replies.size() != 1) {
      ADD_FAILURE() << effects.replies.size() << " answers";
      return {};
    }
    const auto* reply = std::get_if<JobReply>(&effects.replies[0].body);
    return reply == nullptr ? TargetView{} : target_of(reply->job, index);
  }
  // A dry run for each row, of which the target is said.
  void expect_found(std::span<const Found> table) {
    uint64_t id = 0;
    for (const Found& found : table) {
      SubmitRequest submit = make_submit(found.what, {"x"}, found.what);
      submit.rebuild = found.rebuild;
      begin(submit, ++id);
      const std::vector<Lookup> lookups = effects.lookups;
      ASSERT_EQ(lookups.size(), 2u);
      if (found.engine_in_flight) run(lookups[0].key);
      if (found.tuning_in_flight) run(lookups[1].key);
      answer(lookups[0], found.engine ? std::optional(with_blob("engine")) : std::nullopt);
      answer(lookups[1], found.tuning ? std::optional(with_blob("choices")) : std::nullopt);
      EXPECT_EQ(target().source, found.source) << found.what;
      EXPECT_EQ(target().note, found.note) << found.what;
    }
  }
};

TEST_F(DryRunTest, AsksForTheEngineAndTheTuningOfEachTarget) {
  begin(make_submit("m", {"x", "y"}));
  ASSERT_EQ(effects.lookups.size(), 4u);
  for (const Lookup& lookup : effects.lookups) EXPECT_EQ(lookup.token.job, 0u);
  EXPECT_TRUE(effects.rows.empty());
  const std::vector<Lookup> lookups = effects.lookups;
  for (size_t i = 0; i < lookups.size(); ++i) {
    EXPECT_TRUE(effects.replies.empty());  // until the last one
    answer(lookups[i]);
  }
  EXPECT_EQ(effects.replies.size(), 1u);
}

TEST_F(DryRunTest, SaysWhereEachTargetWouldComeFrom) {
  const Found table[] = {
      {"nothing", false, false, false, false, false, Source::built,
       "no worker has ever offered this SKU"},
      {"the engine", true, false, false, false, false, Source::cache, "the catalog has it"},
      {"the engine, for a rebuild", true, true, false, false, true, Source::built,
       "no worker has ever offered this SKU"},
      {"the engine in flight", false, false, true, false, false, Source::joined,
       "no worker has ever offered this SKU"},
  };
  expect_found(table);
}

TEST_F(DryRunTest, SaysWhatWouldBeTunedForASkuThatIsThere) {
  LoadedQueue rows;
  rows.skus[{"x", "tool 1"}] = {"x", "cpu", "tool 1", 0};
  queue.load(std::move(rows));
  const Found table[] = {
      {"nothing", false, false, false, false, false, Source::built, "would be tuned and built"},
      {"the tuning", false, true, false, false, false, Source::built,
       "would be built without measuring: its tuning is in the catalog"},
      {"the tuning, for a rebuild", false, true, false, false, true, Source::built,
       "would be tuned and built"},
      {"the tuning in flight", false, false, false, true, false, Source::built,
       "would join a tuning that runs now"},
  };
  expect_found(table);
}

TEST_F(DryRunTest, AnEngineThatIsThereComesWithItsDigestAndSize) {
  begin(make_submit("m", {"x"}));
  const std::vector<Lookup> lookups = effects.lookups;
  answer(lookups[1]);
  answer(lookups[0], with_blob("engine", 77));
  EXPECT_EQ(target().engine, sha256("engine"));
  EXPECT_EQ(target().size_bytes, 77u);
  EXPECT_EQ(target().state, TargetState::done);
}

TEST_F(DryRunTest, AFailureOfTheWholeEngineIsNoEngine) {
  begin(make_submit("m", {"x"}));
  const std::vector<Lookup> lookups = effects.lookups;
  StepResult failure;
  failure.success = false;
  answer(lookups[1]);
  answer(lookups[0], failure);
  EXPECT_EQ(target().source, Source::built);
}

TEST_F(DryRunTest, AProvisionalTargetSaysThatItWouldBeUntuned) {
  SubmitRequest submit = make_submit("m", {"x"});
  submit.targets[0].provisional = true;
  begin(submit);
  for (const Lookup& lookup : std::vector<Lookup>(effects.lookups)) answer(lookup);
  EXPECT_EQ(target().note, "would be untuned: choices from the analytic model");
  EXPECT_TRUE(target().provisional);
}

TEST_F(DryRunTest, SeveralAreKeptApart) {
  begin(make_submit("m1", {"x"}), 1);
  const std::vector<Lookup> first = effects.lookups;
  begin(make_submit("m2", {"x"}), 2);
  const std::vector<Lookup> second = effects.lookups;
  answer(first[0]);
  answer(second[0]);
  answer(second[1]);
  ASSERT_EQ(effects.replies.size(), 1u);
  EXPECT_EQ(effects.replies[0].to.request, (RequestId{0, 2}));
  answer(first[1]);
  ASSERT_EQ(effects.replies.size(), 1u);
  EXPECT_EQ(effects.replies[0].to.request, (RequestId{0, 1}));
}

TEST_F(DryRunTest, AnAnswerForAForgottenOneMeansNothing) {
  begin(make_submit("m", {"x"}));
  const std::vector<Lookup> lookups = effects.lookups;
  for (const Lookup& lookup : lookups) answer(lookup);
  answer(lookups[0], with_blob("engine"));
  EXPECT_TRUE(effects.replies.empty());
}

}  // namespace
}  // namespace enginery
