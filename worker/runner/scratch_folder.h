// ScratchFolder: a folder for the files between this process and its runners. It goes with its
// owner; of one that was killed, with the next process that makes one in the same place.
//
// Where: a local build has one, in the folder of temporary files; an agent's are in its own data
// folder, which it empties when it starts. Belongs to one thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "worker/runner/runner_process.h"

namespace enginery {

class ScratchFolder {
 public:
  // Makes it in `base`, which exists, readable for this user alone. Errors: not_found, storage.
  static Result<std::unique_ptr<ScratchFolder>> make(const std::filesystem::path& base);
  ScratchFolder(std::filesystem::path path, OwnedFd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  ScratchFolder(const ScratchFolder&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
  const OwnedFd lock_;  // held as long as the owner lives
};

// Writes a new file in place of one of that name, which whoever has it open keeps. Nobody needs it
// after a crash: it is not synced to the disk. Errors: storage.
Status write_scratch_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace enginery
