// A temporary folder that goes with its owner, and everything in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace enginery::test {

struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "enginery-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  std::filesystem::path path;
};

}  // namespace enginery::test
