// top: the farm on one screen, drawn again every second; once where nobody watches.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/farm/farm.h"
#include "cli/output/farm_overview.h"
#include "cli/output/json_output.h"
#include "cli/process/signals.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

constexpr uint32_t kJobsAsked = 200;
constexpr auto kTick = std::chrono::milliseconds(100);  // Ctrl-C is answered between two

class TopCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.real("--interval", interval_, "SECONDS",
                 "between two looks, at least 0.1 (default: 1)");
    options.flag("--once", once_, "look once, as where stdout is no terminal");
    options.flag("--json", json_, "look once and print JSON (enginery.top/1)");
    farm_.declare(options);
    options.about("On a terminal it is drawn again until Ctrl-C.");
  }

  Result<ExitCode> run(Session& session) override {
    Console& console = session.console;
    TRY(const auto client, connect(farm_));
    TRY(FarmOverview farm, look(*client));
    if (json_) {
      print_json(console, overview_json(farm));
      return ExitCode::ok;
    }
    const bool is_watched = console.out_is_terminal() && console.err_is_terminal();
    if (is_watched && !once_) CHECK_OK(watch(*client, farm, console));
    console.print(overview_text(farm));
    return ExitCode::ok;
  }

 private:
  static Result<FarmOverview> look(Client& client) {
    FarmOverview farm;
    TRY(farm.skus, client.skus());
    TRY(farm.workers, client.workers());
    TRY(farm.jobs, client.jobs(kJobsAsked));
    farm.time_ns = SystemClock().wall_time().count();
    return farm;
  }

  // Until Ctrl-C; `farm` is then what was seen last.
  Status watch(Client& client, FarmOverview& farm, Console& console) const {
    const Interrupt interrupt;
    const auto interval = std::chrono::duration<double>(std::max(interval_.value_or(1), 0.1));
    while (!interrupt.requested()) {
      console.show_progress(fitted(overview_text(farm), console.columns(), console.rows() - 1));
      const auto until = std::chrono::steady_clock::now() + interval;
      while (!interrupt.requested() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(kTick);
      if (interrupt.requested()) break;
      TRY(farm, look(client));
    }
    return {};
  }

  FarmOptions farm_;
  std::optional<double> interval_;
  bool once_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_top() {
  return std::make_unique<TopCommand>();
}

}  // namespace enginery
