#include "coordinator/server/log_store.h"

#include <algorithm>
#include <fstream>

#include "engine/base/file.h"
#include "engine/base/log.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
constexpr size_t kSegmentsKept = 4;

std::string with_prefix(std::string_view text, const std::string& prefix) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += "[" + prefix + "] ";
    out += text.substr(0, end);
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

fs::path LogStore::segment_path(const std::string& job, uint64_t number) const {
  return folder_ / (job + "." + std::to_string(number));
}

void LogStore::open_job(const std::string& job, const std::string& tenant) {
  const std::lock_guard lock(mutex_);
  jobs_[job].tenant = tenant;
}

void LogStore::end_job(const std::string& job) {
  const std::lock_guard lock(mutex_);
  jobs_[job].ended = true;
}

void LogStore::route(uint64_t step, const std::string& job, const std::string& prefix) {
  const std::lock_guard lock(mutex_);
  jobs_[job];
  routes_[step].emplace(job, prefix);
}

void LogStore::lease(uint64_t step, uint64_t epoch, const std::string& worker) {
  const std::lock_guard lock(mutex_);
  Lease& lease = leases_[step];
  lease.last_epoch = std::max(lease.last_epoch, epoch);
  if (!worker.empty()) lease.workers[epoch] = worker;
}

std::string LogStore::worker_of(const StepRef& ref) const {
  const std::lock_guard lock(mutex_);
  return holder(ref);
}

std::string LogStore::holder(const StepRef& ref) const {
  const auto lease = leases_.find(ref.step);
  if (lease == leases_.end()) return "";
  const auto worker = lease->second.workers.find(ref.epoch);
  return worker == lease->second.workers.end() ? "" : worker->second;
}

void LogStore::end_step(uint64_t step) {
  const std::lock_guard lock(mutex_);
  if (const auto lease = leases_.find(step);
      lease != leases_.end() && lease->second.prunes_since_end < 0)
    lease->second.prunes_since_end = 0;
}

bool LogStore::has_lease(const StepRef& ref) const {
  const auto lease = leases_.find(ref.step);
  return lease != leases_.end() && ref.epoch >= 1 && ref.epoch <= lease->second.last_epoch;
}

// Which segments are there, after a restart.
void LogStore::measure(const std::string& name, Job& job) {
  if (std::exchange(job.measured, true)) return;
  std::error_code ignored;
  for (uint64_t number = 0, missed = 0; missed < 1000; ++number) {
    const uint64_t size = fs::file_size(segment_path(name, number), ignored);
    if (ignored) {
      // Dropped ones are a gap after the first; without a first there is none.
      if (number == 0) return;
      ++missed;
    } else {
      missed = 0;
      job.segments[number] = size;
    }
  }
}

Status LogStore::write(const std::string& name, Job& job, std::string_view text) {
  measure(name, job);
  uint64_t number = job.segments.empty() ? 0 : job.segments.rbegin()->first;
  if (job.segments[number] >= segment_bytes_) job.segments[++number] = 0;
  const fs::path path = segment_path(name, number);
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file)
    return Error{ErrorCode::storage,
                 "write " + path.string() + ": the disk is full or the folder is not writable"};
  job.segments[number] += text.size();
  if (job.segments.size() > kSegmentsKept) {
    const auto second = std::next(job.segments.begin());
    std::error_code ignored;
    fs::remove(segment_path(name, second->first), ignored);
    job.segments.erase(second);
  }
  return {};
}

Result<uint64_t> LogStore::received(const StepRef& ref) {
  const std::pair<uint64_t, uint64_t> lease{ref.step, ref.epoch};
  const auto known = received_.find(lease);
  if (known != received_.end()) return known->second;
  const Result<Bytes> file = read_file(
      folder_ / "leases" / (std::to_string(ref.step) + "-" + std::to_string(ref.epoch)), 64);
  if (!file.ok())
    return file.error().code == ErrorCode::not_found ? Result<uint64_t>(0)
                                                     : Result<uint64_t>(file.error());
  return static_cast<uint64_t>(std::strtoull(file->c_str(), nullptr, 10));
}

