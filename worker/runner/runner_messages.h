// What agent and runner say to each other: one JSON object a line. worker/README.md has the
// grammar. Threads: as any value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schemas/values.h"
#include "tuner/timing/timing.h"

namespace enginery {

// The runner's file descriptors.
inline constexpr int kRunnerRequestFd = 0;
inline constexpr int kRunnerReportFd = 3;
inline constexpr int kRunnerLockFd = 4;  // keeps the device locked; nothing is read or written

// Inputs of these names, followed by 0, 1, ..., are what verify runs the model on: the bytes of its
// inputs, in their order and of their types.
inline constexpr char kGivenInput[] = "given.";

// What a runner is asked to do; the first line that it reads, and each one after an end that it
// stayed for.
struct RunnerRequest {
  // validate, tune, assemble, verify, profile; or "describe": the device, "examine": a self-test
  std::string step;
  std::string name, model_file, sku, options, worker;
  Digest model;
  std::map<std::string, std::string> inputs;  // "model" and earlier steps' blobs: paths
  std::string output_folder;                  // each output becomes a file of its name there
  uint64_t memory_bytes = 0;                  // limit on the process's data; 0: none
  bool one_by_one = false;                    // TuneSettings
  int assistant = 0;                          // TuneSettings
  bool device_locked = false;                 // who started the runner holds the device for it
  bool stays = false;                         // after the end the runner waits for a next request
  // Of inputs, where they are known: a runner that has such a blob of the step before in memory
  // does not read its file.
  std::map<std::string, Digest> digests = {};
  bool operator==(const RunnerRequest&) const = default;
};

// The device as the runner finds it.
struct DeviceDescription {
  std::string kind, name, physical_id, toolchain;
  std::vector<std::string> compiles_for;  // SKUs for which it can build without having them
  bool operator==(const DeviceDescription&) const = default;
};

// A line for the step's log.
struct RunnerLog {
  std::string text;
  bool operator==(const RunnerLog&) const = default;
};
// A timing, as soon as it is measured. `entry` is the tuner's JSON; the keys are the tuner's texts.
struct RunnerTiming {
  std::string device, problem, tactic, entry;
  int64_t measured_ns = 0;
  bool operator==(const RunnerTiming&) const = default;
};
// A tactic's first steps begin, or are over: between the two it may take the runner down.
struct RunnerTrial {
  std::string device, problem, tactic;  // the tuner's texts; a run of many tactics names none
  bool over = false;
  bool operator==(const RunnerTrial&) const = default;
};
// The runner waits for KnownTimings of this problem on this device; the keys are the tuner's texts.
struct WantTimings {
  std::string device, problem;
  bool operator==(const WantTimings&) const = default;
};
// The runner waits for Taking: whether it may measure the problem on the device now; `left`: how
// many it still lacks.
struct WantProblem {
  std::string device, problem;
  int left = 0;
  bool operator==(const WantProblem&) const = default;
};
// The step's end; its outputs are files in the output folder.
using RunnerEnd = Outcome;
using RunnerReport = std::variant<Progress, RunnerLog, RunnerTiming, RunnerTrial, WantTimings,
                                  WantProblem, RunnerEnd, DeviceDescription>;

// The answer to WantTimings: the tuner's JSON of each.
struct KnownTimings {
  std::vector<std::string> entries;
};

std::string to_line(const RunnerRequest& request);  // all end with a newline
std::string to_line(const RunnerReport& report);
std::string to_line(const KnownTimings& timings);
std::string to_line(const Taking& taking);

// corrupt_data: not such a line.
Result<RunnerRequest> parse_request(std::string_view line);
Result<RunnerReport> parse_report(std::string_view line);
Result<KnownTimings> parse_known_timings(std::string_view line);
Result<Taking> parse_taking(std::string_view line);

}  // namespace enginery
