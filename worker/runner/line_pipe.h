// Lines over a pipe: what agent and runner read and write. Threads: a reader belongs to one thread,
// writing is thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "engine/base/result.h"

namespace enginery {

// Cuts a stream of bytes into lines.
class LineBuffer {
 public:
  void append(std::string_view bytes) { bytes_.append(bytes); }
  std::optional<std::string> next();  // without its newline
  size_t waiting_bytes() const { return bytes_.size(); }
  std::string rest();  // what waits for its newline, as a line

 private:
  std::string bytes_;
  size_t searched_ = 0;
};

// Reads the next line, waiting for it. unavailable: the other end is closed.
Result<std::string> read_line(int fd, LineBuffer& buffer);

class LineWriter {
 public:
  explicit LineWriter(int fd) : fd_(fd) {}
  // Writes all of it. unavailable: the other end is closed (of a socket; a pipe's end raises
  // SIGPIPE).
  Status write(std::string_view line);

 private:
  const int fd_;
  std::mutex mutex_;
};

}  // namespace enginery
