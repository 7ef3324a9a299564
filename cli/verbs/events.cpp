// events: the farm's journal: what happened to jobs, steps and workers, in order.
#include <nlohmann/json.hpp>

#include "cli/farm/farm.h"
#include "cli/options/since.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "cli/process/signals.h"
#include "cli/verbs/verbs.h"
#include "coordinator/views/farm_json.h"

namespace enginery {
namespace {

constexpr int64_t kShownLines = 50;
constexpr uint32_t kEventHoldMs = 500;  // Ctrl-C is answered between two polls

class EventsCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.text("--job", job_, "JOB", "only what happened to this job");
    options.text("--since", since_, "TIME",
                 "everything from then on: 90s, 15m, 2h, 3d ago, or 2026-11-21T06:50:12Z");
    options.number("-n,--limit", limit_, {1, 1000}, "N",
                   "without --since: the newest N lines (default: 50)");
    options.flag("-f,--follow", follow_, "keep printing until Ctrl-C");
    options.flag("--json", json_,
                 "print JSON (enginery.events/1); with -f one line for each event");
    farm_.declare(options);
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto client, connect(farm_));
    TRY(ListEvents question, first_question(*client));
    const Interrupt interrupt;
    std::vector<EventView> all;
    bool more = true;
    while (!interrupt.requested() && (more || follow_)) {
      TRY(EventList list, client->events(question));
      if (json_ && !follow_)
        std::move(list.events.begin(), list.events.end(), std::back_inserter(all));
      else
        CHECK_OK(print(list.events, session.console));
      question.after = list.next;
      question.limit = 0;
      question.hold_ms = follow_ ? kEventHoldMs : 0;
      // An empty journal goes on from its beginning.
      if (question.after == 0) question.since_ns = 1;
      more = list.more;
    }
    if (json_ && !follow_) print_json(session.console, events_json(all, question.after));
    return ExitCode::ok;
  }

 private:
  Result<ListEvents> first_question(Client& client) const {
    ListEvents question;
    if (!job_.empty()) {
      TRY([[maybe_unused]] const JobView known, client.show(job_));
      question.job = job_;
    }
    if (since_.empty()) {
      question.limit = static_cast<uint32_t>(limit_.value_or(kShownLines));
    } else {
      TRY(question.since_ns, parse_since(since_, SystemClock().wall_time().count()));
    }
    return question;
  }

  Status print(const std::vector<EventView>& events, Console& console) const {
    for (const EventView& event : events)
      console.print_line(json_ ? one_line(event) : sentence(event));
    return console.flush();
  }

  static std::string one_line(const EventView& event) {
    Json json = {{"schema", "enginery.event/1"}};
    json.update(event_json(event));
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  static std::string sentence(const EventView& event) {
    std::string text = human_time(event.time_ns) + "  " + (event.job.empty() ? "-" : event.job) +
                       "  " + event.kind;
    for (const NamedText& field : event.fields)
      if (!field.value.empty()) text += "  " + field.name + "=" + field.value;
    return text;
  }

  FarmOptions farm_;
  std::string job_, since_;
  std::optional<int64_t> limit_;
  bool follow_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_events() {
  return std::make_unique<EventsCommand>();
}

}  // namespace enginery
