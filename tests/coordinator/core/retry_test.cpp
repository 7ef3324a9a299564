// How attempts end: the table of retry rules (coordinator/README.md has it for people), what is
// counted, and which reports of success are taken.
#include "coordinator/core/retry.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

using std::chrono::milliseconds;

TEST(RetryRules, AreThoseOfTheTable) {
  const RetryRule table[] = {
      {OutcomeKind::worker_lost, 100, milliseconds(0)},
      {OutcomeKind::crashed, 100, milliseconds(0)},
      {OutcomeKind::partitioned, 100, milliseconds(0)},
      {OutcomeKind::preempted, 100, milliseconds(100)},
      {OutcomeKind::cancelled, 100, milliseconds(100)},
      {OutcomeKind::back_pressure, 100, milliseconds(1000)},
      {OutcomeKind::out_of_memory, 2, milliseconds(500)},
      {OutcomeKind::storage, 6, milliseconds(2000)},
      {OutcomeKind::internal, 3, milliseconds(200)},
  };
  for (const RetryRule& wanted : table) {
    const RetryRule& rule = retry_rule(wanted.kind);
    EXPECT_EQ(rule.attempts, wanted.attempts) << to_string(wanted.kind);
    EXPECT_EQ(rule.back_off, wanted.back_off) << to_string(wanted.kind);
  }
}

AttemptRow attempt(uint64_t epoch, const std::string& worker, std::optional<OutcomeKind> outcome) {
  return {1, epoch, worker, 1, 0, 0, outcome, ""};
}

TEST(CountTries, CountsEachWayOfEndingByItself) {
  const std::vector<AttemptRow> attempts = {
      attempt(1, "a", OutcomeKind::internal), attempt(2, "a", OutcomeKind::storage),
      attempt(3, "b", OutcomeKind::internal), attempt(4, "b", std::nullopt)};
  EXPECT_EQ(count_tries(attempts, OutcomeKind::internal), 2);
  EXPECT_EQ(count_tries(attempts, OutcomeKind::storage), 1);
  EXPECT_EQ(count_tries(attempts, OutcomeKind::preempted), 0);
  EXPECT_EQ(count_tries({}, OutcomeKind::internal), 0);
}

TEST(Outcomes, WhatTheySayOfTheStepAndOfTheWorker) {
  struct Row {
    OutcomeKind kind;
    bool kill, avoided, against_worker;
  };
  const Row table[] = {
      {OutcomeKind::worker_lost, true, true, true},
      {OutcomeKind::crashed, true, true, true},
      {OutcomeKind::internal, false, true, true},
      {OutcomeKind::storage, false, true, true},
      {OutcomeKind::out_of_memory, false, true, false},
      {OutcomeKind::input_gone, false, true, true},
      {OutcomeKind::failed, false, false, false},
      {OutcomeKind::preempted, false, false, false},
      {OutcomeKind::cancelled, false, false, false},
      {OutcomeKind::back_pressure, false, false, false},
      {OutcomeKind::partitioned, false, false, false},
  };
  for (const Row& row : table) {
    EXPECT_EQ(is_kill(row.kind), row.kill) << to_string(row.kind);
    EXPECT_EQ(is_avoided_after(row.kind), row.avoided) << to_string(row.kind);
    EXPECT_EQ(counts_against_worker(row.kind), row.against_worker) << to_string(row.kind);
  }
}

Outcome with_outputs(const std::vector<std::string>& names) {
  Outcome outcome;
  for (const std::string& name : names) outcome.outputs.push_back({name, sha256(name), 1});
  return outcome;
}

std::vector<std::string> numbered(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("o" + std::to_string(i));
  return names;
}

TEST(ProblemOfReport, TakesWhatTheStepHasToLeaveAndMore) {
  EXPECT_EQ(problem_of_report({}, "", {}), "");
  EXPECT_EQ(problem_of_report(with_outputs({"choices", "notes-1.txt"}), "choices", {}), "");
  EXPECT_EQ(problem_of_report(with_outputs(numbered(64)), "", {}), "");
}

TEST(ProblemOfReport, SaysWhatIsWrongWithTheOutputs) {
  EXPECT_EQ(problem_of_report({}, "choices", {}), "no output 'choices'");
  EXPECT_EQ(problem_of_report(with_outputs({"content"}), "choices", {}), "no output 'choices'");
  EXPECT_EQ(problem_of_report(with_outputs({"a", "a"}), "", {}), "the output 'a' twice");
  EXPECT_EQ(problem_of_report(with_outputs(numbered(65)), "", {}), "too many outputs");
  for (const std::string name : {"", "A", "a b", "../a", "n\xc3\xa9"})
    EXPECT_EQ(problem_of_report(with_outputs({name}), "", {}), "an output with a bad name") << name;
  EXPECT_EQ(problem_of_report(with_outputs({std::string(101, 'a')}), "", {}),
            "an output with a bad name");
}

TEST(ProblemOfReport, NamesTheBlobThatWasNotUploaded) {
  const Outcome outcome = with_outputs({"a", "b"});
  EXPECT_EQ(problem_of_report(outcome, "", {sha256("b")}),
            "the output 'b', whose blob " + sha256("b").text() + " it did not upload");
  EXPECT_EQ(problem_of_report(outcome, "", {sha256("of another report")}), "");
}

TEST(ForgedOutput, IsWhatOnlyTheCoordinatorLeaves) {
  EXPECT_EQ(forged_output(with_outputs({"content", "engine"}), steps()),
            "the output 'engine', which only the coordinator leaves");
  EXPECT_EQ(forged_output(with_outputs({"choices", "content", "unsigned", "notes"}), steps()), "");
}

TEST(ProblemOfReport, BoundsTheFactsByTheirBytes) {
  Outcome outcome;
  outcome.facts = {{"n", std::string(64 * 1024 - 1, 'v')}};
  EXPECT_EQ(problem_of_report(outcome, "", {}), "");
  outcome.facts.push_back({"m", ""});
  EXPECT_EQ(problem_of_report(outcome, "", {}), "too long facts");
}

}  // namespace
}  // namespace enginery