// Once a lease has written as much as a job's log may have, from where on its middle goes.
Status LogStore::name_author(const StepRef& ref) {
  const std::string worker = holder(ref);
  const std::string note =
      "worker '" + (worker.empty() ? "?" : worker) + "' has written more than " +
      std::to_string(kSegmentsKept * segment_bytes_) + " bytes for this step (epoch " +
      std::to_string(ref.epoch) + "): the middle of this log goes";
  log_warning("log of step " + std::to_string(ref.step) + ": " + note);
  for (const auto& [job, prefix] : routes_[ref.step])
    CHECK_OK(write(job, jobs_[job], with_prefix(note, prefix)));
  return {};
}

Result<uint64_t> LogStore::append(const StepRef& ref, uint64_t offset, std::string_view text) {
  const std::lock_guard lock(mutex_);
  const auto routes = routes_.find(ref.step);
  if (routes == routes_.end())
    return Error{ErrorCode::not_found,
                 "log of step " + std::to_string(ref.step) + ": nobody waits for this step"};
  if (!has_lease(ref))
    return Error{ErrorCode::not_found, "log of step " + std::to_string(ref.step) +
                                           ": nobody was given the lease with epoch " +
                                           std::to_string(ref.epoch)};
  TRY(const uint64_t have, received(ref));
  if (offset > have)
    return Error{ErrorCode::invalid_argument, "log of step " + std::to_string(ref.step) +
                                                  ": go on from " + std::to_string(have)};
  const uint64_t known = have - offset;
  if (known >= text.size()) return have;
  text.remove_prefix(known);
  CHECK_OK(make_folder(folder_ / "leases"));
  for (const auto& [job, prefix] : routes->second)
    CHECK_OK(write(job, jobs_[job], with_prefix(text, prefix)));
  const uint64_t now = have + text.size(), limit = kSegmentsKept * segment_bytes_;
  if (have < limit && now >= limit) CHECK_OK(name_author(ref));
  const std::string name = std::to_string(ref.step) + "-" + std::to_string(ref.epoch);
  // Not fsynced: after a power cut a few lines may come twice.
  std::ofstream(folder_ / "leases" / name, std::ios::trunc) << now;
  received_[{ref.step, ref.epoch}] = now;
  return now;
}

Result<LogChunk> LogStore::read(const std::string& name, uint64_t offset, uint32_t length,
                                const Sight& sight) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(name);
  if (found == jobs_.end() || !sees(sight, found->second.tenant))
    return Error{ErrorCode::not_found,
                 "logs: no job '" + name.substr(0, 80) + "' (enginery jobs lists them)"};
  Job& job = found->second;
  measure(name, job);
  LogChunk chunk;
  chunk.complete = job.ended;
  // A full segment counts segment_bytes_ or a little more; offsets are number * 2^32 + place, so
  // dropping one moves nothing.
  constexpr int kShift = 32;
  const auto last = job.segments.empty() ? 0 : job.segments.rbegin()->first;
  chunk.end = (last << kShift) + (job.segments.empty() ? 0 : job.segments.rbegin()->second);
  uint64_t number = offset >> kShift, place = offset & 0xffffffffu;
  auto segment = job.segments.lower_bound(number);
  if (segment != job.segments.end() && (segment->first != number || place >= segment->second)) {
    if (segment->first == number) ++segment;
    place = 0;
  }
  if (segment == job.segments.end()) {
    chunk.offset = std::min(offset, chunk.end);
    return chunk;
  }
  chunk.offset = (segment->first << kShift) + place;
  std::ifstream file(segment_path(name, segment->first), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(place));
  chunk.text.resize(std::min<uint64_t>(length, segment->second - place));
  file.read(chunk.text.data(), static_cast<std::streamsize>(chunk.text.size()));
  chunk.text.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return chunk;
}

}  // namespace enginery
