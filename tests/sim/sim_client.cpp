#include "tests/sim/sim_client.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

SimClient::SimClient(World& world, std::string name, int jobs, int skus)
    : world_(world), name_(std::move(name)), skus_(skus) {
  jobs_.resize(static_cast<size_t>(jobs));
  open_ = jobs_.size();
}

SubmitRequest SimClient::make_request() {
  SubmitRequest submit;
  submit.client = name_;
  submit.name = "net" + std::to_string(world_.below(3));
  submit.model = sha256("model " + std::to_string(world_.below(4)));
  world_.store().add_blob(submit.model, 0, 0);
  submit.priority = static_cast<int32_t>(world_.below(3)) * 100 - 100;
  submit.rebuild = world_.coin(0.15);
  submit.wait_for_workers = true;
  submit.validate_key = {{"model", submit.model.text()}};
  const uint64_t first = world_.below(static_cast<uint64_t>(skus_));
  const uint64_t count = 1 + world_.below(static_cast<uint64_t>(skus_));
  for (uint64_t i = 0; i < count; ++i) {
    TargetRequest target;
    target.sku = "sku" + std::to_string((first + i) % static_cast<uint64_t>(skus_));
    target.toolchain = "t";
    target.engine_key = {{"model", submit.model.text()}, {"sku", target.sku}};
    target.tune_key = {{"structure", structure_of(submit.model)}, {"sku", target.sku}};
    submit.targets.push_back(target);
  }
  return submit;
}

void SimClient::start() {
  for (size_t i = 0; i < jobs_.size(); ++i) {
    jobs_[i].submit_id = world_.request_id();
    world_.at(world_.between(milliseconds(0), seconds(40)), [this, i] {
      jobs_[i].request = make_request();
      submit(i);
    });
  }
}

void SimClient::submit(size_t index) {
  Job& job = jobs_[index];
  if (!job.id.empty() || job.ended) return;
  world_.send_to_coordinator(name_, job.submit_id, job.request, name_);
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
  world_.send_to_coordinator(name_, job.wait_id, WaitJob{job.id, 0, 5000, true}, name_);
  world_.at(seconds(2), [this, index, id = job.wait_id] {
    if (jobs_[index].wait_id == id) wait(index);
  });
}

void SimClient::heard_job(Job& job, size_t index, const JobView& view) {
  if (job.id.empty()) {
    job.id = view.id;
    acknowledged_.push_back(view.id);
    ask(index);
    if (world_.coin(0.1))
      world_.at(world_.between(milliseconds(10), seconds(20)), [this, id = view.id] {
        world_.send_to_coordinator(name_, world_.request_id(), CancelJob{id}, name_);
      });
  } else if (view.id != job.id) {
    world_.broken("the same request was answered with two jobs, " + job.id + " and " + view.id);
  }
  if (!is_end(view.state) || job.ended) return;
  job.ended = true;
  --open_;
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
        world_.store().add_blob(job.request.model, 0,
                                0);  // the model's blob was lost: upload again
      }
    }
    return;
  }
}

}  // namespace enginery
