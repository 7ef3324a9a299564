// workers: the farm's workers and what they do; drain: let one finish and take nothing more.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json worker_json(const WorkerView& worker) {
  return {{"id", worker.id},
          {"sku", worker.sku},
          {"state", to_string(worker.state)},
          {"pid", worker.pid},
          {"job", text_or_null(worker.job)},
          {"step", text_or_null(worker.step)},
          {"last_seen_s", worker.last_seen_seconds},
          {"host", worker.host},
          {"device", worker.device},
          {"health", valid_utf8(worker.health)}};
}

class WorkersCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.flag("--json", json_, "print JSON (enginery.workers/1)");
    farm_.declare(options);
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(farm_));
    TRY(const auto workers, client->workers());
    if (json_) {
      Json rows = Json::array();
      for (const WorkerView& worker : workers) rows.push_back(worker_json(worker));
      print_json(session.console, {{"schema", "enginery.workers/1"}, {"workers", rows}});
      return ExitCode::ok;
    }
    Table table({{"WORKER"},
                 {"SKU"},
                 {"STATE"},
                 {"PID", Align::right},
                 {"JOB"},
                 {"STEP"},
                 {"SEEN", Align::right}});
    for (const WorkerView& worker : workers) {
      table.add({worker.id, worker.sku, to_string(worker.state), std::to_string(worker.pid),
                 worker.job, worker.step, human_seconds(worker.last_seen_seconds) + " ago"});
    }
    if (table.empty())
      session.console.note("no workers; start one with: enginery worker --sku SKU");
    if (!table.empty()) session.console.print(table.text());
    return ExitCode::ok;
  }

 private:
  FarmOptions farm_;
  bool json_ = false;
};

class DrainCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("WORKER", worker_, "the worker's id (enginery workers lists them)");
    options.flag("--exit", exit_, "end its process once it is idle");
    options.flag("--json", json_, "print JSON (enginery.drain/1)");
    farm_.declare(options);
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(farm_));
    CHECK_OK(client->drain(worker_, exit_));
    if (json_)
      print_json(session.console,
                 {{"schema", "enginery.drain/1"}, {"worker", worker_}, {"exit", exit_}});
    return ExitCode::ok;
  }

 private:
  FarmOptions farm_;
  std::string worker_;
  bool exit_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_workers() {
  return std::make_unique<WorkersCommand>();
}
std::unique_ptr<Command> make_drain() {
  return std::make_unique<DrainCommand>();
}

}  // namespace enginery
