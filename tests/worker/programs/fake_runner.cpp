// A runner that computes nothing, for tests of the agent: it speaks the runner's grammar, and its
// model says what it does.
//
//   model := [ "broken" ] "tune" problems pause_ms weights [ loud ]        e.g. "tune 40 20 1"
//
// A tuning of so many problems takes so long for each that the farm knows no timing of; `weights`
// only tells models apart. It first prints `loud` lines. An argument names a device of its own.
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "engine/base/file.h"
#include "pipeline/step.h"
#include "worker/runner/line_pipe.h"
#include "worker/runner/runner_messages.h"
#include "worker/timing/pipe_timing_store.h"

namespace enginery {
namespace {

volatile std::sig_atomic_t cancelled = 0;

RunnerEnd failed(OutcomeKind kind, ErrorCode code, const std::string& message) {
  RunnerEnd out;
  out.kind = kind;
  out.fault = {code, message};
  return out;
}

class FakeRunner {
 public:
  explicit FakeRunner(std::string device) : device_(std::move(device)) {}

  RunnerReport answer(const RunnerRequest& request) {
    if (request.step == "describe")
      return DeviceDescription{
          "cpu", "a fake device", device_.empty() ? "fake-0" : device_, "enginery=fake", {}};
    std::printf("%s on stdout\n", request.step.c_str());
    std::fflush(stdout);
    for (const auto& [name, path] : request.inputs) {
      auto bytes = read_file(path);
      if (!bytes.ok())
        return failed(OutcomeKind::internal, bytes.error().code, bytes.error().message);
      inputs_[name] = std::move(*bytes);
    }
    RunnerEnd end = step(request);
    for (const auto& [name, bytes] : outputs_) {
      const Status written = write_file(std::filesystem::path(request.output_folder) / name, bytes);
      if (!written.ok())
        return failed(OutcomeKind::storage, written.error().code, written.error().message);
      end.outputs.push_back({name, sha256(bytes), bytes.size()});
    }
    return end;
  }

  void say(const RunnerReport& report) { (void)out_.write(to_line(report)); }
  Result<std::string> hear() { return read_line(kRunnerRequestFd, lines_); }

 private:
  RunnerEnd step(const RunnerRequest& request) {
    RunnerEnd end;
    if (request.step == "validate") {
      if (inputs_["model"].starts_with("broken"))
        return failed(OutcomeKind::failed, ErrorCode::invalid_argument, "broken model");
      end.metrics = {{"layers", 1}};
      end.facts = {{"structure", structure().text()}};
    } else if (request.step == "tune") {
      return tune("sku=" + request.sku + "\n" +
                  (device_.empty() ? "" : "device=" + device_ + "\n"));
    } else if (request.step == "assemble") {
      outputs_["content"] = inputs_["model"] + inputs_["choices"];
      end.facts = {{"content_digest", sha256(outputs_["content"]).text()}, {"precision", "fp32"}};
    } else if (request.step == "profile") {
      outputs_["unsigned"] = inputs_["content"] + " and where it came from";
      end.metrics = {{"latency_ms", 0.5}};
    }
    return end;
  }

  // The model without its weights.
  Digest structure() {
    int problems = 0, pause_ms = 0;
    std::sscanf(inputs_["model"].c_str(), "tune %d %d", &problems, &pause_ms);
    return sha256("tune " + std::to_string(problems) + " " + std::to_string(pause_ms));
  }

  RunnerEnd tune(const std::string& device) {
    int problems = 0, pause_ms = 0, weights = 0, loud = 0;
    std::sscanf(inputs_["model"].c_str(), "tune %d %d %d %d", &problems, &pause_ms, &weights,
                &loud);
    const std::string padding(100, '.');
    for (int i = 0; i < loud; ++i) std::printf("loud line %d %s\n", i, padding.c_str());
    std::fflush(stdout);
    int measured = 0;
    for (int i = 0; i < problems; ++i) {
      const std::string problem = "problem " + std::to_string(i);
      say(Progress{doing("tune"), static_cast<uint64_t>(i), static_cast<uint64_t>(problems)});
      auto known = timings_.find(device, problem);
      if (!known.ok())
        return failed(OutcomeKind::internal, known.error().code, known.error().message);
      if (!known->empty()) continue;
      poll(nullptr, 0, pause_ms);
      if (cancelled) return failed(OutcomeKind::cancelled, ErrorCode::cancelled, "cancelled");
      Timing timing;
      timing.tactic = "a tactic";
      (void)timings_.put(device, problem, timing);
      say(RunnerLog{"measured " + problem});
      ++measured;
    }
    outputs_["choices"] = "choices of " + std::to_string(problems) + " problems";
    RunnerEnd end;
    end.metrics = {{"timings_measured", static_cast<double>(measured)},
                   {"timings_reused", static_cast<double>(problems - measured)}};
    return end;
  }

  const std::string device_;
  LineWriter out_{kRunnerReportFd};
  LineBuffer lines_;
  PipeTimingStore timings_{kRunnerRequestFd, lines_, out_};
  std::map<std::string, Bytes> inputs_, outputs_;
};

int run(std::string device) {
  struct sigaction action = {};
  action.sa_handler = [](int) { cancelled = 1; };
  sigaction(SIGTERM, &action, nullptr);
  FakeRunner runner(std::move(device));
  auto line = runner.hear();
  if (!line.ok()) return 1;
  auto request = parse_request(*line);
  if (!request.ok()) return 1;
  runner.say(runner.answer(*request));
  return 0;
}

}  // namespace
}  // namespace enginery

int main(int argc, char** argv) {
  return enginery::run(argc > 1 ? argv[1] : "");
}
