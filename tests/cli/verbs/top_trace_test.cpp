// `top` and `trace` against a coordinator.
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command_line.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/signals_of_process.h"
#include "tests/cli/verbs/farm_home.h"

namespace enginery {
namespace {

class TopVerb : public FarmHomeTest {};

TEST_F(TopVerb, LooksOnceWhereNobodyWatches) {
  const std::string id = submitted("p4");
  const Printed text = ask({"top"});
  ASSERT_EQ(text.code, ExitCode::ok) << text.err;
  EXPECT_NE(text.out.find("jobs: 1 open"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\n" + id + " "), std::string::npos) << text.out;
  EXPECT_EQ(text.err, "");
  const Json json = ask({"top", "--json"}).json();
  expect_fields(json, {"schema", "time", "skus", "workers", "jobs"});
  EXPECT_EQ(json["jobs"][0]["id"], id);
}

TEST_F(TopVerb, OnATerminalIsDrawnAgainUntilItIsInterrupted) {
  submitted("p4");
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    raise_unblocked(SIGINT);
  });
  FakeConsole terminal(Terminal{true, false, true});
  const ExitCode code = run_command_line({"top", "--interval", "0.1"}, terminal.console());
  later.join();
  EXPECT_EQ(code, ExitCode::ok) << terminal.err();
  EXPECT_NE(terminal.err().find("\x1b["), std::string::npos) << "drawn over what was there";
  EXPECT_NE(terminal.out().find("jobs: 1 open"), std::string::npos) << "the last look stays";
}

class TraceVerb : public FarmHomeTest {};

TEST_F(TraceVerb, WritesAChromeTraceOfTheJob) {
  const std::string id = submitted("p4");
  const std::string path = file("job.json");
  const Printed written = ask({"trace", id, "-o", path});
  ASSERT_EQ(written.code, ExitCode::ok) << written.err;
  EXPECT_EQ(written.out, path + "\n");
  const Json trace = Json::parse(*read_file(path));
  EXPECT_EQ(trace["otherData"]["job"], id);
  bool waits = false;
  for (const Json& event : trace["traceEvents"]) {
    EXPECT_TRUE(event.contains("ph") && event.contains("pid")) << event;
    if (event["ph"] == "X") {
      EXPECT_GE(double(event["dur"]), 0) << event;
    }
    waits |= event.value("cat", "") == "wait";
  }
  EXPECT_TRUE(waits) << "its first step waits for a worker";
  EXPECT_EQ(ask({"trace", id, "-o", "-"}).json()["otherData"]["job"], id);
}

TEST_F(TraceVerb, RefusesAJobThatIsNot) {
  expect_refused({{"trace", "j999999"}, ExitCode::not_found, "j999999"});
}

}  // namespace
}  // namespace enginery
