// Going to the background: the process splits; the child goes on in a session of its own, the
// parent waits for it to be ready.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "engine/base/result.h"

namespace enginery {

// How the background process started.
struct DetachedStart {
  bool ready = false;
  std::string output;  // what it printed to stdout until it was ready
  int exit_code = 0;   // unless ready
  std::string log_tail;
};

class Detached {
 public:
  // Forks; call it while there is one thread. In the child stdin is /dev/null, stdout a pipe to the
  // parent, stderr the log (the one before is kept as LOG.old). Returns in both.
  static Result<Detached> start(const std::filesystem::path& log);

  bool is_parent() const { return child_ != 0; }

  // In the parent: until the child lets go of the pipe (ready) or ends.
  DetachedStart wait();

  // In the child, once it is ready: stdout goes to the log from now on.
  static Status let_go_of_parent(const std::filesystem::path& log);

 private:
  pid_t child_ = 0;
  int pipe_ = -1;
  std::filesystem::path log_;
};

}  // namespace enginery
