#include "cache/private_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kOthers = 0077;

// Whether the folder holds more than what this program keeps in it.
bool is_shared(const fs::path& folder, const struct stat& info) {
  const char* home = std::getenv("HOME");
  std::error_code none;
  const fs::path real = fs::canonical(folder, none);
  return (info.st_mode & S_ISVTX) != 0 || !real.has_relative_path() ||
         (home != nullptr && *home != '\0' && fs::equivalent(real, home, none));
}

Status tighten(const fs::path& path, const struct stat& info) {
  if (info.st_uid != geteuid() || (info.st_mode & kOthers) == 0) return {};
  if (chmod(path.c_str(), info.st_mode & 07777 & ~kOthers) == 0) return {};
  return errno_error("make private " + path.string(), errno);
}

}  // namespace

Status make_private_folder(const fs::path& folder) {
  CHECK_OK(make_folder(folder, 0700));
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) return errno_error("stat " + folder.string(), errno);
  return is_shared(folder, info) ? Status() : tighten(folder, info);
}

Status make_empty_folder(const fs::path& folder) {
  CHECK_OK(make_private_folder(folder));
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    fs::remove_all(entry->path(), error);
  if (error) return Error{ErrorCode::storage, "empty " + folder.string() + ": " + error.message()};
  return {};
}

Status make_private_file(const fs::path& file) {
  struct stat info {};
  if (lstat(file.c_str(), &info) != 0)
    return errno == ENOENT ? Status() : errno_error("stat " + file.string(), errno);
  return S_ISREG(info.st_mode) ? tighten(file, info) : Status();
}

}  // namespace enginery
