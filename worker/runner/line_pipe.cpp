#include "worker/runner/line_pipe.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace enginery {

std::optional<std::string> LineBuffer::next() {
  const size_t end = bytes_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = bytes_.size();
    return std::nullopt;
  }
  std::string line = bytes_.substr(0, end);
  bytes_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

std::string LineBuffer::rest() {
  searched_ = 0;
  return std::exchange(bytes_, {});
}

Result<std::string> read_line(int fd, LineBuffer& buffer) {
  while (true) {
    if (auto line = buffer.next()) return std::move(*line);
    char bytes[65536];
    const ssize_t n = read(fd, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return Error{ErrorCode::unavailable,
                   std::string("pipe: ") + (n == 0 ? "closed" : std::strerror(errno))};
    buffer.append({bytes, static_cast<size_t>(n)});
  }
}

Status LineWriter::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  while (!line.empty()) {
    ssize_t n = send(fd_, line.data(), line.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK) n = ::write(fd_, line.data(), line.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{ErrorCode::unavailable, std::string("pipe: ") + std::strerror(errno)};
    line.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace enginery
