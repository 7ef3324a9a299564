#include "cli/process/detach.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "engine/base/file.h"

namespace enginery {
namespace {

constexpr size_t kLogTailBytes = 2000;

Result<int> open_log(const std::filesystem::path& log) {
  CHECK_OK(make_folder(log.parent_path()));
  const int descriptor = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return errno_error("open " + log.string(), errno);
  return descriptor;
}

void redirect(int from, int to) {
  dup2(from, to);
  if (from != to) close(from);
}

}  // namespace

Result<Detached> Detached::start(const std::filesystem::path& log) {
  std::error_code ignored;
  std::filesystem::rename(log, log.string() + ".old", ignored);
  TRY(const int log_descriptor, open_log(log));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno_error("make a pipe", errno);
  Detached detached;
  detached.log_ = log;
  const pid_t child = fork();
  if (child < 0) return errno_error("fork", errno);
  if (child > 0) {
    close(ends[1]);
    close(log_descriptor);
    detached.child_ = child;
    detached.pipe_ = ends[0];
    return detached;
  }
  setsid();
  close(ends[0]);
  redirect(open("/dev/null", O_RDONLY), STDIN_FILENO);
  redirect(ends[1], STDOUT_FILENO);
  redirect(log_descriptor, STDERR_FILENO);
  return detached;
}

DetachedStart Detached::wait() {
  DetachedStart start;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = read(pipe_, buffer, sizeof buffer)) != 0) {
    if (size < 0 && errno != EINTR) break;
    if (size > 0) start.output.append(buffer, static_cast<size_t>(size));
  }
  close(pipe_);
  // The pipe is closed either way: the child is ready and lives on, or it is about to end.
  int status = 0;
  const bool said_ready = start.output.find("ready") != std::string::npos;
  start.ready = said_ready && waitpid(child_, &status, WNOHANG) == 0;
  if (start.ready) return start;
  if (!said_ready) waitpid(child_, &status, 0);
  start.exit_code = WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1;
  const auto text = read_file(log_);
  if (text.ok())
    start.log_tail = text->substr(text->size() - std::min(text->size(), kLogTailBytes));
  return start;
}

Status Detached::let_go_of_parent(const std::filesystem::path& log) {
  TRY(const int descriptor, open_log(log));
  redirect(descriptor, STDOUT_FILENO);
  return {};
}

}  // namespace enginery
