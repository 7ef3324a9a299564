// A farm in this process for tests of the verbs that talk to one: a real coordinator over a home
// whose catalog has the example's engine, and workers that say what a test wants.
#pragma once

#include <sstream>

#include "coordinator/client/client.h"
#include "coordinator/server/server.h"
#include "tests/cli/verbs/example_engine.h"
#include "worker/engine_check.h"

namespace enginery {

// A worker as the coordinator sees one: a test says its states.
class ScriptedWorker {
 public:
  ScriptedWorker(const std::string& address, std::string name, std::string sku) {
    ClientOptions options;
    options.address = address;
    options.role = "worker";
    options.name = name;
    auto client = Client::connect(options, make_zmq_dial());
    EXPECT_TRUE(client.ok()) << client.error().message;
    client_ = std::move(*client);
    self_.worker = std::move(name);
    self_.sku = std::move(sku);
    self_.incarnation = 1;
    self_.kind = "cpu";
    self_.toolchain = "enginery=test";
    self_.device = self_.worker;
    self_.host = "a host";
    self_.pid = 4711;
    self_.health = "a device";
  }

  // Says that it is idle until the coordinator wants a D; whether that came within 50 Syncs.
  template <typename D>
  bool comes() {
    for (int i = 0; i < 50; ++i)
      if (std::holds_alternative<D>(says(Idle{}))) return true;
    return false;
  }
  // Says the state once; what the coordinator then wants.
  Desired says(WorkerState state) {
    ++self_.sequence;
    self_.state = std::move(state);
    const auto reply = client_->sync(self_);
    EXPECT_TRUE(reply.ok()) << reply.error().message;
    return reply.ok() ? reply->desired : Desired(Keep{});
  }
  // Idle until it is given a step; an empty one where none comes within 50 Syncs.
  RunStep leased() {
    for (int i = 0; i < 50; ++i) {
      const Desired desired = says(Idle{});
      if (const auto* run = std::get_if<RunStep>(&desired)) return *run;
    }
    ADD_FAILURE() << "no step came";
    return {};
  }
  // Ends the step as failed for good.
  void fails(const RunStep& step, const std::string& why) {
    Outcome outcome;
    outcome.kind = OutcomeKind::failed;
    outcome.fault = {ErrorCode::unsupported, why};
    says(Finished{step.ref, std::move(outcome)});
  }

 private:
  std::unique_ptr<Client> client_;
  SyncRequest self_;
};

class FarmHomeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = std::make_unique<ExampleHome>();
    CoordinatorOptions options;
    options.data = data_folder();
    options.check_engine = check_engine;
    options.sync_hold = std::chrono::milliseconds(100);
    auto started = Coordinator::start(options);
    ASSERT_TRUE(started.ok()) << started.error().message;
    coordinator_ = std::move(*started);
  }
  static void TearDownTestSuite() {
    coordinator_.reset();
    home_.reset();
  }

  // What a test left in the queue is not for the next one's workers.
  void TearDown() override {
    std::istringstream ids(ask({"jobs", "--ids"}).out);
    for (std::string id; std::getline(ids, id);) ask({"cancel", id});
  }

  static std::string file(const std::string& name) { return home_->file(name); }
  static std::string engine() { return home_->engine(); }
  static std::string address() { return coordinator_->control_address(); }
  // The SKU of the engine that the catalog has.
  static std::string built_sku() { return ExampleHome::sku(); }

  // A submit of the example with the options of that engine.
  static Printed submit(const std::string& targets, std::vector<std::string> options) {
    options.insert(options.begin(), {"submit", kExampleModel, "--target", targets, "--level", "0",
                                     "--threads", "1", "--wait-for-workers"});
    return ask(options);
  }
  // The same; the id of the job.
  static std::string submitted(const std::string& targets, std::vector<std::string> options = {}) {
    const Printed job = submit(targets, std::move(options));
    EXPECT_EQ(job.code, ExitCode::ok) << job.err;
    return job.out.substr(0, job.out.find('\n'));
  }

 private:
  static inline std::unique_ptr<ExampleHome> home_;
  static inline std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace enginery
