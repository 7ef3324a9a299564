// logs: a job's log; -f follows it until the job has ended.
#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/output/json_output.h"
#include "cli/process/signals.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

constexpr auto kLogPollTime = std::chrono::milliseconds(500);

class LogsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("JOB", job_, "the job's id");
    options.flag("-f,--follow", follow_, "keep printing until the job has ended");
    options.number("--offset", offset_, {0, INT64_MAX}, "BYTES", "skip this many bytes");
    options.flag("--json", json_, "print JSON (enginery.log/1)");
    farm_.declare(options);
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(farm_));
    const Interrupt interrupt;
    auto offset = static_cast<uint64_t>(offset_.value_or(0));
    std::string all;
    while (!interrupt.requested()) {
      TRY(const LogChunk chunk, client->read_log(job_, offset, follow_, kLogPollTime));
      if (json_) {
        all += chunk.text;
      } else {
        session.console.print(chunk.text);
        CHECK_OK(session.console.flush());
      }
      offset = chunk.offset + chunk.text.size();
      const bool at_end = offset >= chunk.end;
      if (at_end && (chunk.complete || !follow_)) break;
    }
    if (json_) {
      print_json(session.console, {{"schema", "enginery.log/1"},
                                   {"job", job_},
                                   {"text", valid_utf8(all)},
                                   {"end", offset}});
    }
    return interrupt.requested() ? ExitCode::timed_out : ExitCode::ok;
  }

 private:
  FarmOptions farm_;
  std::string job_;
  std::optional<int64_t> offset_;
  bool follow_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_logs() {
  return std::make_unique<LogsCommand>();
}

}  // namespace enginery
