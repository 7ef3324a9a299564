#include "tests/sim/sim_client.h"

#include <algorithm>

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

SimClient::SimClient(World& world, std::string name, int jobs, std::vector<SimTarget> targets,
                     Demand demand)
    : world_(world), name_(std::move(name)), targets_(std::move(targets)), demand_(demand) {
  jobs_.resize(static_cast<size_t>(jobs));
  open_ = jobs_.size();
}

SubmitRequest SimClient::make_request(Job& job) {
  SubmitRequest submit;
  submit.client = name_;
  submit.wait_for_workers = true;
  if (demand_ == Demand::mixed) {
    submit.name = "net" + std::to_string(world_.below(3));
    submit.priority = static_cast<int32_t>(world_.below(3)) * 100 - 100;
    submit.rebuild = world_.coin(0.15);
    job.model = "model " + std::to_string(world_.below(4));
  } else {  // none is like another
    submit.name = name_;
    job.model = name_ + std::to_string(world_.below(1u << 30));
  }
  submit.model = world_.disk().add_blob(job.model, 0, 0);
  submit.validate_key = {{"model", submit.model.text()}};
  add_targets(submit);
  return submit;
}

void SimClient::add_targets(SubmitRequest& submit) {
  const size_t first = world_.below(targets_.size());
  const size_t count =
      demand_ == Demand::mixed ? 1 + world_.below(std::min<size_t>(3, targets_.size())) : 1;
  for (size_t i = 0; i < count; ++i) {
    const auto& [sku, toolchain] = targets_[(first + i) % targets_.size()];
    const auto& known = submit.targets;
    if (std::ranges::find(known, sku, &TargetRequest::sku) != known.end()) continue;
    TargetRequest target;
    target.sku = sku;
    target.toolchain = toolchain;
    target.engine_key = {
        {"model", submit.model.text()}, {"sku", target.sku}, {"toolchain", toolchain}};
    target.tune_key = {
        {"structure", structure_of(submit.model)}, {"sku", target.sku}, {"toolchain", toolchain}};
    // A tuning of its own for each job.
    if (demand_ != Demand::mixed) target.tune_key.push_back({"job", submit.model.hex()});
    submit.targets.push_back(target);
  }
}

void SimClient::start() {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    jobs_[i].submit_id = world_.request_id();
    const Nanoseconds when = demand_ == Demand::mixed    ? world_.between(seconds(0), seconds(40))
                             : demand_ == Demand::greedy ? seconds(5)
                                                         : seconds(15);
    world_.at(when, [this, i] {
      jobs_[i].request = make_request(jobs_[i]);
      jobs_[i].asked_at = world_.monotonic();
      submit(i);
    });
  }
}

void SimClient::submit(size_t index) {
  Job& job = jobs_[index];
  if (!job.id.empty() || job.ended) return;
  world_.send_to_coordinator({name_, ""}, job.submit_id, job.request, name_);
  world_.at(seconds(2), [this, index] { submit(index); });
}

void SimClient::ask(size_t index) {
  Job& job = jobs_[index];
  if (job.ended) return;
  job.wait_id = world_.request_id();
  wait(index);
}

void SimClient::wait(size_t index) {
  Job& job = jobs_[index];
  if (job.ended) return;
  world_.send_to_coordinator({name_, ""}, job.wait_id, WaitJob{job.id, 0, 5000, true}, name_);
  world_.at(seconds(2), [this, index, id = job.wait_id] {
    if (jobs_[index].wait_id == id) wait(index);
  });
}

void SimClient::heard_job(Job& job, size_t index, const JobView& view) {
  if (job.id.empty()) {
    job.id = view.id;
    acknowledged_.push_back(view.id);
    ask(index);
    if (demand_ == Demand::mixed && world_.coin(0.1))
      world_.at(world_.between(milliseconds(10), seconds(20)), [this, id = view.id] {
        world_.send_to_coordinator({name_, ""}, world_.request_id(), CancelJob{id}, name_);
      });
  } else if (view.id != job.id) {
    world_.broken("the same request was answered with two jobs, " + job.id + " and " + view.id);
  }
  if (!is_end(view.state) || job.ended) return;
  job.ended = true;
  --open_;
  heard_end(job, view);
}

void SimClient::heard_end(const Job& job, const JobView& view) {
  longest_ = std::max(longest_, world_.monotonic() - job.asked_at);
  for (size_t i = 0; i < view.targets.size(); ++i) {
    if (view.targets[i].state != TargetState::failed) continue;
    const std::string why = world_.unexplained(view.id, i);
    if (!why.empty()) world_.broken(view.id + " " + view.targets[i].sku + " " + why);
  }
  WorldReport& report = world_.report();
  ++(view.state == JobState::done     ? report.jobs_done
     : view.state == JobState::failed ? report.jobs_failed
                                      : report.jobs_cancelled);
}

void SimClient::hear(RequestId request, const Body& body) {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    if (request != job.submit_id && request != job.wait_id) continue;
    if (const auto* reply = std::get_if<JobReply>(&body)) {
      heard_job(job, i, reply->job);
      if (request == job.wait_id && !job.ended) ask(i);
    } else if (const auto* error = std::get_if<ErrorReply>(&body); error != nullptr) {
      if (request == job.wait_id && error->fault.code == ErrorCode::not_found)
        world_.broken("an acknowledged job was lost: " + job.id);
      if (error->fault.code == ErrorCode::usage) world_.broken("refused: " + error->fault.message);
      if (request == job.submit_id && error->fault.code == ErrorCode::not_found) {
        world_.disk().add_blob(job.model, 0, 0);  // the model's blob was lost: upload again
      }
    }
    return;
  }
}

}  // namespace enginery
