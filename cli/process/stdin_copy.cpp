#include "cli/process/stdin_copy.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "engine/base/file.h"

namespace enginery {
namespace {

Status write_all(int to, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(to, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_error("copy stdin to a temporary file", errno);
    bytes += written;
    count -= static_cast<size_t>(written);
  }
  return {};
}

Status copy_all(int from, int to) {
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("read stdin", errno);
    if (got == 0) return {};
    CHECK_OK(write_all(to, buffer.data(), static_cast<size_t>(got)));
  }
}

}  // namespace

Result<StdinCopy> StdinCopy::make(int descriptor) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) folder = "/tmp";
  std::string name = (folder / "enginery-stdin-XXXXXX").string();
  const int to = ::mkstemp(name.data());
  if (to < 0) return errno_error("make a temporary file in " + folder.string(), errno);
  StdinCopy out{std::filesystem::path(name)};
  const Status copied = copy_all(descriptor, to);
  ::close(to);
  CHECK_OK(copied);
  return out;
}

StdinCopy::StdinCopy(StdinCopy&& other) noexcept : path_(std::move(other.path_)) {
  other.path_.clear();
}

StdinCopy::~StdinCopy() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove(path_, ignored);
}

}  // namespace enginery
