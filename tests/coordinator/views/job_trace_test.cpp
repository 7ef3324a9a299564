// A job as a Chrome trace: every wait, attempt and phase has its place and length.
#include "coordinator/views/job_trace.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace enginery {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kStart = 1'763'707'812'000 * kMs;

int64_t at(int64_t ms) {
  return kStart + ms * kMs;
}

AttemptView attempt(const char* worker, int64_t begin_ms, int64_t end_ms, const char* outcome) {
  return {worker, 1, at(begin_ms), end_ms == 0 ? 0 : at(end_ms), outcome, ""};
}

EventView event(int64_t ms, const char* kind, std::vector<NamedText> fields) {
  return {1, "j1", at(ms), kind, std::move(fields)};
}

JobView tuned_twice() {
  JobView job;
  job.id = "j1";
  job.name = "net";
  job.state = JobState::done;
  job.submitted_ns = kStart;
  job.ended_ns = at(100);
  StepView step;
  step.sku = "cpu-avx2";
  step.name = "tune";
  step.step = 7;
  step.state = StepState::done;
  step.attempts = {attempt("w1", 10, 30, "worker_lost"), attempt("w2", 50, 90, "succeeded")};
  job.steps.push_back(step);
  return job;
}

// The complete events of the trace: "pid/tid category name" -> begin and length in ms.
std::map<std::string, std::pair<double, double>> spans(const Json& trace) {
  std::map<std::string, std::pair<double, double>> all;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] != "X") continue;
    const std::string name = e["pid"].dump() + "/" + e["tid"].dump() + " " + std::string(e["cat"]) +
                             " " + std::string(e["name"]);
    const std::pair<double, double> time{double(e["ts"]) / 1000, double(e["dur"]) / 1000};
    EXPECT_TRUE(all.emplace(name + (all.contains(name) ? " again" : ""), time).second) << name;
  }
  return all;
}

TEST(ChromeTrace, HasWaitsAttemptsAndPhasesWhereTheyWere) {
  const std::vector<EventView> events = {
      event(2, "queued", {{"step", "7"}, {"kind", "tune"}}),
      event(3, "queued", {{"step", "8"}, {"kind", "verify"}}),
      event(12, "phase", {{"step", "7"}, {"phase", "loading"}}),
      event(52, "phase", {{"step", "7"}, {"phase", "loading"}}),
      event(60, "phase", {{"step", "7"}, {"phase", "tuning"}}),
      event(61, "phase", {{"step", "8"}, {"phase", "of another step"}}),
  };
  const Json trace = chrome_trace(tuned_twice(), events, at(200));
  using Time = std::pair<double, double>;
  const std::map<std::string, Time> wanted = {
      {"1/0 job net", {0, 100}},
      {"1/1 wait wait for tune", {2, 8}},
      {"1/1 attempt tune", {10, 20}},
      {"1/1 phase loading", {12, 18}},
      {"1/1 wait wait for tune again", {30, 20}},
      {"1/1 attempt tune again", {50, 40}},
      {"1/1 phase loading again", {52, 8}},
      {"1/1 phase tuning", {60, 30}},
      {"2/1 attempt tune cpu-avx2", {10, 20}},
      {"2/2 attempt tune cpu-avx2", {50, 40}},
  };
  EXPECT_EQ(spans(trace), wanted) << trace.dump(1);
}

TEST(ChromeTrace, NamesItsLanesAndSaysHowAttemptsEnded) {
  const Json trace = chrome_trace(tuned_twice(), {}, at(200));
  EXPECT_EQ(trace["otherData"]["schema"], "enginery.trace/1");
  EXPECT_EQ(trace["displayTimeUnit"], "ms");
  std::map<std::string, std::string> lanes;
  std::vector<std::string> outcomes;
  for (const Json& e : trace["traceEvents"]) {
    if (e["name"] == "thread_name")
      lanes[e["pid"].dump() + "/" + e["tid"].dump()] = e["args"]["name"];
    if (e["ph"] == "X" && e["cat"] == "attempt" && e["pid"] == 1)
      outcomes.push_back(e["args"]["outcome"]);
  }
  EXPECT_EQ(lanes, (std::map<std::string, std::string>{
                       {"1/0", "job"}, {"1/1", "cpu-avx2"}, {"2/1", "w1"}, {"2/2", "w2"}}));
  EXPECT_EQ(outcomes, (std::vector<std::string>{"worker_lost", "succeeded"}));
}

TEST(ChromeTrace, WhatHasNotEndedIsDrawnUpToNow) {
  JobView job = tuned_twice();
  job.state = JobState::running;
  job.ended_ns = 0;
  job.steps[0].state = StepState::running;
  job.steps[0].attempts = {attempt("w1", 10, 0, "")};
  StepView waiting;
  waiting.name = "verify";
  waiting.sku = "cpu-sse41";
  waiting.step = 9;
  waiting.state = StepState::queued;
  job.steps.push_back(waiting);
  const Json trace = chrome_trace(job, {event(40, "queued", {{"step", "9"}})}, at(150));
  const auto all = spans(trace);
  EXPECT_EQ(all.at("1/0 job net").second, 150);
  EXPECT_EQ(all.at("1/1 attempt tune").second, 140);
  EXPECT_EQ(all.at("1/2 wait wait for verify"), (std::pair<double, double>{40, 110}));
}

}  // namespace
}  // namespace enginery
