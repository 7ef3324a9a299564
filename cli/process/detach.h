// Going to the background: the process forks; the child goes on in a session of its own, and the
// parent waits until the child is ready.
//
// Where: `up --detach`. Threads: start() while the process has one thread; each side then uses its
// own copy on that thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "engine/base/result.h"

namespace enginery {

// How the background process started, as its parent sees it.
struct DetachedStart {
  bool ready = false;
  std::string output;    // what it printed to stdout until it was ready
  int exit_code = 0;     // unless ready
  std::string log_tail;  // unless ready: the last 2000 bytes of the log
};

class Detached {
 public:
  // Forks and returns in both processes. In the child stdin is /dev/null, stdout a pipe to the
  // parent, and stderr the log (the previous one is kept as LOG.old). Errors: storage.
  static Result<Detached> start(const std::filesystem::path& log);

  bool is_parent() const { return child_ != 0; }

  // In the parent: waits until the child has closed the pipe (it is ready) or has ended.
  DetachedStart wait();

  // In the child, once it is ready: closes the pipe; stdout goes to the log from now on.
  static Status let_go_of_parent(const std::filesystem::path& log);

 private:
  pid_t child_ = 0;
  int pipe_ = -1;
  std::filesystem::path log_;
};

}  // namespace enginery
