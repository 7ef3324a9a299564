#include "coordinator/views/job_json.h"

#include <nlohmann/json.hpp>

namespace enginery {
namespace {

Json error_json(const std::optional<Fault>& fault) {
  if (!fault) return nullptr;
  return {{"code", to_string(fault->code)}, {"message", valid_utf8(fault->message)}};
}

Json share_json(double percent) {
  return percent < 0 ? Json(nullptr) : Json(percent / 100);
}

Json target_json(const TargetView& target) {
  return {
      {"sku", target.sku},
      {"state", to_string(target.state)},
      {"source", target.source == Source::none ? Json(nullptr) : Json(to_string(target.source))},
      {"provisional", target.provisional},
      {"engine", target.engine ? Json(target.engine->text()) : Json(nullptr)},
      {"latency_ms", json_known(target.latency_ms)},
      {"size_bytes", target.size_bytes},
      {"timings_measured", target.timings_measured},
      {"timings_reused", target.timings_reused},
      {"error", error_json(target.fault)},
      {"key", target.key.text()},
      {"note", valid_utf8(target.note)},
      {"accuracy", accuracy_json(target.accuracy)},
      {"calibration", target.calibration.empty() ? Json(nullptr) : Json(target.calibration)}};
}

Json attempt_json(const AttemptView& attempt) {
  return {{"worker", attempt.worker},
          {"started", json_time(attempt.started_ns)},
          {"ended", json_time(attempt.ended_ns)},
          {"outcome", attempt.outcome.empty() ? Json(nullptr) : Json(attempt.outcome)},
          {"epoch", attempt.epoch},
          {"message", valid_utf8(attempt.message)}};
}

Json step_json(const StepView& step) {
  Json attempts = Json::array();
  for (const AttemptView& attempt : step.attempts) attempts.push_back(attempt_json(attempt));
  return {{"sku", step.sku},
          {"name", step.name},
          {"key", step.key.text()},
          {"epoch", step.epoch},
          {"attempts", attempts},
          {"commits", step.commits},
          {"state", to_string(step.state)},
          {"source", step.source == Source::none ? Json(nullptr) : Json(to_string(step.source))}};
}

Json candidate_rows(const ExplainView& target) {
  Json candidates = Json::array();
  for (const CandidateView& candidate : target.candidates)
    candidates.push_back({{"worker", candidate.worker}, {"reason", candidate.reason}});
  return candidates;
}

}  // namespace

Json job_json(const JobView& job) {
  Json targets = Json::array();
  for (const TargetView& target : job.targets) targets.push_back(target_json(target));
  return {{"schema", "enginery.job/1"},
          {"job", job.id.empty() ? Json(nullptr) : Json(job.id)},
          {"state", to_string(job.state)},
          {"model",
           {{"name", valid_utf8(job.name)},
            {"digest", job.model.text()},
            {"file", valid_utf8(job.model_name)}}},
          {"targets", targets},
          {"submitted", json_time(job.submitted_ns)},
          {"ended", json_time(job.ended_ns)},
          {"tags", job.tags}};
}

Json job_json_with_steps(const JobView& job) {
  Json json = job_json(job);
  Json steps = Json::array();
  for (const StepView& step : job.steps) steps.push_back(step_json(step));
  json["steps"] = std::move(steps);
  return json;
}

Json accuracy_json(const std::optional<HeldOutFigures>& figures) {
  if (!figures) return nullptr;
  return {{"rows", figures->rows},
          {"sqnr_db", figures->sqnr_db},
          {"top1_agree", share_json(figures->agreement)},
          {"top1", share_json(figures->top1)},
          {"float_top1", share_json(figures->float_top1)}};
}

Json jobs_json(const std::vector<JobLine>& jobs) {
  Json rows = Json::array();
  for (const JobLine& job : jobs) {
    rows.push_back({{"id", job.id},
                    {"model", valid_utf8(job.model)},
                    {"state", to_string(job.state)},
                    {"submitted", json_time(job.submitted_ns)},
                    {"done", job.done},
                    {"total", job.total}});
  }
  return {{"schema", "enginery.jobs/1"}, {"jobs", rows}};
}

Json explain_json(const std::string& job, const std::vector<ExplainView>& targets) {
  Json rows = Json::array();
  for (const ExplainView& target : targets) {
    rows.push_back({{"sku", target.sku},
                    {"step", target.step},
                    {"reason", target.reason},
                    {"candidates", candidate_rows(target)}});
  }
  return {{"schema", "enginery.explain/1"}, {"job", job}, {"targets", rows}};
}

}  // namespace enginery
