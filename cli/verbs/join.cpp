// join: this machine's workers for a coordinator on another host, with a token from there.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/local/farm_keys.h"
#include "cli/local/worker_crew.h"
#include "cli/output/json_output.h"
#include "cli/process/up_lock.h"
#include "cli/verbs/verbs.h"

namespace enginery {
namespace {

class JoinCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.positional("TOKEN", token_,
                       "as `enginery up --listen` printed it; without it the key "
                       "of the last join is used again",
                       Presence::optional);
    options.text("--name", name_, "NAME", "what this host is called there (default: its name)");
    crew_.declare(options);
    options.flag("--detach", detach_, "return once everything is ready; `enginery down` stops it");
    options.flag("--json", json_, "print JSON once it is ready (enginery.join/1)");
    options.about(
        "A token is good for one host and for 24 hours: this host makes a key of its own, which "
        "the "
        "coordinator then knows, and keeps\n"
        "it in enginery's data folder (keys/farm/joined.key). It dials out only: the coordinator's "
        "host needs two open ports, this one none.");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto devices, crew_devices(crew_));
    TRY(const UpLock lock, UpLock::acquire());
    TRY(const std::filesystem::path key,
        token_.empty() ? joined_key() : redeem_token(token_, name_));
    farm_.key = key.string();
    CHECK_OK(reach());
    if (!detach_) return serve(devices, session.console);
    TRY(Detached detached, Detached::start(up_log_file()));
    if (detached.is_parent()) return report_detached(detached, session.console);
    CHECK_OK(lock.write_pid());
    return serve(devices, session.console);
  }

 private:
  // Says what is wrong before anything is started. Its threads end with it: a fork may follow.
  Status reach() const {
    TRY([[maybe_unused]] const auto client, connect(farm_));
    return {};
  }

  Result<ExitCode> serve(const std::vector<LocalSku>& devices, Console& console) {
    block_supervisor_signals();
    const SystemClock clock;
    Supervisor supervisor(console, clock);
    for (const LocalSku& device : devices)
      CHECK_OK(supervisor.add(crew_child(device, crew_, {"--key", farm_.key})));
    TRY(const bool ready, wait_for_crew(supervisor, clock, [&] {
          auto client = connect(farm_);
          return client.ok() ? std::move(*client) : nullptr;
        }));
    if (!ready) return ExitCode::timed_out;
    announce(supervisor, console);
    CHECK_OK(console.flush());
    if (detach_) CHECK_OK(Detached::let_go_of_parent(up_log_file()));
    while (!supervisor.supervise(std::chrono::seconds(60))) {
    }
    supervisor.stop();
    return ExitCode::ok;
  }

  void announce(const Supervisor& supervisor, Console& console) const {
    if (!json_) {
      for (const Child& child : supervisor.children())
        console.print_line(fmt::format("{} pid {}", child.spec.name, child.pid));
      return console.print_line("ready");
    }
    Json workers = Json::array();
    for (const Child& child : supervisor.children())
      workers.push_back({{"name", child.spec.name}, {"pid", child.pid}});
    print_json(console, {{"schema", "enginery.join/1"}, {"ready", true}, {"workers", workers}});
  }

  FarmOptions farm_;
  CrewOptions crew_;
  std::string token_, name_;
  bool detach_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_join() {
  return std::make_unique<JoinCommand>();
}

}  // namespace enginery
