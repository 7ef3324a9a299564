// A farm in a temporary folder: a coordinator in this process, agents in threads, runners as
// processes.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "coordinator/client/client.h"
#include "coordinator/server/server.h"
#include "tests/support/temporary_folder.h"
#include "worker/agent/agent.h"

namespace enginery::test {

class SmallFarm {
 public:
  // Signs what `check` accepts: everything, since what a fake runner leaves is no engine.
  explicit SmallFarm(EngineCheck check =
                         [](const std::shared_ptr<const Bytes>& file, const UnsignedEngine&) {
                           return Result<EngineToSign>({file->size(), {}});
                         })
      : check_(std::move(check)) {
    start();
  }
  void start();
  void stop() { coordinator_.reset(); }
  std::string address() const { return "ipc://" + (folder_.path / "c.sock").string(); }
  std::filesystem::path catalog() const { return folder_.path / "data"; }
  const std::filesystem::path& folder() const { return folder_.path; }
  std::unique_ptr<Client> client() const;

 private:
  TemporaryFolder folder_;
  EngineCheck check_;
  std::unique_ptr<Coordinator> coordinator_;
};

// An agent in a thread, until it dies; its runner is ENGINERY_TEST_RUNNER of the test's program.
class AgentThread {
 public:
  AgentThread(const SmallFarm& farm, const std::string& sku, const std::string& runner,
              const std::string& name = "worker-1",
              const std::vector<std::string>& runner_arguments = {});
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

// A submit of the model for one SKU, with the keys that the command line makes. The model is
// uploaded.
struct SubmitSpec {
  Bytes model;
  Digest structure;
  std::string sku;
  int level = 2;
};
SubmitRequest make_submit(Client& client, const SubmitSpec& spec);

// Waits for the job's end, at most four minutes.
Result<JobView> wait_for_end(const SmallFarm& farm, const std::string& job);
JobView submit_and_wait(const SmallFarm& farm, const SubmitSpec& spec);

// Waits until `runs` holds of the job and a runner lives; its pid, 0 when the job ended before.
int wait_for_runner(Client& client, const std::string& job,
                    const std::function<bool(const JobView&)>& runs);
// Waits until the job's tuning has measured something; the runner's pid, 0 when it ended before.
int wait_for_tuning(Client& client, const std::string& job);

// That its one target is done, and no step was committed twice.
void expect_done(const JobView& job);
// Kills the runner in the middle of the model's tuning: the step is tried again and reuses what was
// measured.
void expect_tuning_resumes_after_a_kill(const SmallFarm& farm, const SubmitSpec& spec);
const StepView* step_named(const JobView& job, const std::string& name);  // or null

}  // namespace enginery::test
