// version: what this binary is and what was compiled in.
#include <nlohmann/json.hpp>

#include "cli/local/version.h"
#include "cli/output/json_output.h"
#include "cli/verbs/verbs.h"
#include "engine/device/device.h"

namespace enginery {
namespace {

class VersionCommand final : public Command {
 public:
  void declare(Options& options) override {
    options.flag("--json", json_, "print JSON (enginery.version/1)");
  }

  Result<ExitCode> run(Session& session) override {
    TRY(const auto device, open_device("cpu-sse41", {}));
    Json libraries = Json::object();
    for (const auto& [name, value] : device->info().software) libraries[name] = value;
    if (json_) {
      print_json(session.console, {{"schema", "enginery.version/1"},
                                   {"version", software_version()},
                                   {"cuda_headers", has_cuda_headers()},
                                   {"compiler", compiler_version()},
                                   {"cpu_libraries", libraries}});
      return ExitCode::ok;
    }
    session.console.print_line("enginery " + software_version());
    session.console.print_line(has_cuda_headers()
                                   ? "GPU code: compiled in"
                                   : "GPU code: left out (no CUDA headers when it was built)");
    session.console.print_line("compiler: " + compiler_version());
    for (const auto& [name, value] : device->info().software)
      session.console.print_line(name + ": " + value);
    return ExitCode::ok;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_version() {
  return std::make_unique<VersionCommand>();
}

}  // namespace enginery
