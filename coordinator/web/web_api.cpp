#include "coordinator/web/web_api.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "coordinator/views/farm_json.h"
#include "coordinator/views/job_json.h"

namespace enginery {
namespace {

using Ask = std::function<Result<Body>(Body)>;

std::string parameter(const WebQuery& query, const std::string& name) {
  const auto found = query.parameters.find(name);
  return found == query.parameters.end() ? "" : found->second;
}

// `otherwise` where the parameter is not given. Errors: usage.
Result<int64_t> number_parameter(const WebQuery& query, const std::string& name,
                                 int64_t otherwise) {
  const std::string text = parameter(query, name);
  if (text.empty()) return otherwise;
  int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  return Error{ErrorCode::usage, name + "=" + text.substr(0, 80) + " is no number"};
}

template <ControlRequest Request>
Result<ReplyOf<Request>> reply_to(const Ask& ask, Request request) {
  TRY(Body body, ask(std::move(request)));
  if (auto* reply = std::get_if<ReplyOf<Request>>(&body)) return std::move(*reply);
  return Error{ErrorCode::internal, "the coordinator gave another answer than was asked for"};
}

Result<Json> jobs_page(const WebQuery& query, const Ask& ask) {
  TRY(const int64_t limit, number_parameter(query, "limit", 1000));
  const ListJobs list{static_cast<uint32_t>(std::min<int64_t>(limit, 2000)),
                      parameter(query, "before")};
  TRY(const JobList jobs, reply_to(ask, list));
  return jobs_json(jobs.jobs);
}

// "j7" and "j7/explain".
Result<Json> job_page(const std::string& rest, const Ask& ask) {
  constexpr std::string_view kExplain = "/explain";
  if (rest.ends_with(kExplain)) {
    const std::string job = rest.substr(0, rest.size() - kExplain.size());
    TRY(const ExplainReply reply, reply_to(ask, ExplainJob{job}));
    return explain_json(job, reply.targets);
  }
  TRY(const JobReply reply, reply_to(ask, ShowJob{rest}));
  return job_json_with_steps(reply.job);
}

Result<Json> workers_page(const WebQuery&, const Ask& ask) {
  TRY(const WorkerList list, reply_to(ask, ListWorkers{}));
  return workers_json(list.workers);
}

Result<Json> skus_page(const WebQuery&, const Ask& ask) {
  TRY(const SkuList list, reply_to(ask, ListSkus{}));
  std::vector<SkuLine> lines;
  for (const SkuView& sku : list.skus)
    lines.push_back({sku.sku, sku.kind, std::nullopt, sku.workers, sku.idle, sku.toolchains});
  return skus_json(lines);
}

Result<Json> engines_page(const WebQuery& query, const Ask& ask) {
  TRY(const int64_t limit, number_parameter(query, "limit", 100));
  const FindEngines find{parameter(query, "name"), parameter(query, "tag"), parameter(query, "sku"),
                         static_cast<uint32_t>(std::min<int64_t>(limit, 1000))};
  TRY(const EngineList list, reply_to(ask, find));
  return engines_json(list.engines);
}

Result<Json> events_page(const WebQuery& query, const Ask& ask) {
  ListEvents list;
  list.job = parameter(query, "job");
  TRY(list.after, number_parameter(query, "after", 0));
  TRY(const int64_t limit, number_parameter(query, "limit", 100));
  list.limit = static_cast<uint32_t>(std::min<int64_t>(limit, 1000));
  TRY(const EventList events, reply_to(ask, list));
  return events_json(events.events, events.next);
}

struct Page {
  std::string_view path;
  Result<Json> (*answer)(const WebQuery&, const Ask&);
};
constexpr std::string_view kRoot = "/api/v1/";
constexpr std::string_view kJobs = "/api/v1/jobs/";
constexpr Page kPages[] = {
    {"/api/v1/jobs", jobs_page},     {"/api/v1/workers", workers_page},
    {"/api/v1/skus", skus_page},     {"/api/v1/engines", engines_page},
    {"/api/v1/events", events_page},
};

Result<Json> page(const WebQuery& query, const Ask& ask) {
  for (const Page& known : kPages)
    if (query.path == known.path) return known.answer(query, ask);
  if (query.path.starts_with(kJobs)) return job_page(query.path.substr(kJobs.size()), ask);
  std::string names;
  for (const Page& known : kPages)
    names += (names.empty() ? "" : ", ") + std::string(known.path.substr(kRoot.size()));
  return Error{ErrorCode::not_found,
               "no page " + query.path.substr(0, 80) + "; " + std::string(kRoot) + " has " + names};
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::usage:
    case ErrorCode::invalid_argument:
      return 400;
    case ErrorCode::unavailable:
    case ErrorCode::timed_out:
      return 503;
    default:
      return 500;
  }
}

}  // namespace

WebAnswer error_answer(int status, const std::string& code, const std::string& message) {
  return {status, json_text({{"schema", "enginery.error/1"},
                             {"error", {{"code", code}, {"message", valid_utf8(message)}}}})};
}

WebAnswer error_answer(const Error& error) {
  return error_answer(status_of(error.code), to_string(error.code), error.message);
}

WebAnswer answer_query(const WebQuery& query, const Ask& ask) {
  const Result<Json> json = page(query, ask);
  if (!json.ok()) return error_answer(json.error());
  return {200, json_text(*json)};
}

WebAnswer health_answer(const Status& health) {
  const std::string reason = health.ok() ? "" : health.error().message;
  return {health.ok() ? 200 : 503, json_text({{"schema", "enginery.health/1"},
                                              {"ok", health.ok()},
                                              {"reason", json_text_or_null(reason)}})};
}

}  // namespace enginery
