#include "tests/worker/farm_fixture.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "engine/base/file.h"
#include "engine/options/target_options.h"
#include "engine/options/toolchain.h"
#include "pipeline/keys.h"

namespace enginery::test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void SmallFarm::start() {
  CoordinatorOptions options{catalog(), address(), "ipc://" + (folder_.path / "b.sock").string(),
                             milliseconds(500), check_};
  auto started = Coordinator::start(options);
  ASSERT_TRUE(started.ok()) << started.error().message;
  coordinator_ = std::move(*started);
}

std::unique_ptr<Client> SmallFarm::client() const {
  ClientOptions options;
  options.address = address();
  options.name = "tester";
  options.repeat_after = milliseconds(300);
  auto connected = Client::connect(options, make_zmq_dial());
  EXPECT_TRUE(connected.ok()) << connected.error().message;
  return connected.ok() ? std::move(*connected) : nullptr;
}

AgentThread::AgentThread(const SmallFarm& farm, const std::string& sku, const std::string& runner,
                         const std::string& name,
                         const std::vector<std::string>& runner_arguments) {
  options_.coordinator = farm.address();
  options_.sku = sku;
  options_.data = farm.folder() / name;
  options_.name = name;
  options_.threads = 1;
  options_.runner = {runner};
  options_.runner.insert(options_.runner.end(), runner_arguments.begin(), runner_arguments.end());
  thread_ = std::thread([this] { result_ = run_agent(options_, [this] { return stop_.load(); }); });
}

Status AgentThread::end() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  return result_;
}

int AgentThread::runner_pid() {
  int found = 0;
  DIR* folder = opendir("/proc");
  while (const dirent* entry = folder ? readdir(folder) : nullptr) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    const size_t close = text.rfind(')');
    if (close == std::string::npos) continue;
    char state = 0;
    int parent = 0;
    if (sscanf(text.c_str() + close + 1, " %c %d", &state, &parent) == 2 && parent == getpid() &&
        state != 'Z')
      found = pid;
  }
  if (folder) closedir(folder);
  return found;
}

SubmitRequest make_submit(Client& client, const SubmitSpec& spec) {
  SubmitRequest submit;
  BuildOptions options;
  options.level = spec.level;
  options.threads = 1;
  auto uploaded = client.put_blob(as_bytes(spec.model));
  EXPECT_TRUE(uploaded.ok());
  submit.name = "net";
  submit.model_name = "net.onnx";
  submit.model = sha256(spec.model);
  submit.options = to_text(options);
  submit.validate_key = validate_key(submit.model, options, reader_name());
  submit.wait_for_workers = true;
  TargetRequest target;
  target.sku = spec.sku;
  const KeySubject subject{submit.model,
                           spec.structure,
                           "net",
                           target.sku,
                           toolchain_text(DeviceKind::cpu, nullptr),
                           options_for(target.sku, options)};
  target.engine_key = engine_key(subject);
  target.tune_key = tune_key(subject);
  submit.targets.push_back(target);
  return submit;
}

Result<JobView> wait_for_end(const SmallFarm& farm, const std::string& job) {
  const auto end = steady_clock::now() + std::chrono::minutes(4);
  auto client = farm.client();
  while (true) {
    TRY(JobView view, client->wait(job, 0, milliseconds(1000), true));
    if (is_end(view.state)) return client->show(job);
    if (steady_clock::now() > end)
      return Error{ErrorCode::timed_out, "job " + job + " does not end"};
  }
}

JobView submit_and_wait(const SmallFarm& farm, const SubmitSpec& spec) {
  auto client = farm.client();
  auto job = client->submit(make_submit(*client, spec), make_request_id());
  EXPECT_TRUE(job.ok()) << job.error().message;
  auto end = wait_for_end(farm, job->id);
  EXPECT_TRUE(end.ok()) << end.error().message;
  return end.ok() ? *end : JobView{};
}

int wait_for_runner(Client& client, const std::string& job,
                    const std::function<bool(const JobView&)>& runs) {
  const auto end = steady_clock::now() + std::chrono::minutes(1);
  while (steady_clock::now() < end) {
    auto view = client.show(job);
    if (!view.ok() || is_end(view->state)) return 0;
    const int runner = runs(*view) ? AgentThread::runner_pid() : 0;
    if (runner > 0) return runner;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return 0;
}

int wait_for_tuning(Client& client, const std::string& job) {
  return wait_for_runner(client, job, [](const JobView& view) {
    const Progress& progress = view.targets[0].progress;
    return progress.phase == "tuning" && progress.done >= 1;
  });
}

void expect_done(const JobView& job) {
  ASSERT_EQ(job.targets.size(), 1u);
  ASSERT_EQ(job.state, JobState::done)
      << (job.targets[0].fault ? job.targets[0].fault->message : "");
  for (const StepView& step : job.steps) EXPECT_LE(step.commits, 1u) << step.name;
}

void expect_tuning_resumes_after_a_kill(const SmallFarm& farm, const SubmitSpec& spec) {
  auto client = farm.client();
  auto job = client->submit(make_submit(*client, spec), make_request_id());
  ASSERT_TRUE(job.ok());
  const int runner = wait_for_tuning(*client, job->id);
  ASSERT_GT(runner, 0) << "the tuning ended before it could be disturbed";
  std::this_thread::sleep_for(milliseconds(1200));  // timings arrive within a second
  ASSERT_EQ(kill(runner, SIGKILL), 0);
  auto end = wait_for_end(farm, job->id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  expect_done(*end);
  const StepView* tune = step_named(*end, "tune");
  ASSERT_GE(tune->attempts.size(), 2u);
  EXPECT_EQ(tune->attempts[0].outcome, "worker_lost");
  EXPECT_GT(end->targets[0].timings_reused, 0u);
}

const StepView* step_named(const JobView& job, const std::string& name) {
  for (const StepView& step : job.steps) {
    if (step.name == name) return &step;
  }
  return nullptr;
}

}  // namespace enginery::test
