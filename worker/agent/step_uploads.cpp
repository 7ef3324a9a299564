#include "worker/agent/step_uploads.h"

#include <set>

#include "engine/base/log.h"
#include "pipeline/keys.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCollect{300};
constexpr size_t kMaxLogBytes = size_t{1} << 20;  // that wait for an absent coordinator
constexpr size_t kLogPiece = 256 * 1024;

// The next piece of a log: whole lines (what the farm is sent it ends as a line), but for a line
// that is longer than a piece.
std::string_view next_piece(std::string_view text) {
  if (text.size() <= kLogPiece) return text;
  const size_t end = text.rfind('\n', kLogPiece - 1);
  return text.substr(0, end == std::string_view::npos ? kLogPiece : end + 1);
}

}  // namespace

StepUploads::StepUploads(const FarmAddress& address, StepRef ref, std::function<bool()> cancelled)
    : ref_(std::move(ref)),
      cancelled_(std::move(cancelled)),
      farm_(address,
            [this] {
              const std::lock_guard lock(mutex_);
              return stop_ || cancelled_();
            }),
      thread_([this] { run(); }) {}

StepUploads::~StepUploads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void StepUploads::log(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (log_.size() > kMaxLogBytes)
    ++log_dropped_;
  else
    log_ += line + "\n";
  changed_.notify_all();
}

void StepUploads::timing(const RunnerTiming& timing) {
  const std::lock_guard lock(mutex_);
  timings_.push_back(timing);
  changed_.notify_all();
}

void StepUploads::flush(milliseconds timeout) {
  std::unique_lock lock(mutex_);
  hurry_ = true;
  changed_.notify_all();
  changed_.wait_for(lock, timeout,
                    [this] { return !sending_ && log_.empty() && timings_.empty(); });
  hurry_ = false;
}

void StepUploads::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !log_.empty() || !timings_.empty(); });
    changed_.wait_for(lock, kCollect, [this] { return stop_ || hurry_; });  // more comes with it
    if (stop_) return;
    std::string text = std::exchange(log_, {});
    if (log_dropped_ > 0)
      text += "... " + std::to_string(std::exchange(log_dropped_, 0)) + " lines were dropped\n";
    const std::vector<RunnerTiming> timings = std::exchange(timings_, {});
    sending_ = true;
    lock.unlock();
    send_timings(timings);
    send_log(text);
    lock.lock();
    sending_ = false;
    changed_.notify_all();
  }
}

void StepUploads::send_timings(const std::vector<RunnerTiming>& timings) {
  if (timings.empty()) return;
  std::set<Bytes> keys;
  std::vector<TimingEntry> entries;
  for (const RunnerTiming& t : timings) {
    const ActionKey device = timing_device_key(t.device), problem = timing_problem_key(t.problem);
    keys.insert(device.bytes());
    keys.insert(problem.bytes());
    entries.push_back({device.digest(), problem.digest(), t.tactic, t.entry, t.measured_ns});
  }
  const auto sent = farm_.call([&](Client& client) {
    return client.put_timings({keys.begin(), keys.end()}, entries);
  });
  if (!sent.ok()) log_warning("timings were not stored: " + sent.error().message);
}

void StepUploads::send_log(std::string_view text) {
  while (!text.empty()) {
    const std::string piece(next_piece(text));
    text.remove_prefix(piece.size());
    const auto sent =
        farm_.call([&](Client& client) { return client.append_log(ref_, log_offset_, piece); });
    if (!sent.ok()) return log_warning("a step's log was not stored: " + sent.error().message);
    log_offset_ += piece.size();
  }
}

}  // namespace enginery
