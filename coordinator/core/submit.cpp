// Submit: checks, the job's first transaction, the dry run; and cancel.
#include <algorithm>
#include <cmath>

#include "cache/action_key.h"
#include "coordinator/core/state.h"

namespace enginery {
namespace {

constexpr size_t kMaxTargets = 256;
constexpr size_t kMaxKeyFields = 200;
constexpr size_t kMaxKeyBytes = 128 * 1024;
constexpr size_t kMaxOptionsBytes = 256 * 1024;

Error bad(std::string message) {
  return {ErrorCode::usage, "submit: " + std::move(message)};
}

bool is_plain_name(std::string_view name, size_t max_bytes) {
  return !name.empty() && name.size() <= max_bytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-' ||
                  c == '+';
         });
}

bool is_field_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
}

// ActionKey aborts on a broken field: nothing of a client's gets there unchecked.
Status check_key(const char* what, const std::vector<NamedText>& fields) {
  if (fields.empty() || fields.size() > kMaxKeyFields)
    return bad(std::string(what) + " has " + std::to_string(fields.size()) +
               " fields; 1 to 200 are allowed");
  std::set<std::string_view> seen = {"kind", "trust_domain"};
  size_t bytes = 0;
  for (const NamedText& field : fields) {
    bytes += field.name.size() + field.value.size();
    if (bytes > kMaxKeyBytes) return bad(std::string(what) + " is too long");
    if (!is_field_name(field.name)) return bad(std::string(what) + " has a field with a bad name");
    if (!seen.insert(field.name).second)
      return bad(std::string(what) + " has the field '" + field.name + "' twice");
  }
  return {};
}

Digest key_digest(std::string_view kind, const std::string& domain,
                  const std::vector<NamedText>& fields) {
  ActionKey key(kind, domain);
  for (const NamedText& field : fields) key.add(field.name, field.value);
  return key.digest();
}

Bytes key_bytes(std::string_view kind, const std::string& domain,
                const std::vector<NamedText>& fields) {
  ActionKey key(kind, domain);
  for (const NamedText& field : fields) key.add(field.name, field.value);
  return key.bytes();
}

Status check_target(const TargetRequest& target) {
  if (!is_plain_name(target.sku, kMaxNameBytes))
    return bad("target '" + target.sku.substr(0, 80) + "' is not a SKU's name");
  CHECK_OK(check_key("the engine's key", target.engine_key));
  if (target.provisional) return {};
  return check_key("the tuning's key", target.tune_key);
}

}  // namespace

void CoreState::set_keys(LiveJob& job) const {
  const SubmitRequest& request = job.row.request;
  const Digest validate = key_digest("validate", options.trust_domain, request.validate_key);
  for (size_t i = 0; i < job.targets.size(); ++i) {
    LiveTarget& target = job.targets[i];
    target.validate_key = validate;
    target.engine_key = key_digest("engine", options.trust_domain, request.targets[i].engine_key);
    target.tune_key = key_digest("tune", options.trust_domain, request.targets[i].tune_key);
  }
}

Status CoreState::check_submit(const Request& request, const SubmitRequest& submit) const {
  if (!is_plain_name(submit.name, kMaxNameBytes))
    return bad("the name '" + submit.name.substr(0, 80) +
               "' must be made of letters, digits and . _ + -");
  if (submit.targets.empty() || submit.targets.size() > kMaxTargets)
    return bad(std::to_string(submit.targets.size()) + " targets; 1 to 256 are allowed");
  std::set<std::string_view> seen;
  for (const TargetRequest& target : submit.targets) {
    CHECK_OK(check_target(target));
    if (!seen.insert(target.sku).second) return bad("target '" + target.sku + "' is there twice");
  }
  for (const std::string& tag : submit.tags)
    if (!is_plain_name(tag, kMaxNameBytes))
      return bad("the tag '" + tag.substr(0, 80) + "' is not a name");
  CHECK_OK(check_key("the validation's key", submit.validate_key));
  if (submit.options.size() > kMaxOptionsBytes || submit.inputs.size() > 1000 ||
      submit.model_name.size() > 4096)
    return bad("the options, inputs or model name are too long");
  if (std::abs(submit.priority) > 1000) return bad("the priority must lie between -1000 and 1000");
  if (!request.missing.empty() && !submit.dry_run)
    return Error{ErrorCode::not_found, "submit: blob " + request.missing.front().text() +
                                           " is not in the catalog; upload it first"};
  return check_skus(submit);
}

Status CoreState::check_skus(const SubmitRequest& submit) const {
  if (submit.wait_for_workers || submit.dry_run) return {};
  for (const TargetRequest& target : submit.targets) {
    if (target.provisional) continue;
    const auto sku = skus.find(target.sku);
    if (sku == skus.end()) {
      std::string known;
      for (const auto& [name, row] : skus) known += (known.empty() ? "" : ", ") + name;
      return bad("target '" + target.sku + "': no worker has ever offered this SKU (known: " +
                 (known.empty() ? "none" : known) +
                 "); --wait-for-workers queues the job until one does");
    }
    if (!target.toolchain.empty() && target.toolchain != sku->second.toolchain)
      return bad("target '" + target.sku + "': its workers run toolchain '" +
                 sku->second.toolchain + "', the keys were made for '" + target.toolchain +
                 "'; ask for the SKUs again and submit once more");
  }
  return {};
}

