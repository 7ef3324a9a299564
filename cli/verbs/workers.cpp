// workers: the farm's workers and what they do; drain: let one finish and take nothing more;
// undrain: let it take work again.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/verbs/verbs.h"
#include "coordinator/views/farm_json.h"

namespace enginery {
namespace {

class WorkersCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.text("--forget", forget_, "WORKER",
                 "remove a worker that is gone from the list, instead of printing the list");
    options.flag("--json", json_, "print JSON (enginery.workers/1)");
    farm_.declare(options);
    options.about(
        "A worker on which several steps failed that did not fail elsewhere is quarantined: it "
        "gets no work until it\nhas passed its self-test, or until `enginery undrain WORKER`. A "
        "worker that is lost is forgotten after an hour.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(farm_));
    if (!forget_.empty()) return forget(*client, session.console);
    TRY(const auto workers, client->workers());
    if (json_) {
      print_json(session.console, workers_json(workers));
      return ExitCode::ok;
    }
    print_table(workers, session.console);
    for (const WorkerView& worker : workers)
      if (!worker.reason.empty())
        session.console.note(worker.id + " is quarantined: " + worker.reason +
                             "; a self-test that passes ends it, or: enginery undrain " +
                             worker.id);
    return ExitCode::ok;
  }

 private:
  static void print_table(const std::vector<WorkerView>& workers, Console& console) {
    std::vector<Column> columns{{"WORKER"},
                                {"SKU"},
                                {"STATE"},
                                {"PID", Align::right},
                                {"JOB"},
                                {"STEP"},
                                {"SEEN", Align::right}};
    const bool senses = have_readings(workers);
    if (senses) columns.push_back({"DEVICE"});
    Table table(std::move(columns));
    for (const WorkerView& worker : workers) {
      std::vector<std::string> row{worker.id,
                                   worker.sku,
                                   to_string(worker.state),
                                   std::to_string(worker.pid),
                                   worker.job,
                                   worker.step,
                                   human_seconds(worker.last_seen_seconds) + " ago"};
      if (senses) row.push_back(device_text(worker.reading));
      table.add(std::move(row));
    }
    if (table.empty()) return console.note("no workers; start one with: enginery worker --sku SKU");
    console.print(table.text(console.table_width()));
  }

  Result<ExitCode> forget(Client& client, Console& console) const {
    CHECK_OK(client.forget_worker(forget_));
    if (json_) print_json(console, {{"schema", "enginery.workers/1"}, {"forgotten", forget_}});
    return ExitCode::ok;
  }

  FarmOptions farm_;
  std::string forget_;
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

class UndrainCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("WORKER", worker_, "the worker's id (enginery workers lists them)");
    options.flag("--json", json_, "print JSON (enginery.undrain/1)");
    farm_.declare(options);
    options.about("Ends a drain, and the quarantine of a worker that has been repaired.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(farm_));
    CHECK_OK(client->undrain(worker_));
    if (json_) print_json(session.console, {{"schema", "enginery.undrain/1"}, {"worker", worker_}});
    return ExitCode::ok;
  }

 private:
  FarmOptions farm_;
  std::string worker_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_workers() {
  return std::make_unique<WorkersCommand>();
}
std::unique_ptr<Command> make_drain() {
  return std::make_unique<DrainCommand>();
}
std::unique_ptr<Command> make_undrain() {
  return std::make_unique<UndrainCommand>();
}

}  // namespace enginery
