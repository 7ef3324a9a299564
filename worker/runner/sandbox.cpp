#include "worker/runner/sandbox.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "engine/device/sku_table.h"
#include "worker/runner/runner_process.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr char kBubblewrap[] = "/usr/bin/bwrap";

// System libraries and what the dynamic linker, OpenMP and CUDA's driver read. Programs that have
// no business with them find no file of a person here.
constexpr const char* kSystem[] = {"/usr",
                                   "/etc/ld.so.cache",
                                   "/etc/ld.so.conf",
                                   "/etc/ld.so.conf.d",
                                   "/etc/alternatives",
                                   "/sys/devices/system"};
// Folders that are links into /usr on most systems.
constexpr const char* kMerged[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64"};
// Of a GPU's driver: how it finds the device on the bus.
constexpr const char* kGpuSystem[] = {"/sys/devices", "/sys/bus/pci", "/sys/class/drm",
                                      "/sys/module/nvidia", "/sys/module/nvidia_uvm"};
// Variables that name folders of libraries; each may be a list with colons.
constexpr const char* kLibraryVariables[] = {"LD_LIBRARY_PATH", "ENGINERY_CUDA_LIBRARIES",
                                             "CUDA_HOME"};

class Words {
 public:
  void add(std::initializer_list<std::string> words) { out.insert(out.end(), words); }
  // Bubblewrap leaves out what is not there.
  void bind(const char* how, const fs::path& path) { add({how, path.string(), path.string()}); }
  void bind_all(const char* how, const std::vector<fs::path>& paths) {
    for (const fs::path& path : paths) bind(how, path);
  }

  std::vector<std::string> out;
};

void add_system(Words& words) {
  for (const char* path : kSystem) words.bind("--ro-bind-try", path);
  for (const char* path : kMerged) {
    std::error_code none;
    const fs::path target = fs::read_symlink(path, none);
    if (none)
      words.bind("--ro-bind-try", path);
    else
      words.add({"--symlink", target.string(), path});
  }
}

// What is below /usr is there already, by whatever links.
bool is_system(const fs::path& path) {
  std::error_code none;
  const fs::path real = fs::canonical(path, none);
  return path.string().starts_with("/usr/") || real.string().starts_with("/usr/");
}

std::vector<fs::path> folders_in(const char* variable) {
  std::vector<fs::path> out;
  const char* value = std::getenv(variable);
  std::string_view rest = value ? value : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    out.push_back(fs::path(rest.substr(0, end)).lexically_normal());
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

// Where CUDA's libraries are looked for (engine/device/cuda/library.cpp): the listed folders, and
// the wheels of a virtual environment and of the Python that is found first.
std::vector<fs::path> library_places() {
  std::vector<fs::path> out;
  for (const char* variable : kLibraryVariables)
    for (fs::path& folder : folders_in(variable)) out.push_back(std::move(folder));
  for (const fs::path& environment : folders_in("VIRTUAL_ENV")) out.push_back(environment / "lib");
  for (const fs::path& bin : folders_in("PATH")) {
    std::error_code none;
    if (!fs::exists(bin / "python3", none)) continue;
    out.push_back(bin.parent_path() / "lib");
    break;
  }
  return out;
}

// A folder that is listed by mistake does not open the host: the root is never one.
void add_libraries(Words& words) {
  for (const fs::path& folder : library_places())
    if (folder.is_absolute() && folder.has_relative_path() && !is_system(folder))
      words.bind("--ro-bind-try", folder);
}

// The file that a word of the program names, at the path by which it is known in the sandbox.
std::string with_file(const std::string& word, Words& words) {
  std::error_code none;
  if (!word.starts_with('/') || !fs::is_regular_file(word, none)) return word;
  const fs::path real = fs::canonical(word, none);
  if (none) return word;
  if (!is_system(real)) words.bind("--ro-bind", real);
  return real.string();
}

uint64_t quarter_of_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 4;
}

Error unusable(const SandboxState& state) {
  return {ErrorCode::unavailable, "no sandbox for the steps' processes: " + state.text + "; " +
                                      state.fix + ", or do without one: --sandbox=off"};
}

}  // namespace

Result<SandboxMode> parse_sandbox_mode(const std::string& text) {
  if (text == "require") return SandboxMode::require;
  if (text == "prefer") return SandboxMode::prefer;
  if (text == "off") return SandboxMode::off;
  return Error{ErrorCode::usage, "--sandbox is require, prefer or off, not '" + text + "'"};
}

std::vector<fs::path> device_nodes(const std::string& sku) {
  const auto row = resolve_sku_name(sku);
  if (!row || row->kind != DeviceKind::cuda) return {};
  std::vector<fs::path> out;
  std::error_code none;
  for (const fs::directory_entry& node : fs::directory_iterator("/dev", none)) {
    if (node.path().filename().string().starts_with("nvidia")) out.push_back(node.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> sandboxed(const std::vector<std::string>& program, const SandboxView& view,
                                   int info_fd, uint64_t memory_bytes) {
  Words words;
  words.add({kBubblewrap, "--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop",
             "ALL", "--die-with-parent", "--new-session", "--info-fd", std::to_string(info_fd),
             "--proc", "/proc", "--dev", "/dev"});
  words.add({"--size", std::to_string(memory_bytes ? memory_bytes : quarter_of_memory()), "--tmpfs",
             "/tmp", "--setenv", "TMPDIR", "/tmp", "--chdir", "/tmp"});
  add_system(words);
  if (!view.devices.empty())
    for (const char* path : kGpuSystem) words.bind("--ro-bind-try", path);
  add_libraries(words);
  words.bind_all("--dev-bind", view.devices);
  words.bind_all("--ro-bind", view.read_only);
  words.bind_all("--bind", view.writable);
  std::vector<std::string> command;
  for (const std::string& word : program) command.push_back(with_file(word, words));
  words.add({"--"});
  words.out.insert(words.out.end(), command.begin(), command.end());
  return words.out;
}

SandboxState probe_sandbox() {
  if (access(kBubblewrap, X_OK) != 0)
    return {false, "bubblewrap is not installed", "apt-get install bubblewrap"};
  RunnerCommand command;
  command.program = {
      "/bin/sh", "-c",
      R"(echo '{"end":{"kind":"succeeded","outputs":[],"metrics":[],"facts":[]}}' >&3)"};
  command.sandbox = SandboxView{};
  auto process = RunnerProcess::start(command);
  if (!process.ok()) return {false, process.error().message, ""};
  std::string said;
  RunnerEvents events;
  events.report = [](const RunnerReport&) {};
  events.output = [&](const std::string& line) { said += (said.empty() ? "" : "; ") + line; };
  events.timings = [](const WantTimings&) { return KnownTimings(); };
  const RunnerReport end = (*process)->run({}, events);
  const auto* outcome = std::get_if<RunnerEnd>(&end);
  if (outcome && outcome->kind == OutcomeKind::succeeded) return {true, "bubblewrap", ""};
  if (said.empty() && outcome) said = outcome->fault.message;
  return {false, "bubblewrap cannot make namespaces here (" + said + ")",
          "sysctl -w kernel.unprivileged_userns_clone=1, or allow the container user namespaces"};
}

Result<SandboxState> settle_sandbox(SandboxMode mode) {
  if (mode == SandboxMode::off) return SandboxState{false, "switched off", ""};
  SandboxState state = probe_sandbox();
  if (mode == SandboxMode::require && !state.in_force) return unusable(state);
  return state;
}

}  // namespace enginery
