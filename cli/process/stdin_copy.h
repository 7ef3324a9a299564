// StdinCopy: what comes on stdin, kept as a file while it is read: `--data -`.
//
// Where: verbs whose readers want a file that they can seek in. A resource: the file goes with it.
// Threads: one.
#pragma once

#include <filesystem>

#include "engine/base/result.h"

namespace enginery {

class StdinCopy {
 public:
  // Reads to the end of the descriptor, stdin for the most part. Errors: storage.
  static Result<StdinCopy> make(int descriptor = 0);
  StdinCopy(StdinCopy&& other) noexcept;
  StdinCopy& operator=(StdinCopy&&) = delete;
  ~StdinCopy();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit StdinCopy(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;  // "" once it was moved from
};

}  // namespace enginery
