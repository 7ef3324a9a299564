// trace: a job's time as a Chrome trace.
#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/output/json_output.h"
#include "cli/output/output_file.h"
#include "cli/verbs/verbs.h"
#include "coordinator/views/job_trace.h"

namespace enginery {
namespace {

class TraceCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("JOB", job_, "the job's id (enginery jobs lists them)");
    options.text("-o,--output", output_, "FILE",
                 "where to write it; - is stdout (default: ./JOB.trace.json)");
    farm_.declare(options);
    options.about(
        "Open the file in chrome://tracing or https://ui.perfetto.dev: what waited, what ran on "
        "which worker, what was tried again.\n"
        "A job that runs still is drawn as far as it is.");
  }

  Result<ExitCode> run(Session& session) override {
    const std::string path = output_.empty() ? job_ + ".trace.json" : output_;
    if (output_ != "-") CHECK_OK(check_output_file(path));
    TRY(const auto client, connect(farm_));
    TRY(const JobView job, client->show(job_));
    TRY(const std::vector<EventView> events, journal_of(*client));
    const int64_t now = SystemClock().wall_time().count();
    const std::string text = chrome_trace(job, events, now).dump() + "\n";
    if (output_ == "-") {
      session.console.print(text);
      return ExitCode::ok;
    }
    CHECK_OK(write_output_file(path, text));
    session.console.print_line(path);
    return ExitCode::ok;
  }

 private:
  Result<std::vector<EventView>> journal_of(Client& client) const {
    ListEvents question;
    question.job = job_;
    question.since_ns = 1;  // from its first line on
    std::vector<EventView> all;
    while (true) {
      TRY(EventList page, client.events(question));
      std::move(page.events.begin(), page.events.end(), std::back_inserter(all));
      if (!page.more) return all;
      question.after = page.next;
    }
  }

  FarmOptions farm_;
  std::string job_, output_;
};

}  // namespace

std::unique_ptr<Command> make_trace() {
  return std::make_unique<TraceCommand>();
}

}  // namespace enginery
