// A temporary folder that goes with its owner.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace enginery::test {

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "enginery-worker-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  std::filesystem::path path;
};

}  // namespace enginery::test
