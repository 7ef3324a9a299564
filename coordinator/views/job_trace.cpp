#include "coordinator/views/job_trace.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace enginery {
namespace {

constexpr int kJobProcess = 1, kWorkerProcess = 2;

// A row of the trace.
struct Lane {
  int process = kJobProcess, thread = 0;
};

struct Span {
  std::string name, kind;
  int64_t begin_ns = 0, end_ns = 0;
  Json arguments = Json::object();
};

std::string text_of(const EventView& event, std::string_view name) {
  const auto found = std::find_if(event.fields.begin(), event.fields.end(),
                                  [&](const NamedText& field) { return field.name == name; });
  return found == event.fields.end() ? "" : found->value;
}

class TraceWriter {
 public:
  TraceWriter(const JobView& job, const std::vector<EventView>& events, int64_t now_ns)
      : job_(job), events_(events), now_ns_(now_ns) {}

  Json write() {
    name_process(kJobProcess, "job " + job_.id);
    name_process(kWorkerProcess, "workers");
    name_lane({kJobProcess, 0}, "job");
    add({kJobProcess, 0},
        {valid_utf8(job_.name),
         "job",
         job_.submitted_ns,
         end_of(job_.ended_ns),
         {{"state", to_string(job_.state)}, {"client", valid_utf8(job_.client)}}});
    for (const StepView& step : job_.steps) add_step(step);
    return {{"displayTimeUnit", "ms"},
            {"otherData",
             {{"schema", "enginery.trace/1"},
              {"job", job_.id},
              {"submitted", json_time(job_.submitted_ns)}}},
            {"traceEvents", trace_}};
  }

 private:
  int64_t end_of(int64_t ended_ns) const { return ended_ns == 0 ? now_ns_ : ended_ns; }
  double micros(int64_t ns) const { return static_cast<double>(ns - job_.submitted_ns) / 1000; }

  void name_process(int process, const std::string& name) {
    trace_.push_back(
        {{"ph", "M"}, {"name", "process_name"}, {"pid", process}, {"args", {{"name", name}}}});
  }
  void name_lane(Lane lane, const std::string& name) {
    trace_.push_back({{"ph", "M"},
                      {"name", "thread_name"},
                      {"pid", lane.process},
                      {"tid", lane.thread},
                      {"args", {{"name", valid_utf8(name)}}}});
  }

  // The lane of a SKU ("" is every SKU's) or worker; made when it is first asked for.
  Lane lane_of(int process, const std::string& name) {
    std::map<std::string, int>& lanes = process == kJobProcess ? skus_ : workers_;
    const auto [at, is_new] = lanes.try_emplace(name, static_cast<int>(lanes.size()) + 1);
    const Lane lane{process, at->second};
    if (is_new) name_lane(lane, name.empty() ? "all SKUs" : name);
    return lane;
  }

  void add(Lane lane, const Span& span) {
    trace_.push_back({{"ph", "X"},
                      {"name", span.name},
                      {"cat", span.kind},
                      {"ts", micros(span.begin_ns)},
                      {"dur", std::max(0.0, micros(span.end_ns) - micros(span.begin_ns))},
                      {"pid", lane.process},
                      {"tid", lane.thread},
                      {"args", span.arguments}});
  }

  void add_step(const StepView& step) {
    const Lane lane = lane_of(kJobProcess, step.sku);
    int64_t waits_since = queued_at(step);
    for (const AttemptView& attempt : step.attempts) {
      if (waits_since != 0 && attempt.started_ns > waits_since)
        add(lane, {"wait for " + step.name, "wait", waits_since, attempt.started_ns});
      add_attempt(lane, step, attempt);
      waits_since = attempt.ended_ns;
    }
    const bool waits_still = step.step != 0 && !is_end(step.state) && waits_since != 0;
    if (waits_still) add(lane, {"wait for " + step.name, "wait", waits_since, now_ns_});
  }

  void add_attempt(Lane lane, const StepView& step, const AttemptView& attempt) {
    const Span span{step.name,
                    "attempt",
                    attempt.started_ns,
                    end_of(attempt.ended_ns),
                    {{"worker", attempt.worker},
                     {"epoch", attempt.epoch},
                     {"outcome", json_text_or_null(attempt.outcome)},
                     {"message", json_text_or_null(attempt.message)}}};
    add(lane, span);
    add_phases(lane, step, span);
    Span of_worker = span;
    of_worker.name = step.sku.empty() ? step.name : step.name + " " + step.sku;
    if (!attempt.worker.empty()) add(lane_of(kWorkerProcess, attempt.worker), of_worker);
  }

  // A phase lasts until the next one, or the end of its attempt.
  void add_phases(Lane lane, const StepView& step, const Span& attempt) {
    Span phase;
    for (const EventView& event : events_) {
      const bool is_within = event.time_ns >= attempt.begin_ns && event.time_ns <= attempt.end_ns;
      if (event.kind != "phase" || !is_of(event, step) || !is_within) continue;
      if (!phase.name.empty()) add(lane, phase_until(phase, event.time_ns));
      phase = {valid_utf8(text_of(event, "phase")), "phase", event.time_ns};
    }
    if (!phase.name.empty()) add(lane, phase_until(phase, attempt.end_ns));
  }
  static Span phase_until(Span phase, int64_t end_ns) {
    phase.end_ns = end_ns;
    return phase;
  }

  static bool is_of(const EventView& event, const StepView& step) {
    return text_of(event, "step") == std::to_string(step.step);
  }
  // 0 where the journal does not say: another job made the step, or it has forgotten it.
  int64_t queued_at(const StepView& step) const {
    const auto found = std::find_if(events_.begin(), events_.end(), [&](const EventView& event) {
      return event.kind == "queued" && is_of(event, step);
    });
    return found == events_.end() ? 0 : found->time_ns;
  }

  const JobView& job_;
  const std::vector<EventView>& events_;
  const int64_t now_ns_;
  std::map<std::string, int> skus_, workers_;
  Json trace_ = Json::array();
};

}  // namespace

Json chrome_trace(const JobView& job, const std::vector<EventView>& events, int64_t now_ns) {
  return TraceWriter(job, events, now_ns).write();
}

}  // namespace enginery
