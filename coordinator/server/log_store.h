// The jobs' logs: one text for each job, to which every step that the job waits for adds its lines.
//
// Where: workers append by lease over the bulk socket; people read by job and offset. On disk:
// logs/<job>.0, .1, ... of 16 MiB each; of more than four the first and the newest three stay, so a
// huge log keeps its head and tail, and says whose it is. logs/leases/<step>-<epoch> holds how much
// of a lease's own text has arrived, so that an append may be repeated. Only who was given a lease
// may append; prune() drops what is old. Threads: thread-safe.
#pragma once

#include <chrono>

#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "engine/base/clock.h"
#include "schemas/messages.h"
#include "schemas/sight.h"

namespace enginery {

// How long the logs of ended jobs stay: both limits count.
struct LogRetention {
  std::chrono::hours age{30 * 24};
  size_t jobs = 10'000;
};

class LogStore {
 public:
  // `folder` exists. A segment is closed at the first line beyond segment_bytes.
  explicit LogStore(std::filesystem::path folder, uint64_t segment_bytes = 16 << 20)
      : folder_(std::move(folder)), segment_bytes_(segment_bytes) {}

  // The job has a log from now on (perhaps an empty one), which is its tenant's.
  void open_job(const std::string& job, const std::string& tenant = "");
  // Nothing will be added any more.
  void end_job(const std::string& job);
  // Nobody will ask for it any more: its files go.
  void forget_job(const std::string& job);
  // The step's lines are the job's too, each with the prefix.
  void route(uint64_t step, const std::string& job, const std::string& prefix);

  // The step's leases up to `epoch` were given to workers, this one to `worker` ("": not known);
  // with the step's end the last lines may still come, until the second prune() after it.
  void lease(uint64_t step, uint64_t epoch, const std::string& worker = "");
  // To whom the lease was given; "" where that is not known.
  std::string worker_of(const StepRef& ref) const;
  void end_step(uint64_t step);

  // Takes what is new of a lease's text that begins at `offset`; says where to go on. The end of a
  // text is the end of a line.
  // invalid_argument: a gap; not_found: no job waits for the step, or nobody was given this lease;
  // storage: the disk is full.
  Result<uint64_t> append(const StepRef& ref, uint64_t offset, std::string_view text);

  // At most `length` bytes from offset on (later, where that part was dropped). not_found: no such
  // job.
  Result<LogChunk> read(const std::string& job, uint64_t offset, uint32_t length,
                        const Sight& sight = {});

  // Drops the logs of ended jobs beyond the limits (read() then has nothing to give) and what is
  // kept of leases whose step has ended. `now` is wall time.
  void prune(Nanoseconds now, const LogRetention& keep = {});

 private:
  struct Lease {
    uint64_t last_epoch = 0;
    std::map<uint64_t, std::string> workers;  // by epoch
    int prunes_since_end = -1;                // -1: the step goes on
  };
  struct Job {
    std::string tenant;
    bool ended = false;
    bool measured = false;                  // segments are known
    std::map<uint64_t, uint64_t> segments;  // number -> bytes
  };
  Status write(const std::string& name, Job& job, std::string_view text);
  void measure(const std::string& name, Job& job);
  std::filesystem::path segment_path(const std::string& job, uint64_t number) const;
  Result<uint64_t> received(const StepRef& ref);
  bool has_lease(const StepRef& ref) const;
  std::string holder(const StepRef& ref) const;
  Status name_author(const StepRef& ref);
  void forget_ended_leases();
  void drop_logs(Nanoseconds now, const LogRetention& keep);

  std::filesystem::path folder_;
  uint64_t segment_bytes_;
  mutable std::mutex mutex_;
  std::map<std::string, Job> jobs_;
  std::map<uint64_t, std::map<std::string, std::string>> routes_;  // step -> job -> prefix
  std::map<uint64_t, Lease> leases_;                               // by step
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> received_;     // lease -> bytes
};

}  // namespace enginery
