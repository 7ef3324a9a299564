#include "tests/fuzz/edits_job.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include "engine/base/file.h"

namespace enginery::test {
namespace {

constexpr size_t kMaxInput = 1 << 20;
constexpr size_t kMaxFates = 8;
constexpr double kMaxSeconds = 20;
constexpr int64_t kMaxResidentBytes = int64_t{3} << 30;
// Accepted edits that are edited further, besides the seeds.
constexpr size_t kMaxAccepted = 512;

double cpu_seconds(pid_t process) {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int64_t resident_bytes(pid_t process) {
  std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
  int64_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

// In memory of both processes.
struct EditsJob::Shared {
  std::atomic<int64_t> executions;
  std::atomic<int64_t> fates[kMaxFates];
  std::atomic<size_t> input_bytes;
  char input[kMaxInput];

  size_t run(const Bytes& bytes) {
    std::memcpy(input, bytes.data(), bytes.size());
    input_bytes = bytes.size();
    const size_t fate = fuzz_target().run(bytes);
    ++fates[fate];
    ++executions;
    return fate;
  }

  // The whole life of the process.
  Status edit(const JobOptions& options) {
    const FuzzTarget& target = fuzz_target();
    const size_t accepted = target.fates.size() - 1;
    TRY(std::vector<FuzzSeed> pool, target.seeds());
    for (const FuzzSeed& seed : pool) {
      if (run(seed.bytes) != accepted)
        return Error{ErrorCode::internal, "the seed '" + seed.name + "' is not accepted"};
    }
    for (const FuzzSeed& kept : options.kept) run(kept.bytes);
    pool.insert(pool.end(), options.kept.begin(), options.kept.end());
    const size_t first_accepted = pool.size();
    Random random(options.seed);
    while (executions < options.executions) {
      Bytes changed = target.edited(any_of(pool, random).bytes, random);
      if (changed.size() > kMaxInput || run(changed) != accepted) continue;
      if (pool.size() < first_accepted + kMaxAccepted)
        pool.push_back({"accepted", std::move(changed)});
      else
        pool[first_accepted + random() % kMaxAccepted].bytes = std::move(changed);
    }
    return {};
  }
};

Result<std::unique_ptr<EditsJob>> EditsJob::start(const JobOptions& options) {
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno_error("share memory with a job", errno);
  auto job = std::make_unique<EditsJob>(MakeKey{}, static_cast<Shared*>(memory));
  job->process_ = fork();
  if (job->process_ < 0) return errno_error("start a job", errno);
  if (job->process_ == 0) {
    const Status status = job->shared_->edit(options);
    if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message.c_str());
    std::exit(status.ok() ? 0 : 1);
  }
  return job;
}

EditsJob::~EditsJob() {
  if (process_ > 0) stop("");
  munmap(shared_, sizeof(Shared));
}

bool EditsJob::is_running() {
  int status = 0;
  if (process_ > 0 && waitpid(process_, &status, WNOHANG) == process_) {
    process_ = -1;
    if (WIFSIGNALED(status)) finding_ = "signal " + std::to_string(WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      finding_ = "exit code " + std::to_string(WEXITSTATUS(status));
  }
  if (process_ > 0) watch();
  return process_ > 0;
}

void EditsJob::watch() {
  const double now = cpu_seconds(process_);
  if (const int64_t at = executions(); at != watched_) {
    watched_ = at;
    began_cpu_s_ = now;
  }
  // Before the first input the seeds are made.
  if (watched_ > 0 && now - began_cpu_s_ > kMaxSeconds) return stop("one input took too long");
  if (resident_bytes(process_) > kMaxResidentBytes) stop("it took too much memory");
}

void EditsJob::stop(const std::string& why) {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
  finding_ = why;
}

int64_t EditsJob::executions() const {
  return shared_->executions;
}

std::vector<int64_t> EditsJob::fates() const {
  return {shared_->fates, shared_->fates + fuzz_target().fates.size()};
}

Bytes EditsJob::last_input() const {
  return Bytes(shared_->input, shared_->input_bytes);
}

}  // namespace enginery::test
