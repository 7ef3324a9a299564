#include "worker/local_runner.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "engine/base/file.h"
#include "worker/runner/runner_attempts.h"
#include "worker/runner/runner_environment.h"
#include "worker/runner/runner_output.h"

namespace enginery {
namespace {

// A folder for the files between this process and its runners; removed with its owner.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code ignored;
    const std::filesystem::path base = std::filesystem::temp_directory_path(ignored);
    std::string name = ((base.empty() ? "/tmp" : base) / "enginery-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return errno_error("make the folder " + name, errno);
    return TemporaryFolder(std::move(name));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace

Result<StepOutputs> run_apart(const LocalRunner& runner, const std::string& step,
                              const BuildSessionSpec& spec, TimingStore& timings,
                              const StepHooks& hooks) {
  TRY(const TemporaryFolder folder, TemporaryFolder::make());
  RunnerRequest request;
  request.step = step;
  request.name = spec.name;
  request.model_file = spec.model_file;
  request.model = spec.model_digest;
  request.sku = spec.sku;
  request.options = to_text(spec.options);
  request.worker = runner.worker;
  request.inputs["model"] = (folder.path() / "model").string();
  request.output_folder = folder.path().string();
  CHECK_OK(write_file(request.inputs["model"], *spec.model));
  const RunnerCommand command{runner.program,
                              runner_environment(spec.sku, spec.options.threads, 0)};
  TRY(Outcome end, run_attempts(command, request, timings,
                                {hooks.progress, hooks.log, hooks.cancelled, runner.max_trial}));
  if (end.kind != OutcomeKind::succeeded) return Error{end.fault.code, end.fault.message};
  StepOutputs out{{}, std::move(end.metrics), std::move(end.facts), ""};
  for (const NamedBlob& output : end.outputs) {
    TRY(out.blobs[output.name], read_output(folder.path(), output));
  }
  return out;
}

}  // namespace enginery
