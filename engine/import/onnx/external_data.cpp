#include "engine/import/onnx/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/file.h"
#include "engine/import/onnx/container.h"
#include "engine/import/onnx/source_node.h"

namespace enginery {
namespace {

constexpr uint64_t kStatBlockBytes = 512;

Error refused(const std::string& location, const std::string& reason) {
  return {ErrorCode::invalid_argument,
          "external data '" + printable(location) + "' is refused: " + reason};
}

// openat2 lets the kernel refuse "..", absolute paths and symbolic links while it resolves the
// path, so that nothing can be swapped in between. O_NONBLOCK: a named pipe must not make us wait.
int open_beneath(int folder, const std::string& location) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(syscall(SYS_openat2, folder, location.c_str(), &how, sizeof how));
}

Error open_error(const std::string& location, int error_number) {
  if (error_number == EXDEV) return refused(location, "it lies outside the model's folder");
  if (error_number == ELOOP) return refused(location, "there is a symbolic link on its path");
  return errno_error("open external data '" + printable(location) + "'", error_number);
}

}  // namespace

ExternalFiles::~ExternalFiles() {
  if (fd_ >= 0) close(fd_);
}

Status ExternalFiles::open(const std::string& location) {
  if (fd_ >= 0 && location == open_location_) return {};
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  if (!folder_)
    return refused(location, "this model came without a folder, its weights must be inside");
  if (location.empty() || location.find('\0') != std::string::npos)
    return refused(location, "it names no file");
  const int folder = ::open(folder_->c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return errno_error("open folder " + folder_->string(), errno);
  fd_ = open_beneath(folder, location);
  const int error_number = errno;
  close(folder);
  if (fd_ < 0) return open_error(location, error_number);
  struct stat info {};
  if (fstat(fd_, &info) != 0)
    return errno_error("stat external data '" + printable(location) + "'", errno);
  open_location_.clear();
  if (!S_ISREG(info.st_mode)) return refused(location, "it is not a regular file");
  if (info.st_nlink > 1) return refused(location, "the file has other names (hard links)");
  open_location_ = location;
  size_ = static_cast<uint64_t>(info.st_size);
  blocks_bytes_ = static_cast<uint64_t>(info.st_blocks) * kStatBlockBytes;
  return {};
}

bool ExternalFiles::is_contained(const std::string& location) const {
  return owner_ && location == kContainedLocation;
}

Result<uint64_t> ExternalFiles::size(const std::string& location) {
  if (is_contained(location)) return contained_.size();
  CHECK_OK(open(location));
  present_[location] = std::min(size_, blocks_bytes_);
  return size_;
}

std::shared_ptr<const void> ExternalFiles::in_memory(const std::string& location,
                                                     uint64_t offset) const {
  if (!is_contained(location)) return nullptr;
  return {owner_, contained_.data() + offset};
}

uint64_t ExternalFiles::present_bytes() const {
  uint64_t out = contained_.size();
  for (const auto& [location, bytes] : present_) out += bytes;
  return out;
}

Status ExternalFiles::read(const std::string& location, uint64_t offset, uint64_t bytes,
                           char* target) {
  if (is_contained(location)) {
    std::memcpy(target, contained_.data() + offset, bytes);
    return {};
  }
  CHECK_OK(open(location));
  while (bytes > 0) {
    const ssize_t n =
        pread(fd_, target, std::min<uint64_t>(bytes, 1 << 30), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error("read external data '" + printable(location) + "'", errno);
    if (n == 0) return refused(location, "it became shorter while it was read");
    target += n;
    offset += static_cast<uint64_t>(n);
    bytes -= static_cast<uint64_t>(n);
  }
  return {};
}

}  // namespace enginery
