#include "cli/output/job_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/fake_console.h"

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

TEST(TargetTable, HasAnAccuracyWhereOneWasMeasured) {
  JobView job = job_of({TargetState::done, TargetState::failed});
  EXPECT_EQ(target_table(job, 200).find("ACCURACY"), std::string::npos);
  EXPECT_TRUE(job_json(job)["targets"][0]["accuracy"].is_null());
  job.targets[0].accuracy = HeldOutFigures{400, 23.44, 97.25};
  const std::string table = target_table(job, 200);
  EXPECT_NE(table.find("ACCURACY"), std::string::npos) << table;
  EXPECT_NE(table.find("97.25 % agree, 23.4 dB "), std::string::npos) << table;
  job.targets[0].accuracy = HeldOutFigures{400, -200};
  EXPECT_EQ(target_table(job, 200).find("%"), std::string::npos) << "no output has classes";
  EXPECT_NE(target_table(job, 200).find("-200.0 dB"), std::string::npos);
  job.targets[0].accuracy = HeldOutFigures{400, 23.44, 97.25, 60.5, 59.75};
  EXPECT_NE(target_table(job, 200).find("top-1 60.50 % (float 59.75 %)"), std::string::npos);
}

TEST(JobJson, SaysHowNearTheFloatModelATargetIsAndWhatItsScalesComeFrom) {
  JobView job = job_of({TargetState::done, TargetState::done});
  job.targets[0].accuracy = HeldOutFigures{400, 23.5, 97.25};
  job.targets[0].calibration = sha256("scales").text();
  const Json targets = job_json(job)["targets"];
  EXPECT_EQ(targets[0]["accuracy"]["sqnr_db"], 23.5);
  EXPECT_EQ(targets[0]["accuracy"]["top1_agree"], 0.9725);
  EXPECT_EQ(targets[0]["accuracy"]["rows"], 400);
  EXPECT_TRUE(targets[0]["accuracy"]["top1"].is_null()) << "without labels";
  EXPECT_EQ(targets[0]["calibration"], sha256("scales").text());
  EXPECT_TRUE(targets[1]["accuracy"].is_null());
  EXPECT_TRUE(targets[1]["calibration"].is_null());
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

TEST(FailureSummary, CountsAndNamesTheNextCommands) {
  using S = TargetState;
  EXPECT_EQ(failure_summary(job_of({S::done})), "");
  EXPECT_EQ(failure_summary(job_of({S::running})), "");
  EXPECT_EQ(failure_summary(job_of({S::done, S::failed, S::cancelled})),
            "job j-1: of 3 targets 1 failed, 1 cancelled; enginery logs j-1 says what happened, "
            "enginery retry j-1 tries again");
  EXPECT_TRUE(failure_summary(job_of({S::cancelled})).starts_with("job j-1: of 1 targets 1 canc"));
}

TEST(TargetTable, ShowsFiguresOnlyOfWhatIsDone) {
  JobView job = job_of({TargetState::done, TargetState::failed, TargetState::queued});
  job.targets[0].latency_ms = 4.5;
  job.targets[0].size_bytes = 1'500'000;
  job.targets[1].latency_ms = 9.9;
  job.targets[2].note = "waits for a worker";
  const std::string table = target_table(job);
  EXPECT_NE(table.find("4.500"), std::string::npos) << table;
  EXPECT_NE(table.find("1.5 MB"), std::string::npos) << table;
  EXPECT_EQ(table.find("9.900"), std::string::npos) << table;
  EXPECT_NE(table.find("no memory"), std::string::npos) << table;
  EXPECT_NE(table.find("waits for a worker"), std::string::npos) << table;
}

TEST(StepTable, ShowsTheLastAttempt) {
  JobView job = job_of({TargetState::done});
  StepView step;
  step.sku = "sku-0";
  step.name = "tune";
  step.epoch = 2;
  step.attempts = {{"first", 1, 1, 2, "worker_lost", ""}, {"second", 2, 3, 4, "failed", "why"}};
  job.steps.push_back(step);
  const std::string table = step_table(job);
  EXPECT_NE(table.find("second"), std::string::npos) << table;
  EXPECT_NE(table.find("failed: why"), std::string::npos) << table;
  EXPECT_EQ(table.find("first"), std::string::npos) << table;
}

TEST(ProgressRows, SayWhatRunsOrWhatATargetWaitsFor) {
  JobView job = job_of({TargetState::running, TargetState::queued});
  job.targets[0].progress = {"tuning", 5, 10, 3.0};
  job.targets[0].note = "not shown while it runs";
  job.targets[1].progress = {"tuning", 5, 10, 3.0};
  job.targets[1].note = "waits for a worker";
  const auto rows = progress_rows(job);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].phase, "tuning");
  EXPECT_EQ(rows[0].done, 5u);
  EXPECT_EQ(rows[0].total, 10u);
  EXPECT_EQ(rows[0].note, "");
  EXPECT_EQ(rows[1].phase, "queued");
  EXPECT_EQ(rows[1].total, 0u);
  EXPECT_EQ(rows[1].note, "waits for a worker");
}

TEST(ReportAccepted, PrintsTheIdAndHowToFollowIt) {
  FakeConsole text, json;
  report_accepted(job_of({TargetState::queued}), OutputForm::text, text.console());
  EXPECT_EQ(text.out(), "j-1\n");
  EXPECT_EQ(text.err(), "follow it with: enginery wait j-1\n");
  report_accepted(job_of({TargetState::queued}), OutputForm::json, json.console());
  EXPECT_EQ(Json::parse(json.out())["job"], "j-1");
  EXPECT_EQ(json.err(), "");
}

TEST(ReportEnd, PrintsTheJobTheSummaryAndReturnsTheExitCode) {
  FakeConsole good, bad;
  EXPECT_EQ(report_end(job_of({TargetState::done}), OutputForm::text, good.console()),
            ExitCode::ok);
  EXPECT_EQ(good.err(), "");
  EXPECT_EQ(good.out(), target_table(job_of({TargetState::done})));
  const JobView partial = job_of({TargetState::done, TargetState::failed});
  EXPECT_EQ(report_end(partial, OutputForm::json, bad.console()), ExitCode::partial);
  EXPECT_EQ(Json::parse(bad.out()), job_json(partial));
  EXPECT_EQ(bad.err(), failure_summary(partial) + "\n");
}

}  // namespace
}  // namespace enginery