void CoreState::submit(Request& request) {
  SubmitRequest& submit = std::get<SubmitRequest>(request.body);
  if (const auto known = job_by_request.find(request.to.request); known != job_by_request.end()) {
    LiveJob& job = jobs.at(known->second);
    if (job.submit_reply) {
      job.submit_reply = request.to;  // the repetition takes the answer
    } else {
      reply(request.to, JobReply{view(job, false)});
    }
    return;
  }
  if (const Status status = check_submit(request, submit); !status.ok())
    return refuse(request.to, status.error().code, status.error().message);
  if (submit.client.empty()) submit.client = request.client;
  if (submit.dry_run) return dry_run(request, submit);
  make_job(request, std::move(submit));
}

void CoreState::make_job(const Request& request, SubmitRequest submit) {
  const uint64_t number = next_job++;
  LiveJob& job = jobs[number];
  job.row.number = number;
  job.row.request_id = request.to.request;
  job.row.submitted_ns = now.wall.count();
  job.row.request = std::move(submit);
  job.submit_reply = request.to;
  job.targets.resize(job.row.request.targets.size());
  job_by_request[job.row.request_id] = number;
  set_keys(job);

  JobRow row = job.row;
  for (const LiveTarget& target : job.targets) row.targets.push_back(target.row);
  save(InsertJob{std::move(row)});
  save(RecordAction{key_bytes("validate", options.trust_domain, job.row.request.validate_key)});
  for (const TargetRequest& target : job.row.request.targets) {
    save(RecordAction{key_bytes("engine", options.trust_domain, target.engine_key)});
    if (!target.provisional)
      save(RecordAction{key_bytes("tune", options.trust_domain, target.tune_key)});
  }
  record(number, "submitted", {{"name", job.row.request.name}, {"client", job.row.request.client}});
  for (uint32_t i = 0; i < job.targets.size(); ++i) begin_target(job, i);
  answer_submit(job);
}

// The answer waits until every target's first lookup is back, so that finished work is seen in it.
void CoreState::answer_submit(LiveJob& job) {
  if (!job.submit_reply) return;
  for (const LiveTarget& target : job.targets)
    if (target.looking && !target.stage) return;
  reply(*job.submit_reply, JobReply{view(job, false)});
  job.submit_reply.reset();
}

void CoreState::dry_run(const Request& request, const SubmitRequest& submit) {
  const uint64_t id = next_dry_run++;
  DryRun& run = dry_runs[id];
  run.to = request.to;
  run.request = submit;
  run.view.name = submit.name;
  run.view.model_name = submit.model_name;
  run.view.model = submit.model;
  run.view.client = submit.client;
  run.view.options = submit.options;
  for (uint32_t i = 0; i < submit.targets.size(); ++i) {
    const TargetRequest& target = submit.targets[i];
    TargetView view;
    view.sku = target.sku;
    view.provisional = target.provisional;
    view.source = Source::built;
    view.key = key_digest("engine", options.trust_domain, target.engine_key);
    if (!target.provisional && !skus.count(target.sku))
      view.note = "no worker has ever offered this SKU";
    if (target.provisional) view.note = "would be untuned: choices from the analytic model";
    run.view.targets.push_back(view);
    out->lookups.push_back({{0, i, StepKind::sign, id}, view.key});
    out->lookups.push_back(
        {{0, i, StepKind::tune, id}, key_digest("tune", options.trust_domain, target.tune_key)});
    run.open += 2;
  }
}

void CoreState::dry_run_answer(const LookupAnswer& answer) {
  const auto found = dry_runs.find(answer.token.dry_run);
  if (found == dry_runs.end()) return;
  DryRun& run = found->second;
  TargetView& target = run.view.targets.at(answer.token.target);
  const bool hit = answer.result && answer.result->success && !run.request.rebuild;
  if (answer.token.kind == StepKind::sign) {
    if (hit) {
      target.source = Source::cache;
      target.state = TargetState::done;
      target.note = "the catalog has it";
      for (const NamedBlob& blob : answer.result->outputs) {
        target.engine = blob.digest;
        target.size_bytes = blob.size_bytes;
      }
    } else if (in_flight.count(answer.key)) {
      target.source = Source::joined;
    }
  } else if (target.source != Source::cache && target.note.empty()) {
    if (hit)
      target.note = "would be built without measuring: its tuning is in the catalog";
    else if (in_flight.count(answer.key))
      target.note = "would join a tuning that runs now";
    else
      target.note = "would be tuned and built";
  }
  if (--run.open > 0) return;
  reply(run.to, JobReply{run.view});
  dry_runs.erase(found);
}

void CoreState::cancel_job(const Request& request, const std::string& id) {
  LiveJob* job = find_job(id);
  if (job == nullptr)
    return refuse(request.to, ErrorCode::not_found, "cancel: no job '" + id + "'");
  if (!is_end(job->row.state)) {
    record(job->row.number, "cancel", {});
    for (uint32_t i = 0; i < job->targets.size(); ++i) cancel_target(*job, i);
  }
  reply(request.to, JobReply{view(*job, false)});
}

void CoreState::cancel_target(LiveJob& job, uint32_t index) {
  LiveTarget& target = job.targets[index];
  if (is_end(target.row.state)) return;
  const uint64_t waited_for = target.step;
  fail_target(job, index, {ErrorCode::cancelled, "cancelled"}, TargetState::cancelled);
  if (waited_for == 0) return;
  LiveStep& step = steps.at(waited_for);
  step.waiters.erase({job.row.number, index});
  if (step.waiters.empty()) cancel_step(step);
}

}  // namespace enginery
