// Files next to an ONNX model that hold its weights, opened so that none outside the model's folder
// can be reached.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/base/result.h"

namespace enginery {

// Not thread-safe; one for each model that is being read.
class ExternalFiles {
 public:
  // Without a folder every file is refused.
  explicit ExternalFiles(std::optional<std::filesystem::path> folder)
      : folder_(std::move(folder)) {}
  ~ExternalFiles();
  ExternalFiles(const ExternalFiles&) = delete;
  ExternalFiles& operator=(const ExternalFiles&) = delete;

  // The file's size, after every rule has been checked: a relative path beneath the folder, no
  // symbolic link on the way, a regular file with one name. Errors: invalid_argument, not_found,
  // storage.
  Result<uint64_t> size(const std::string& location);
  // Reads `bytes` bytes at `offset` into `target`. Requires the range to lie inside the file.
  Status read(const std::string& location, uint64_t offset, uint64_t bytes, char* target);

 private:
  Status open(const std::string& location);

  std::optional<std::filesystem::path> folder_;
  std::string open_location_;  // the file opened last: weights mostly share one
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace enginery
