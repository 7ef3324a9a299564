// Where an ONNX model's external weights lie: in files next to it, opened so that none outside the
// model's folder can be reached, or in the container that the model came in.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace enginery {

// Not thread-safe; one for each model that is being read.
class ExternalFiles {
 public:
  // Without a folder every file is refused. `contained`: the weights of the container, which
  // `owner` keeps.
  explicit ExternalFiles(std::optional<std::filesystem::path> folder,
                         std::string_view contained = {},
                         std::shared_ptr<const void> owner = nullptr)
      : folder_(std::move(folder)), contained_(contained), owner_(std::move(owner)) {}
  ~ExternalFiles();
  ExternalFiles(const ExternalFiles&) = delete;
  ExternalFiles& operator=(const ExternalFiles&) = delete;

  // The file's size, after every rule has been checked: a relative path beneath the folder, no
  // symbolic link on the way, a regular file with one name. Errors: invalid_argument, not_found,
  // storage.
  Result<uint64_t> size(const std::string& location);
  // The bytes from `offset` on where they lie in memory already, else null. Requires that the
  // offset lies inside.
  std::shared_ptr<const void> in_memory(const std::string& location, uint64_t offset) const;
  // What is really there of all the files whose size was asked for, each counted once: a file may
  // claim more than the blocks that it has.
  uint64_t present_bytes() const;
  // Reads `bytes` bytes at `offset` into `target`. Requires the range to lie inside the file.
  Status read(const std::string& location, uint64_t offset, uint64_t bytes, char* target);

 private:
  Status open(const std::string& location);

  bool is_contained(const std::string& location) const;

  std::optional<std::filesystem::path> folder_;
  std::string_view contained_;
  std::shared_ptr<const void> owner_;
  std::map<std::string, uint64_t> present_;  // by location
  std::string open_location_;                // the file opened last: weights mostly share one
  int fd_ = -1;
  uint64_t size_ = 0, blocks_bytes_ = 0;
};

}  // namespace enginery
