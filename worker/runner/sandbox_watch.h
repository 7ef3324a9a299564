// The process between a runner's owner and bubblewrap. Bubblewrap binds what it starts to its own
// life only when the namespaces are made: killed before, it leaves a process behind that waits for
// ever, with the locked device in its hands. So it is the child of a watcher, which inherits such
// orphans and ends them, and ends everything as soon as its owner is gone.
//
// Where: the child that RunnerProcess forks for a sandboxed runner. Only calls that are safe in the
// fork of a process with threads.
#pragma once

#include <sys/types.h>

namespace enginery {

// Becomes the watcher: before bubblewrap is forked from it.
void become_watcher();
// Waits for the end of `sandbox`, or until the other end of the pipe `life` is closed, and then
// ends all that the sandbox has started. Ends as the sandbox has: with its exit status, or by its
// signal. Keeps no file open but `life`.
[[noreturn]] void watch_sandbox(pid_t sandbox, int life);

}  // namespace enginery
