// A farm in a temporary folder: a coordinator in this process, agents in threads, runners as processes.
#pragma once

#include <atomic>
#include <thread>

#include "coordinator/client/client.h"
#include "coordinator/server.h"
#include "tests/worker/small_models.h"
#include "worker/agent.h"

namespace enginery::test {

class SmallFarm {
 public:
  SmallFarm() { start(); }
  void start();
  void stop() { coordinator_.reset(); }
  std::string address() const { return "ipc://" + (folder_.path / "c.sock").string(); }
  std::filesystem::path catalog() const { return folder_.path / "data"; }
  const std::filesystem::path& folder() const { return folder_.path; }
  std::unique_ptr<Client> client() const;

 private:
  Folder folder_;
  std::unique_ptr<Coordinator> coordinator_;
};

// An agent for the host's best CPU SKU, in a thread, until it dies.
class AgentThread {
 public:
  explicit AgentThread(const SmallFarm& farm, const std::string& name = "worker-1", const std::string& runner = ENGINERY_TEST_RUNNER);
  ~AgentThread() { (void)end(); }
  Status end();  // asks it to stop and says how it ended
  // The runner that is busy now; 0: none. Kill it as you like.
  static int runner_pid();

 private:
  AgentOptions options_;
  std::atomic<bool> stop_ = false;
  Status result_;
  std::thread thread_;
};

// A submit of the model for the best CPU SKU, with the keys that the command line makes. The model is uploaded.
SubmitRequest make_submit(Client& client, const Bytes& model, int level = 2);

// Waits for the job's end, at most four minutes.
Result<JobView> wait_for_end(const SmallFarm& farm, const std::string& job);

}  // namespace enginery::test
