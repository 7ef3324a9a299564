// A timing cache in one JSON file: `--timing-cache FILE`, and how timings reach a runner.
// worker/README.md has its grammar.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>

#include "tuner/timing/timing.h"

namespace enginery {

struct TimingEntryText {
  std::string device, problem;  // the tuner's keys
  Timing timing;
};

std::string timings_to_json(const std::vector<TimingEntryText>& entries);
// corrupt_data: not such a file.
Result<std::vector<TimingEntryText>> parse_timings(std::string_view json);

// Thread-safe. Written every few seconds while it changes, and by save().
class FileTimingStore final : public TimingStore {
  // Only open() makes one.
  struct Opened {
    explicit Opened() = default;
  };

 public:
  // Reads the file; a missing one is empty. corrupt_data, storage.
  static Result<std::unique_ptr<FileTimingStore>> open(const std::filesystem::path& file);

  FileTimingStore(Opened, std::filesystem::path file) : file_(std::move(file)) {}
  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override;
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override;
  // Writes the file, if anything is new.
  Status save();

 private:
  Status save_locked();

  const std::filesystem::path file_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, Timing>> entries_;
  bool changed_ = false;
  std::chrono::steady_clock::time_point saved_{};
};

}  // namespace enginery
