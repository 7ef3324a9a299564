// A timing cache in one JSON file: `--timing-cache FILE`. worker/README.md has its grammar.
//
// Where: a local build whose user keeps timings outside of the catalog, for example to carry them
// to another machine of the same kind. The whole file is read when it is opened and written anew
// each time: two builds over one file at once lose what the first one to end has measured.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

#include "engine/base/clock.h"
#include "tuner/timing/timing.h"

namespace enginery {

// One timing with what it is a timing of.
struct TimingEntryText {
  std::string device, problem;  // the tuner's keys, as texts
  Timing timing;
};

// The file's bytes: devices and problems in the order of their keys, so that the same timings are
// the same file.
std::string timings_to_json(const std::vector<TimingEntryText>& entries);
// The entries in the file's order; fields that a later version adds are left out. Errors:
// corrupt_data (no such document, or a timing without a tactic).
Result<std::vector<TimingEntryText>> parse_timings(std::string_view json);

// The file as the tuner's store. A put writes the file when the last writing is three seconds past,
// so that a build that is killed loses little; save() writes the rest. Thread-safe.
class FileTimingStore final : public TimingStore {
  // Only open() makes one.
  struct Opened {
    explicit Opened() = default;
  };

 public:
  // Reads the file; a missing one is empty. `clock` says when a writing is due and outlives the
  // store. Errors: corrupt_data, storage.
  static Result<std::unique_ptr<FileTimingStore>> open(const std::filesystem::path& file,
                                                       const Clock& clock);

  FileTimingStore(Opened, std::filesystem::path file, const Clock& clock)
      : file_(std::move(file)), clock_(clock) {}
  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override;
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override;
  // Writes the file, if anything is new. Errors: storage; what is new stays new.
  Status save();

 private:
  Status save_locked();

  const std::filesystem::path file_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, Timing>> entries_;
  bool changed_ = false;
  Nanoseconds saved_{};  // when last, by the monotonic clock
};

}  // namespace enginery
