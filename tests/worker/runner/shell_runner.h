// Shell scripts in a runner's place: what they write to file descriptor 3 is their report.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "worker/runner/runner_process.h"

namespace enginery::test {

// A command of the script: the step ends well, with nothing left.
inline constexpr char kSucceed[] =
    R"(echo '{"end":{"kind":"succeeded","outputs":[],"metrics":[],"facts":[]}}' >&3)";

inline RunnerCommand shell_command(const std::string& script,
                                   std::chrono::milliseconds kill_after = std::chrono::seconds(8)) {
  return {{"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "ONLY=this"}, kill_after};
}

inline std::unique_ptr<RunnerProcess> shell(
    const std::string& script, std::chrono::milliseconds kill_after = std::chrono::seconds(8)) {
  auto process = RunnerProcess::start(shell_command(script, kill_after));
  EXPECT_TRUE(process.ok());
  return std::move(*process);
}

// All that a runner said, and how it ended.
struct Heard {
  std::vector<std::string> output;
  std::vector<RunnerReport> reports;
  Outcome end;

  bool printed(const std::string& text) const {
    for (const std::string& line : output)
      if (line.find(text) != std::string::npos) return true;
    return false;
  }
};

inline Heard listen(
    RunnerProcess& process, std::function<bool()> cancelled = [] { return false; },
    const RunnerRequest& request = {}) {
  Heard heard;
  RunnerEvents events;
  events.report = [&](const RunnerReport& r) { heard.reports.push_back(r); };
  events.output = [&](const std::string& line) { heard.output.push_back(line); };
  events.timings = [](const WantTimings& want) {
    return KnownTimings{{want.device + " of " + want.problem}};
  };
  events.cancelled = std::move(cancelled);
  RunnerReport end = process.run(request, events);
  heard.end = std::get<Outcome>(end);
  return heard;
}

inline Heard run_shell(const std::string& script) {
  return listen(*shell(script));
}

}  // namespace enginery::test
