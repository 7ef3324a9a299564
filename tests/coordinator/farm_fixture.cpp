#include "tests/coordinator/farm_fixture.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace enginery {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "enginery-farm-XXXXXX").string();
  path = mkdtemp(name.data());
}
TemporaryFolder::~TemporaryFolder() {
  std::filesystem::remove_all(path);
}

Result<EngineToSign> accept_engine(const std::shared_ptr<const Bytes>& file,
                                   const UnsignedEngine&) {
  return EngineToSign{file->size(), {}};
}

NamedText structure_fact(const RunStep& run) {
  return {"structure", run.model_name.substr(0, run.model_name.find(".onnx"))};
}

CoordinatorOptions Farm::options() const {
  return {folder_.path / "data", "ipc://" + (folder_.path / "c.sock").string(),
          "ipc://" + (folder_.path / "b.sock").string(), milliseconds(200), check_};
}

void Farm::start() {
  Result<std::unique_ptr<Coordinator>> started = Coordinator::start(options());
  ASSERT_TRUE(started.ok()) << started.error().message;
  coordinator_ = std::move(*started);
}

std::unique_ptr<Client> Farm::client(const std::string& name) const {
  return connect_to(options().listen, name);
}

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::unique_ptr<Client> connect_to(const std::string& address, const std::string& name) {
  ClientOptions client;
  client.address = address;
  client.name = name;
  client.repeat_after = milliseconds(300);
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  while (true) {
    Result<std::unique_ptr<Client>> connected = Client::connect(client, make_zmq_dial());
    if (connected.ok()) return std::move(*connected);
    if (steady_clock::now() > end) return nullptr;
    std::this_thread::sleep_for(milliseconds(20));
  }
}

SubmitRequest make_submit(const std::string& model, const std::vector<std::string>& skus,
                          const std::string& structure) {
  SubmitRequest submit;
  submit.name = "net";
  submit.model_name = structure + ".onnx";
  submit.model = sha256(model);
  submit.validate_key = {{"model", submit.model.text()}};
  for (const std::string& sku : skus) {
    TargetRequest target;
    target.sku = sku;
    target.toolchain = "tool 1";
    target.engine_key = {{"model", submit.model.text()}, {"sku", sku}};
    target.tune_key = {{"structure", structure}, {"sku", sku}};
    submit.targets.push_back(target);
  }
  return submit;
}

Result<Outcome> pretend(Client& client, const RunStep& run) {
  Outcome outcome;
  const auto add = [&](const char* name) -> Status {
    const Bytes bytes = std::string(name) + " of " + run.key.text();
    TRY(const Digest digest, client.put_blob(as_bytes(bytes)));
    outcome.outputs.push_back({name, digest, bytes.size()});
    return {};
  };
  if (run.kind == "validate") {
    outcome.facts = {structure_fact(run)};
  } else if (run.kind == "tune") {
    CHECK_OK(add("choices"));
    outcome.metrics = {{"timings_measured", 12}, {"timings_reused", 3}};
  } else if (run.kind == "assemble") {
    CHECK_OK(add("content"));
    outcome.facts = {{"precision", "fp32"}};
  } else if (run.kind == "profile") {
    CHECK_OK(add("unsigned"));
    outcome.metrics = {{"latency_ms", 1.5}};
  }
  return outcome;
}

FakeWorker::FakeWorker(std::string address, std::string name, std::string sku, Work work)
    : address_(std::move(address)),
      name_(std::move(name)),
      sku_(std::move(sku)),
      work_(std::move(work)),
      thread_([this] { run(); }) {}

FakeWorker::~FakeWorker() {
  stop_ = true;
  thread_.join();
}

void FakeWorker::run() {
  const std::unique_ptr<Client> client = connect_to(address_, name_);
  if (client == nullptr) return;
  SyncRequest sync;
  sync.worker = name_;
  sync.incarnation =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  sync.sku = sku_;
  sync.kind = "cpu";
  sync.toolchain = "tool 1";
  sync.device = "host-cpu";
  while (!stop_) serve(*client, sync);
}

void FakeWorker::serve(Client& client, SyncRequest& sync) {
  ++sync.sequence;
  const Result<SyncReply> reply = client.sync(sync);
  if (!reply.ok()) return;
  if (std::holds_alternative<BeIdle>(reply->desired)) sync.state = Idle{};
  if (const auto* exam = std::get_if<Examine>(&reply->desired)) sync.examined = exam->number;
  const auto* run = std::get_if<RunStep>(&reply->desired);
  if (run == nullptr) return;
  ++steps_;
  Result<Outcome> outcome = work_(client, *run);
  if (!outcome.ok())
    outcome =
        Outcome{OutcomeKind::internal, {outcome.error().code, outcome.error().message}, {}, {}, {}};
  sync.state = Finished{run->ref, std::move(*outcome)};
}

Result<JobView> wait_for_end(Client& client, const std::string& job) {
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  while (true) {
    Result<JobView> view = client.wait(job, 0, milliseconds(2000), true);
    if (view.ok() && is_end(view->state)) return view;
    if (view.ok() ? steady_clock::now() > end : view.error().code != ErrorCode::unavailable)
      return view;
  }
}

}  // namespace enginery
