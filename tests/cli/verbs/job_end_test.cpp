// Jobs and how they end, through the verbs: answered from the catalog, failed, cancelled, partly
// done; and the exit code of each.
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/cli/verbs/farm_home.h"

namespace enginery {
namespace {

class JobEnds : public FarmHomeTest {
 protected:
  // Waits until the first target of the job is done.
  static void wait_for_first(const std::string& id) {
    for (int i = 0; i < 500; ++i) {
      if (ask({"show", id}).out.find(" done ") != std::string::npos) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "job " << id << " has no target that is done";
  }
  // The words of a submit of the example under another digest: what fails for good is the answer
  // for this model alone.
  static std::vector<std::string> submit_another(const std::string& option) {
    Bytes model = *read_file(kExampleModel);
    model += std::string("\x12\x01z");  // another name of its producer
    EXPECT_TRUE(write_file(file("another.onnx"), model).ok());
    return {"submit", file("another.onnx"), "--target", "cpu-sse41",          "--level",
            "0",      "--threads",          "1",        "--wait-for-workers", option};
  }
};

TEST_F(JobEnds, WhatTheCatalogHasIsDoneAtOnce) {
  const Printed done = submit(built_sku(), {"--wait", "--json"});
  ASSERT_EQ(done.code, ExitCode::ok) << done.err;
  const Json target = done.json()["targets"][0];
  EXPECT_EQ(done.json()["state"], "done");
  EXPECT_EQ(target["source"], "cache");
  EXPECT_EQ(target["engine"], ExampleHome::report()["engine"]);
  EXPECT_EQ(target["timings_measured"], 0);
  EXPECT_NE(done.err.find("job " + std::string(done.json()["job"]) + "\n"), std::string::npos)
      << "the id is told before the waiting begins: " << done.err;
}

TEST_F(JobEnds, ADryRunOfWhatTheCatalogHasSaysSo) {
  const Printed dry = submit(built_sku() + ",p4", {"--dry-run", "--json"});
  ASSERT_EQ(dry.code, ExitCode::ok) << dry.err;
  expect_fields(dry.json(), {"schema", "job", "state", "model", "targets"});
  EXPECT_EQ(dry.json()["targets"][0]["source"], "cache");
  EXPECT_EQ(dry.json()["targets"][1]["source"], "built") << "it would be";
  EXPECT_TRUE(submit(built_sku(), {"--dry-run"}).out.starts_with("SKU"));
}

TEST_F(JobEnds, OfTwoTargetsOneCancelledIsPartial) {
  const std::string id = submitted(built_sku() + ",p4");
  wait_for_first(id);
  const Printed cancelled = ask({"cancel", id});
  ASSERT_EQ(cancelled.code, ExitCode::ok) << cancelled.err;
  EXPECT_TRUE(cancelled.out.starts_with("SKU")) << cancelled.out;
  EXPECT_NE(cancelled.out.find("cancelled"), std::string::npos) << cancelled.out;
  const Printed ended = ask({"wait", id, "--json"});
  EXPECT_EQ(ended.code, ExitCode::partial);
  EXPECT_EQ(ended.json()["targets"][0]["state"], "done");
  EXPECT_EQ(ended.json()["targets"][1]["state"], "cancelled");
  EXPECT_NE(ended.err.find("of 2 targets 1 cancelled"), std::string::npos) << ended.err;
  const Printed again = ask({"retry", id, "--json"});
  ASSERT_EQ(again.code, ExitCode::ok) << again.err;
  ASSERT_EQ(again.json()["targets"].size(), 1u) << "what is done is skipped";
  EXPECT_EQ(again.json()["targets"][0]["sku"], "p4");
}

TEST_F(JobEnds, AModelThatAWorkerRefusesFailsTheJobWithItsWords) {
  const Printed job = ask(submit_another("--json"));
  ASSERT_EQ(job.code, ExitCode::ok) << job.err;
  const std::string id = job.json()["job"];
  ScriptedWorker worker(address(), "w-refuses", "cpu-sse41");
  const RunStep step = worker.leased();
  ASSERT_EQ(step.kind, "validate");

  const Json running = ask({"workers", "--json"}).json();
  EXPECT_EQ(running["schema"], "enginery.workers/1");
  ASSERT_EQ(running["workers"].size(), 1u);
  const Json& busy = running["workers"][0];
  expect_fields(busy, {"id", "sku", "state", "pid", "job", "step", "last_seen_s", "host", "device",
                       "device_state", "health", "reason"});
  EXPECT_EQ(busy["id"], "w-refuses");
  EXPECT_EQ(busy["sku"], "cpu-sse41");
  EXPECT_EQ(busy["pid"], 4711);
  EXPECT_EQ(busy["job"], id);
  EXPECT_EQ(busy["step"], "validate");
  const std::string table = ask({"workers"}).out;
  for (const char* cell : {"WORKER", "w-refuses", "4711", "validate", " ago\n"})
    EXPECT_NE(table.find(cell), std::string::npos) << cell << "\n" << table;

  worker.fails(step, "no such operator");
  const Printed failed = ask({"wait", id, "--json"});
  EXPECT_EQ(failed.code, ExitCode::failed);
  EXPECT_EQ(failed.json()["targets"][0]["error"]["code"], "unsupported");
  EXPECT_EQ(failed.json()["targets"][0]["error"]["message"], "no such operator");
  EXPECT_NE(failed.err.find("enginery logs " + id), std::string::npos) << failed.err;

  const Json shown = ask({"show", id, "--json"}).json();
  ASSERT_EQ(shown["steps"][0]["name"], "validate");
  ASSERT_EQ(shown["steps"][0]["attempts"].size(), 1u) << "what fails for good is tried once";
  EXPECT_EQ(shown["steps"][0]["attempts"][0]["worker"], "w-refuses");
  EXPECT_EQ(shown["steps"][0]["attempts"][0]["outcome"], "failed");
  const std::string text = ask({"show", id}).out;
  for (const char* part : {"another", "failed: no such operator", "w-refuses", ", ended "})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;

  const Printed again = ask(submit_another("--wait"));
  EXPECT_EQ(again.code, ExitCode::failed) << "the failure is the key's answer";
  EXPECT_NE(again.out.find("no such operator"), std::string::npos) << again.out;
}

TEST_F(JobEnds, ADrainedWorkerIsGivenNothingMore) {
  ScriptedWorker worker(address(), "w-drains", "cpu-sse41");
  worker.says(Idle{});
  const Printed drained = ask({"drain", "w-drains", "--json"});
  ASSERT_EQ(drained.code, ExitCode::ok) << drained.err;
  EXPECT_EQ(drained.json(),
            (Json{{"schema", "enginery.drain/1"}, {"worker", "w-drains"}, {"exit", false}}));
  EXPECT_TRUE(worker.comes<Drain>());
  ASSERT_EQ(ask({"drain", "w-drains", "--exit"}).out, "") << "no news is good news";
  EXPECT_TRUE(worker.comes<Exit>());
}

TEST_F(JobEnds, ADrainedWorkerIsGivenWorkAgainAndOneThatIsConnectedIsNotForgotten) {
  ScriptedWorker worker(address(), "w-returns", "cpu-sse41");
  worker.says(Idle{});
  ASSERT_EQ(ask({"drain", "w-returns"}).code, ExitCode::ok);
  EXPECT_TRUE(worker.comes<Drain>());
  const Printed undrained = ask({"undrain", "w-returns", "--json"});
  ASSERT_EQ(undrained.code, ExitCode::ok) << undrained.err;
  EXPECT_EQ(undrained.json(), (Json{{"schema", "enginery.undrain/1"}, {"worker", "w-returns"}}));
  const Printed forgotten = ask({"workers", "--forget", "w-returns"});
  EXPECT_EQ(forgotten.code, ExitCode::usage);
  EXPECT_NE(forgotten.err.find("enginery drain WORKER --exit"), std::string::npos) << forgotten.err;
}

TEST_F(JobEnds, ARetryOfWhatIsDoneIsRefused) {
  const std::string id = submitted(built_sku());
  ASSERT_EQ(ask({"wait", id}).code, ExitCode::ok);
  expect_refused({{"retry", id}, ExitCode::usage, "there is nothing to retry"});
  const std::string other = submitted("p4", {"--name", "unfinished"});
  expect_refused({{"retry", other}, ExitCode::usage, "wait for it or cancel it first"});
}

TEST_F(JobEnds, JobsAreListedNewestFirstAndAtMostSoMany) {
  const std::string first = submitted("p4", {"--name", "one"});
  const std::string second = submitted("p4", {"--name", "two"});
  EXPECT_EQ(ask({"jobs", "--ids", "-n", "2"}).out, second + "\n" + first + "\n");
  const Json rows = ask({"jobs", "--json", "--limit", "1"}).json()["jobs"];
  ASSERT_EQ(rows.size(), 1u);
  expect_fields(rows[0], {"id", "model", "state", "submitted", "done", "total"});
  EXPECT_EQ(rows[0]["model"], "two");
  EXPECT_EQ(rows[0]["total"], 1);
  const std::string table = ask({"jobs", "-n", "1"}).out;
  EXPECT_TRUE(table.starts_with("JOB")) << table;
  EXPECT_NE(table.find("0/1"), std::string::npos) << table;
}

TEST_F(JobEnds, TheSameSubmitAgainIsAJobOfItsOwn) {
  EXPECT_NE(submitted("p4", {"--name", "twice"}), submitted("p4", {"--name", "twice"}));
}

TEST_F(JobEnds, ALogIsPrintedFromAnOffsetAsTextOrJson) {
  const std::string id = submitted(built_sku());
  ASSERT_EQ(ask({"wait", id}).code, ExitCode::ok);
  const Json whole = ask({"logs", id, "--json"}).json();
  expect_fields(whole, {"schema", "job", "text", "end"});
  EXPECT_EQ(whole["schema"], "enginery.log/1");
  const std::string text = whole["text"];
  EXPECT_EQ(whole["end"], text.size());
  EXPECT_EQ(ask({"logs", id}).out, text);
  EXPECT_EQ(ask({"logs", id, "-f"}).out, text) << "a job that has ended is not waited for";
  EXPECT_EQ(ask({"logs", id, "--offset", std::to_string(text.size())}).out, "");
}

TEST_F(JobEnds, ExplainNamesEveryWorkerThatMatters) {
  ScriptedWorker worker(address(), "w-other", "cpu-sse41");
  worker.says(Idle{});
  const std::string id = submitted("p4", {"--name", "explained"});
  const Json explained = ask({"explain", id, "--json"}).json();
  expect_fields(explained, {"schema", "job", "targets"});
  EXPECT_EQ(explained["schema"], "enginery.explain/1");
  expect_fields(explained["targets"][0], {"sku", "step", "reason", "candidates"});
  EXPECT_EQ(explained["targets"][0]["sku"], "p4");
  EXPECT_NE(std::string(explained["targets"][0]["reason"]), "");
  const std::string text = ask({"explain", id}).out;
  EXPECT_TRUE(text.starts_with("p4")) << text;
  EXPECT_NE(text.find(std::string(explained["targets"][0]["reason"])), std::string::npos) << text;
}

TEST_F(JobEnds, SubmitRefusesBeforeAnythingTravels) {
  ASSERT_TRUE(write_file(file("no-model.onnx"), "no model").ok());
  const size_t before = ask({"jobs", "--json"}).json()["jobs"].size();
  const Refusal rows[] = {
      {{"submit"}, ExitCode::usage, "MODEL is missing"},
      {{"submit", kExampleModel, "--target", "h2000"}, ExitCode::usage, "unknown target 'h2000'"},
      {{"submit", kExampleModel, "--priority", "1001"}, ExitCode::usage, "from -1000 to 1000"},
      {{"submit", kExampleModel, "--timeout", "0"}, ExitCode::usage, "--timeout"},
      {{"submit", kExampleModel, "--target", "p4", "--min-shapes", "a:1", "--max-shapes", "a:2"},
       ExitCode::invalid_input,
       "range of shapes"},
      {{"submit", file("no.onnx")}, ExitCode::not_found, "no.onnx"},
      {{"submit", file("no-model.onnx"), "--threads", "1"}, ExitCode::invalid_input, "no-model"},
      {{"jobs", "-n", "0"}, ExitCode::usage, "from 1 to 10000"},
      {{"logs", "j", "--offset", "-1"}, ExitCode::usage, "--offset"},
      {{"wait", "j", "--timeout", "soon"}, ExitCode::usage, "not 'soon'"},
  };
  for (const Refusal& row : rows) expect_refused(row);
  EXPECT_EQ(ask({"jobs", "--json"}).json()["jobs"].size(), before);
}

}  // namespace
}  // namespace enginery
