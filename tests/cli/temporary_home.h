// A folder of its own for everything that a verb keeps: ENGINERY_HOME points to it as long as this
// object lives.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace enginery {

class TemporaryHome {
 public:
  TemporaryHome() {
    std::string name = (std::filesystem::temp_directory_path() / "enginery-cli-XXXXXX").string();
    path_ = mkdtemp(name.data());
    const char* before = std::getenv("ENGINERY_HOME");
    before_ = before ? before : "";
    setenv("ENGINERY_HOME", (path_ / "home").c_str(), 1);
  }
  ~TemporaryHome() {
    if (before_.empty()) {
      unsetenv("ENGINERY_HOME");
    } else {
      setenv("ENGINERY_HOME", before_.c_str(), 1);
    }
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryHome(const TemporaryHome&) = delete;

  // For a test's own files.
  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
  std::string before_;
};

}  // namespace enginery
