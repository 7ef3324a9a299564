#include "engine/base/file.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/huge_pages.h"

namespace enginery {
namespace {

// Owns one file descriptor.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

// The user's own folder: of the environment, else of the user database (a service or a cron job may
// have no HOME). Where neither knows one, a folder that cannot be made: a folder that everybody may
// write to, as /tmp, is no place for a catalog and a signing key.
std::filesystem::path home() {
  const char* folder = std::getenv("HOME");
  if (folder && *folder) return folder;
  passwd entry{}, *found = nullptr;
  std::string room(16384, '\0');
  const bool known =
      getpwuid_r(getuid(), &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return known && *entry.pw_dir ? entry.pw_dir : "/nonexistent/HOME-is-not-set";
}

std::filesystem::path xdg(const char* variable, const char* sub_folder,
                          const std::filesystem::path& fallback) {
  if (const char* root = std::getenv("ENGINERY_HOME"); root && *root)
    return std::filesystem::path(root) / sub_folder;
  if (const char* folder = std::getenv(variable); folder && *folder) {
    return std::filesystem::path(folder) / "enginery";
  }
  return fallback;
}

Status write_all(int fd, std::string_view bytes, const std::filesystem::path& file) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("write " + file.string(), errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

// fsync of the folder makes the rename itself durable.
void sync_folder(const std::filesystem::path& folder) {
  Descriptor d{open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (d.fd >= 0) (void)fsync(d.fd);
}

}  // namespace

Error errno_error(const std::string& what, int error_number) {
  const ErrorCode code = error_number == ENOENT ? ErrorCode::not_found : ErrorCode::storage;
  return {code, what + ": " + std::strerror(error_number)};
}

Result<Bytes> read_file(const std::filesystem::path& file, uint64_t max_bytes) {
  Descriptor d{open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (d.fd < 0) return errno_error("open " + file.string(), errno);
  struct stat info {};
  if (fstat(d.fd, &info) != 0) return errno_error("stat " + file.string(), errno);
  if (S_ISDIR(info.st_mode))
    return Error{ErrorCode::invalid_argument, "read " + file.string() + ": it is a folder"};
  const uint64_t size = static_cast<uint64_t>(info.st_size);
  const auto too_large = [&](const std::string& found) {
    return Error{ErrorCode::invalid_argument, "read " + file.string() + ": " + found +
                                                  " bytes, at most " + std::to_string(max_bytes) +
                                                  " are allowed"};
  };
  if (size > max_bytes) return too_large(std::to_string(size));
  Bytes out;
  out.reserve(size);
  prefer_huge_pages(out.data(), size);  // before resize() touches the pages
  out.resize(size);
  size_t done = 0;
  while (true) {
    if (done == out.size()) {  // pipes and /proc files have no size: grow until the end
      if (done == size && size > 0) break;
      out.resize(out.size() + 65536);
    }
    const ssize_t n = read(d.fd, out.data() + done, out.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("read " + file.string(), errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
    if (done > max_bytes) return too_large("more than " + std::to_string(max_bytes));
  }
  out.resize(done);
  return out;
}

Status write_file(const std::filesystem::path& file, std::string_view bytes, unsigned mode) {
  std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::string temporary = (folder / ("." + file.filename().string() + ".XXXXXX")).string();
  Descriptor d{mkostemp(temporary.data(), O_CLOEXEC)};
  if (d.fd < 0) {
    Error error = errno_error("write " + file.string(), errno);
    std::error_code failed;
    if (error.code == ErrorCode::not_found && !std::filesystem::exists(folder, failed))
      error.message += " (the folder " + folder.string() + " does not exist)";
    else if (error.code == ErrorCode::not_found)
      error.message = "write " + file.string() + ": the folder takes no new files";
    return Error{ErrorCode::storage, error.message};
  }
  Status status = write_all(d.fd, bytes, file);
  if (status.ok() && (fchmod(d.fd, mode) != 0 || fsync(d.fd) != 0))
    status = errno_error("write " + file.string(), errno);
  if (status.ok() && rename(temporary.c_str(), file.c_str()) != 0)
    status = errno_error("write " + file.string(), errno);
  if (!status.ok()) {
    (void)unlink(temporary.c_str());
    return Error{ErrorCode::storage, status.error().message};
  }
  sync_folder(folder);
  return {};
}

Status make_folder(const std::filesystem::path& folder, unsigned mode) {
  if (folder.empty()) return {};
  std::error_code error;
  const bool created = std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder, error)) {
    return Error{ErrorCode::storage,
                 "create folder " + folder.string() + ": " +
                     (error ? error.message() : std::string("a file is in the way"))};
  }
  if (created && mode != 0755) (void)chmod(folder.c_str(), mode);
  return {};
}

std::filesystem::path data_folder() {
  return xdg("XDG_DATA_HOME", "data", home() / ".local/share/enginery");
}
std::filesystem::path state_folder() {
  return xdg("XDG_STATE_HOME", "state", home() / ".local/state/enginery");
}
std::filesystem::path runtime_folder() {
  return xdg("XDG_RUNTIME_DIR", "run", state_folder());
}

}  // namespace enginery
