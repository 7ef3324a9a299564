#include "tests/worker/farm_fixture.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "engine/base/file.h"
#include "worker/action_keys.h"

namespace enginery::test {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void SmallFarm::start() {
  CoordinatorOptions options{catalog(), address(), "ipc://" + (folder_.path / "b.sock").string(), milliseconds(500)};
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

AgentThread::AgentThread(const SmallFarm& farm, const std::string& name, const std::string& runner) {
  // The sanitizer in the children would report libgomp, which it does not understand.
  setenv("TSAN_OPTIONS", "report_bugs=0", 1);
  options_.coordinator = farm.address();
  options_.sku = best_cpu_sku();
  options_.data = farm.folder() / name;
  options_.name = name;
  options_.threads = 1;
  options_.runner = {runner};
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
    if (sscanf(text.c_str() + close + 1, " %c %d", &state, &parent) == 2 && parent == getpid() && state != 'Z') found = pid;
  }
  if (folder) closedir(folder);
  return found;
}

SubmitRequest make_submit(Client& client, const Bytes& bytes, int level) {
  SubmitRequest submit;
  BuildOptions options;
  options.level = level;
  options.threads = 1;
  auto model = load_model({"net.onnx", bytes, std::nullopt}, "net", options);
  EXPECT_TRUE(model.ok());
  auto uploaded = client.put_blob(as_bytes(bytes));
  EXPECT_TRUE(uploaded.ok());
  submit.name = "net";
  submit.model_name = "net.onnx";
  submit.model = sha256(bytes);
  submit.options = to_text(options);
  submit.validate_key = validate_key(submit.model, options);
  submit.wait_for_workers = true;
  TargetRequest target;
  target.sku = best_cpu_sku();
  const KeySubject subject{submit.model, model->structure_digest, "net", target.sku, toolchain_text(DeviceKind::cpu, nullptr),
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
    if (steady_clock::now() > end) return Error{ErrorCode::timed_out, "job " + job + " does not end"};
  }
}

}  // namespace enginery::test
