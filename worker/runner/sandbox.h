// The sandbox of a runner: bubblewrap, with namespaces of its own and nothing of the host in it but
// what the step needs.
//
// Where: who starts a runner says what it may see (RunnerCommand::sandbox); RunnerProcess puts
// bubblewrap's words before the program's. A runner parses models and runs what was compiled from
// them: what takes it over finds no network, no other process, no file of the host but system
// libraries, and no key. Threads: free functions; they read the environment and the file system.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace enginery {

enum class SandboxMode : uint8_t {
  require,  // without one no step is run
  prefer,   // where bubblewrap is installed and works
  off,
};
// "require", "prefer", "off". Errors: usage.
Result<SandboxMode> parse_sandbox_mode(const std::string& text);

// What of the host is in the sandbox, beside system libraries; each at its own path.
struct SandboxView {
  std::vector<std::filesystem::path> read_only;  // files and folders
  std::vector<std::filesystem::path> writable;   // folders
  std::vector<std::filesystem::path> devices;    // device nodes
  bool operator==(const SandboxView&) const = default;
};

// The nodes that a runner for the SKU needs: none for a CPU, NVIDIA's for a GPU.
std::vector<std::filesystem::path> device_nodes(const std::string& sku);

// What to start instead of `program`: bubblewrap with user, mount, pid, ipc, net and uts namespaces
// and no capability, and in it the program, which dies with this process. What the program's words
// name as files is in the view, too. `info_fd`: where bubblewrap writes the id of the namespace's
// first process, whose child the program is. `memory_bytes` limits its /tmp; 0: a quarter of the
// machine's memory.
std::vector<std::string> sandboxed(const std::vector<std::string>& program, const SandboxView& view,
                                   int info_fd, uint64_t memory_bytes);

// What holds for the runners that this process starts.
struct SandboxState {
  bool in_force = false;
  std::string text;  // "bubblewrap", or why there is none: for people, and for the attempts
  std::string fix;   // what to do about it; "" where there is nothing to do
};
// Starts a trivial runner in a sandbox and says how that went.
SandboxState probe_sandbox();
// The state for a mode: `prefer` takes what probe_sandbox finds. Errors: unavailable (`require`,
// and there is none; the message says what to do).
Result<SandboxState> settle_sandbox(SandboxMode mode);

}  // namespace enginery
