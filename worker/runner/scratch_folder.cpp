#include "worker/runner/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "enginery-build-";
// Between making a folder and locking it its owner looks dead.
constexpr time_t kLeastAgeSeconds = 60;

// The folder, locked; nothing where another process holds it, or it is not a folder of ours.
OwnedFd lock_folder(const fs::path& path) {
  OwnedFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status = {};
  const bool ours = folder.get() >= 0 && fstat(folder.get(), &status) == 0 &&
                    status.st_uid == geteuid() && flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
  return ours ? std::move(folder) : OwnedFd();
}

bool is_old(const fs::path& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 &&
         status.st_mtime + kLeastAgeSeconds < std::time(nullptr);
}

void remove_those_of_the_dead(const fs::path& base) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix) || !is_old(entry.path())) continue;
    const OwnedFd lock = lock_folder(entry.path());
    if (lock.get() >= 0) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::make(const fs::path& base) {
  remove_those_of_the_dead(base);
  std::string name = (base / (std::string(kPrefix) + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) return errno_error("make the folder " + name, errno);
  OwnedFd lock = lock_folder(name);
  if (lock.get() < 0) return errno_error("lock the folder " + name, errno);
  return std::make_unique<ScratchFolder>(name, std::move(lock));
}

Status write_scratch_file(const fs::path& file, std::string_view bytes) {
  const auto failed = [&] {
    const std::string reason = std::strerror(errno);
    (void)unlink(file.c_str());
    return Error{ErrorCode::storage, "write " + file.string() + ": " + reason};
  };
  (void)unlink(file.c_str());
  const OwnedFd fd(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (fd.get() < 0) return failed();
  while (!bytes.empty()) {
    const ssize_t n = write(fd.get(), bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed();
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace enginery
