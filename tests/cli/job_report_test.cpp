#include "cli/output/job_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace enginery {
namespace {

JobView job_of(std::vector<TargetState> states) {
  JobView job;
  job.id = "j-1";
  job.name = "net";
  job.model_name = "net.onnx";
  job.model = sha256("model");
  job.state = JobState::done;
  for (const TargetState state : states) {
    TargetView target;
    target.sku = "sku-" + std::to_string(job.targets.size());
    target.state = state;
    if (state == TargetState::failed) target.fault = Fault{ErrorCode::out_of_memory, "no memory"};
    if (state == TargetState::failed) job.state = JobState::failed;
    if (state == TargetState::done) target.engine = sha256(target.sku);
    job.targets.push_back(target);
  }
  return job;
}

TEST(JobExitCode, SaysWhetherAllSomeOrNoneAreDone) {
  using S = TargetState;
  EXPECT_EQ(job_exit_code(job_of({S::done, S::done})), ExitCode::ok);
  EXPECT_EQ(job_exit_code(job_of({S::done, S::failed})), ExitCode::partial);
  EXPECT_EQ(job_exit_code(job_of({S::failed, S::failed})), ExitCode::failed);
  EXPECT_EQ(job_exit_code(job_of({S::cancelled, S::cancelled})), ExitCode::timed_out);
  JobView running = job_of({S::running, S::done});
  running.state = JobState::running;
  EXPECT_EQ(job_exit_code(running), ExitCode::ok);
}

TEST(JobJson, HasTheFieldsOfTheContract) {
  JobView job = job_of({TargetState::done, TargetState::failed});
  job.targets[0].latency_ms = 4.5;
  job.targets[0].source = Source::built;
  job.steps.push_back({"sku-0",
                       "tune",
                       sha256("k"),
                       3,
                       StepState::done,
                       Source::built,
                       2,
                       1,
                       {{"w", 1, 1'000'000'000, 0, "", ""}}});
  const Json json = job_json_with_steps(job);
  EXPECT_EQ(json["schema"], "enginery.job/1");
  EXPECT_EQ(json["job"], "j-1");
  EXPECT_EQ(json["state"], "failed");
  EXPECT_EQ(json["model"]["name"], "net");
  EXPECT_EQ(json["model"]["digest"], job.model.text());
  const Json& done = json["targets"][0];
  for (const char* field : {"sku", "state", "source", "provisional", "engine", "latency_ms",
                            "size_bytes", "timings_measured", "timings_reused", "error"}) {
    EXPECT_TRUE(done.contains(field)) << field;
  }
  EXPECT_EQ(done["engine"], job.targets[0].engine->text());
  EXPECT_TRUE(done["error"].is_null());
  EXPECT_EQ(json["targets"][1]["error"]["code"], "out_of_memory");
  EXPECT_EQ(json["targets"][1]["error"]["message"], "no memory");
  const Json& step = json["steps"][0];
  for (const char* field : {"sku", "name", "key", "epoch", "attempts", "commits"})
    EXPECT_TRUE(step.contains(field)) << field;
  const Json& attempt = step["attempts"][0];
  EXPECT_EQ(attempt["started"], "1970-01-01T00:00:01.000Z");
  EXPECT_TRUE(attempt["ended"].is_null());
  EXPECT_TRUE(attempt["outcome"].is_null());
  EXPECT_FALSE(job_json(job).contains("steps"));
}

}  // namespace
}  // namespace enginery
