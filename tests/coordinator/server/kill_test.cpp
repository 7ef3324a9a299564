// Real processes, really killed: every acknowledged job ends, every step is committed once, the
// catalog is sound. ENGINERY_KILLS=20 (default 6) says how often; ENGINERY_SEED replays the
// moments. ENGINERY_FREEZE_S=300 (default 20) is how long a worker is stopped.
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <random>

#include "cache/catalog.h"
#include "cache/verify.h"
#include "tests/coordinator/farm_fixture.h"

extern char** environ;

namespace enginery {
namespace {

using std::chrono::milliseconds;

class Process {
 public:
  explicit Process(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
    start();
  }
  ~Process() { kill_now(); }
  Process(const Process&) = delete;

  void start() {
    std::vector<char*> argv;
    std::string program = ENGINERY_FARM_PROCESS;
    argv.push_back(program.data());
    for (std::string& argument : arguments_) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ASSERT_EQ(posix_spawn(&pid_, program.c_str(), nullptr, nullptr, argv.data(), environ), 0);
  }
  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  // SIGSTOP and SIGCONT: alive, and silent.
  void freeze() const { kill(pid_, SIGSTOP); }
  void thaw() const { kill(pid_, SIGCONT); }
  void kill_and_start() {
    kill_now();
    start();
  }

 private:
  std::vector<std::string> arguments_;
  pid_t pid_ = -1;
};

class Kill : public testing::Test {
 protected:
  std::string data() const { return (folder_.path / "data").string(); }
  std::string control() const { return "ipc://" + (folder_.path / "c.sock").string(); }
  std::string bulk() const { return "ipc://" + (folder_.path / "b.sock").string(); }
  std::vector<std::string> coordinator() const {
    return {"coordinator", data(), control(), bulk()};
  }
  std::vector<std::string> worker(const std::string& name, const std::string& sku) const {
    return {"worker", control(), name, sku};
  }

  // Submits while `strike` kills; afterwards everything must have ended once.
  void run(const std::function<void(std::mt19937_64&)>& strike) {
    const uint64_t seed = from_environment("ENGINERY_SEED", std::random_device()());
    std::printf("ENGINERY_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const auto client = connect_to(control(), "tester");
    ASSERT_NE(client, nullptr);
    std::vector<std::string> jobs;
    for (uint64_t i = 0; i < from_environment("ENGINERY_KILLS", 6); ++i) {
      const std::string model = "model " + std::to_string(i);
      ASSERT_TRUE(client->put_blob(as_bytes(model)).ok());
      SubmitRequest request = make_submit(model, {"a", "b"}, std::to_string(i));
      request.wait_for_workers = true;
      const Result<JobView> job = client->submit(request, make_request_id());
      ASSERT_TRUE(job.ok()) << job.error().message;
      jobs.push_back(job->id);
      std::this_thread::sleep_for(milliseconds(random() % 400));
      strike(random);
    }
    for (const std::string& job : jobs) expect_done(*client, job);
    std::printf("%zu kills, %zu jobs that ended\n", jobs.size(), jobs.size());
  }

  void expect_done(Client& client, const std::string& job) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(90);
    Result<JobView> view = client.wait(job, 0, milliseconds(1000), true);
    while ((!view.ok() || !is_end(view->state)) && std::chrono::steady_clock::now() < end)
      view = client.wait(job, 0, milliseconds(1000), true);
    ASSERT_TRUE(view.ok()) << view.error().message;
    EXPECT_EQ(view->state, JobState::done) << job;
    const Result<JobView> shown = client.show(job);
    ASSERT_TRUE(shown.ok());
    for (const StepView& step : shown->steps)
      EXPECT_LE(step.commits, 1u) << job << " " << step.name;
  }

  void expect_sound() const {
    const Result<std::unique_ptr<Catalog>> catalog = Catalog::open(data());
    ASSERT_TRUE(catalog.ok()) << catalog.error().message;
    const Result<VerifyReport> report = verify(**catalog);
    ASSERT_TRUE(report.ok());
    for (const VerifyProblem& problem : report->problems)
      ADD_FAILURE() << problem.kind << " " << problem.subject << " " << problem.detail;
  }

  TemporaryFolder folder_;
};

TEST_F(Kill, TheCoordinatorInTheMiddleOfJobs) {
  {
    Process farm(coordinator());
    const Process a(worker("wa", "a")), b(worker("wb", "b"));
    run([&](auto&) { farm.kill_and_start(); });
  }
  expect_sound();
}

TEST_F(Kill, AWorkerInTheMiddleOfJobs) {
  {
    const Process farm(coordinator());
    Process a(worker("wa", "a")), b(worker("wb", "b"));
    run([&](std::mt19937_64& random) { (random() % 2 == 0 ? a : b).kill_and_start(); });
  }
  expect_sound();
}

TEST_F(Kill, Both) {
  {
    Process farm(coordinator());
    Process a(worker("wa", "a")), b(worker("wb", "b"));
    run([&](std::mt19937_64& random) {
      farm.kill_now();
      (random() % 2 == 0 ? a : b).kill_and_start();
      std::this_thread::sleep_for(milliseconds(random() % 200));
      farm.start();
    });
  }
  expect_sound();
}

// The worker that has the lease of the job's tuning, or "". (A pretended one says nothing while it
// works: its step stays leased.)
std::string tuner_of(Client& client, const std::string& job) {
  const Result<JobView> shown = client.show(job);
  if (!shown.ok()) return "";
  for (const StepView& step : shown->steps)
    if (step.name == "tune" && !is_end(step.state) && !step.attempts.empty())
      return step.attempts.back().worker;
  return "";
}

int64_t stale_reports(const std::string& data) {
  const auto catalog = must(Catalog::open(data));
  return must(catalog->database().find_integer("SELECT count(*) FROM event WHERE kind='stale'"))
      .value_or(0);
}

// R4: the lease of a worker that stands still goes to another one; what the first one says when it
// goes on comes too late.
TEST_F(Kill, AStoppedWorkerThatGoesOnCommitsNothing) {
  const auto patience = std::chrono::seconds(from_environment("ENGINERY_FREEZE_S", 20));
  ASSERT_EQ(setenv("ENGINERY_STEP_MS", "1500", 1), 0);
  {
    const Process farm(coordinator());
    const Process a(worker("wa", "a")), b(worker("wb", "a"));
    ASSERT_EQ(unsetenv("ENGINERY_STEP_MS"), 0);
    const auto client = connect_to(control(), "tester");
    ASSERT_NE(client, nullptr);
    ASSERT_TRUE(client->put_blob(as_bytes("model")).ok());
    SubmitRequest request = make_submit("model", {"a"});
    request.wait_for_workers = true;
    const JobView job = must(client->submit(request, make_request_id()));
    std::string tuner;
    for (int i = 0; i < 1000 && tuner.empty(); ++i, usleep(20'000))
      tuner = tuner_of(*client, job.id);
    ASSERT_FALSE(tuner.empty());
    std::this_thread::sleep_for(milliseconds(400));  // it has begun, and takes 1500 ms
    const Process& stopped = tuner == "wa" ? a : b;
    stopped.freeze();
    std::this_thread::sleep_for(patience);
    Result<JobView> end = wait_for_end(*client, job.id);
    stopped.thaw();
    ASSERT_TRUE(end.ok()) << end.error().message;
    expect_done(*client, job.id);
    std::this_thread::sleep_for(milliseconds(2500));  // for the first one to end its step
    expect_done(*client, job.id);
  }
  expect_sound();
  EXPECT_GE(stale_reports(data()), 1);  // more where its word was repeated
}

}  // namespace
}  // namespace enginery
