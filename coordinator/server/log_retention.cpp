// What LogStore drops: logs of ended jobs by age and number, and what is kept of ended leases.
#include <sys/stat.h>

#include <algorithm>

#include "coordinator/server/log_store.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

// The files of a folder with the time of their last write, as wall time.
std::vector<std::pair<fs::path, Nanoseconds>> files_of(const fs::path& folder) {
  std::vector<std::pair<fs::path, Nanoseconds>> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    struct stat info {};
    if (stat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    files.emplace_back(entry.path(), std::chrono::seconds(info.st_mtim.tv_sec) +
                                         Nanoseconds(info.st_mtim.tv_nsec));
  }
  return files;
}

// The number before the first character that is no digit.
uint64_t leading_number(const fs::path& file) {
  return std::strtoull(file.filename().c_str(), nullptr, 10);
}

}  // namespace

void LogStore::prune(Nanoseconds now, const LogRetention& keep) {
  const std::lock_guard lock(mutex_);
  forget_ended_leases();
  drop_logs(now, keep);
}

void LogStore::forget_job(const std::string& job) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  measure(job, found->second);
  std::error_code ignored;
  for (const auto& [number, bytes] : found->second.segments)
    fs::remove(segment_path(job, number), ignored);
  jobs_.erase(found);
}

void LogStore::forget_ended_leases() {
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    const uint64_t step = lease->first;
    int& prunes = lease->second.prunes_since_end;
    if (prunes < 0 || ++prunes < 2) {
      ++lease;
      continue;
    }
    routes_.erase(step);
    received_.erase(received_.lower_bound({step, 0}), received_.lower_bound({step + 1, 0}));
    lease = leases_.erase(lease);
  }
  std::error_code ignored;
  for (const auto& [file, written] : files_of(folder_ / "leases"))
    if (leases_.count(leading_number(file)) == 0) fs::remove(file, ignored);
}

void LogStore::drop_logs(Nanoseconds now, const LogRetention& keep) {
  struct Log {
    Nanoseconds written{};
    std::vector<fs::path> segments;
  };
  std::map<std::string, Log> ended;
  for (auto& [file, written] : files_of(folder_)) {
    const std::string name = file.stem().string();
    const auto job = jobs_.find(name);
    if (job != jobs_.end() && !job->second.ended) continue;
    Log& log = ended[name];
    log.written = std::max(log.written, written);
    log.segments.push_back(file);
  }
  std::vector<std::pair<Nanoseconds, std::string>> newest_first;
  for (const auto& [name, log] : ended) newest_first.emplace_back(log.written, name);
  std::sort(newest_first.rbegin(), newest_first.rend());
  std::error_code ignored;
  for (size_t i = 0; i < newest_first.size(); ++i) {
    const auto& [written, name] = newest_first[i];
    if (i < keep.jobs && now - written <= keep.age) continue;
    for (const fs::path& segment : ended[name].segments) fs::remove(segment, ignored);
    if (const auto job = jobs_.find(name); job != jobs_.end()) job->second.segments.clear();
  }
}

}  // namespace enginery
