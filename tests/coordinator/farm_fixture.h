// A coordinator on a temporary folder with ipc sockets, submits for it, and workers made of a
// thread that pretend to build.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <thread>

#include "coordinator/client/client.h"
#include "coordinator/server/server.h"

namespace enginery {

struct TemporaryFolder {
  TemporaryFolder();
  ~TemporaryFolder();
  std::filesystem::path path;
};

// What a coordinator signs here: whatever a pretended step has left.
Result<EngineToSign> accept_engine(const std::shared_ptr<const Bytes>& file,
                                   const UnsignedEngine& engine);

class Farm {
 public:
  explicit Farm(EngineCheck check = accept_engine) : check_(std::move(check)) { start(); }
  void start();
  void stop() { coordinator_.reset(); }

  CoordinatorOptions options() const;
  std::unique_ptr<Client> client(const std::string& name = "tester@here") const;
  const std::filesystem::path& folder() const { return folder_.path; }

 private:
  TemporaryFolder folder_;
  EngineCheck check_;
  std::unique_ptr<Coordinator> coordinator_;
};

// The number in an environment variable that makes a test larger or replays it.
uint64_t from_environment(const char* name, uint64_t otherwise);

// Connects, trying for 20 s; null when nobody answers.
std::unique_ptr<Client> connect_to(const std::string& address, const std::string& name);

// A submit of a model (its bytes are the text) for some SKUs, with keys as the command line makes
// them. Its file is named after the structure, which a pretended worker finds there.
SubmitRequest make_submit(const std::string& model, const std::vector<std::string>& skus,
                          const std::string& structure = "net");

// What validating the model finds out.
NamedText structure_fact(const RunStep& run);
// What a pretended step leaves: outputs whose content follows from the step's key.
Result<Outcome> pretend(Client& client, const RunStep& run);

// Syncs in a thread until it dies. `work` is called for each step (default: pretend).
class FakeWorker {
 public:
  using Work = std::function<Result<Outcome>(Client&, const RunStep&)>;
  FakeWorker(const Farm& farm, std::string name, std::string sku, Work work = pretend)
      : FakeWorker(farm.options().listen, std::move(name), std::move(sku), std::move(work)) {}
  FakeWorker(std::string address, std::string name, std::string sku, Work work = pretend);
  ~FakeWorker();
  int steps() const { return steps_; }

 private:
  void run();
  void serve(Client& client, SyncRequest& sync);

  std::string address_, name_, sku_;
  Work work_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> steps_ = 0;
  std::thread thread_;
};

// The value; an error is an exception, which fails the test and leaves the others their turn.
template <typename T>
T must(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

// Waits for the job's end, at most 20 s.
Result<JobView> wait_for_end(Client& client, const std::string& job);

}  // namespace enginery
