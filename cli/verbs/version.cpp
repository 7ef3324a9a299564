// version: what this binary is and what was compiled in.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/local/doctor_checks.h"
#include "cli/output/json_output.h"
#include "cli/verbs/verbs.h"
#include "engine/device/device.h"
#include "engine/options/version.h"

namespace enginery {
namespace {

// "GCC 12.2.0"
std::string compiler_version() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

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
                                   {"version", kVersion},
                                   {"cuda_headers", has_cuda_headers()},
                                   {"compiler", compiler_version()},
                                   {"cpu_libraries", libraries}});
      return ExitCode::ok;
    }
    session.console.print_line("enginery " + std::string(kVersion));
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
