#include "worker/local_runner.h"

#include "engine/base/file.h"
#include "worker/runner/kernel_home.h"
#include "worker/runner/runner_environment.h"
#include "worker/runner/runner_output.h"

namespace enginery {
namespace {

std::string_view bytes_of_tensor(const Tensor& tensor) {
  return {static_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.bytes())};
}

// The same for every step of a build, and for the build that is made again.
Digest build_of(const BuildSessionSpec& spec) {
  return sha256(spec.model_digest.hex() + "\n" + spec.sku + "\n" + to_text(spec.options));
}

}  // namespace

Status LocalRunner::make_folder() {
  if (folder_) return {};
  std::error_code ignored;
  const std::filesystem::path base = std::filesystem::temp_directory_path(ignored);
  TRY(folder_, ScratchFolder::make(base.empty() ? "/tmp" : base));
  return {};
}

Result<RunnerRequest> LocalRunner::request_for(const Step& step, const StepContext& context) {
  CHECK_OK(make_folder());
  const BuildSessionSpec& spec = context.session.spec();
  RunnerRequest request;
  request.step = step.name;
  request.name = spec.name;
  request.model_file = spec.model_file;
  request.model = spec.model_digest;
  request.sku = spec.sku;
  request.options = to_text(spec.options);
  request.worker = options_.worker;
  request.output_folder = (folder_->path() / "outputs").string();
  CHECK_OK(enginery::make_folder(request.output_folder));
  const auto write = [&](const std::string& name, std::string_view bytes) -> Status {
    const std::filesystem::path file = folder_->path() / name;
    request.inputs[name] = file.string();
    return write_scratch_file(file, bytes);
  };
  if (reads_model(step)) {
    request.inputs["model"] = (folder_->path() / "model").string();
    if (!has_model_) CHECK_OK(write("model", *spec.model));
    has_model_ = true;
    if (spec.calibration) CHECK_OK(write(std::string(kCalibrationInput), *spec.calibration));
  }
  for (const auto& [name, bytes] : context.inputs) CHECK_OK(give(name, bytes, request));
  for (size_t i = 0; i < context.verify_inputs.size(); ++i)
    CHECK_OK(write(kGivenInput + std::to_string(i), bytes_of_tensor(context.verify_inputs[i])));
  return request;
}

// What is there already is not written again.
Status LocalRunner::give(const std::string& name, const std::shared_ptr<const Bytes>& bytes,
                         RunnerRequest& request) {
  const std::filesystem::path file = folder_->path() / name;
  request.inputs[name] = file.string();
  Given& given = given_[name];
  if (given.bytes != bytes) {
    CHECK_OK(write_scratch_file(file, *bytes));
    given = {bytes, std::nullopt};
  }
  if (given.digest) request.digests[name] = *given.digest;
  return {};
}

// What later steps read stays, as the runner left it: only runners of this build read it.
void LocalRunner::keep(const NamedBlob& output, const std::filesystem::path& file,
                       const std::shared_ptr<const Bytes>& bytes) {
  std::error_code error;
  if (is_read_by_a_step(output.name, options_.steps)) {
    std::filesystem::rename(file, folder_->path() / output.name, error);
    if (!error) given_[output.name] = {bytes, output.digest};
  }
  std::filesystem::remove(file, error);
}

Result<RunnerCommand> LocalRunner::command_for(const RunnerRequest& request,
                                               const BuildSessionSpec& spec) {
  if (!sandbox_) {
    TRY(sandbox_, settle_sandbox(options_.sandbox));
  }
  if (!sandbox_->in_force)
    return RunnerCommand{options_.program, runner_environment(spec.sku, spec.options.threads, 0)};
  // Beside the build's own files a runner has the kernels that this build compiled before, no key.
  TRY(const std::filesystem::path kernels, kernel_home(data_folder() / "builds", build_of(spec)));
  RunnerCommand command{options_.program,
                        runner_environment(spec.sku, spec.options.threads, 0, kernels)};
  SandboxView& view = command.sandbox.emplace();
  view.read_only = {folder_->path()};  // of later steps, too: it may stay for them
  view.writable = {request.output_folder, kernels};
  view.devices = device_nodes(spec.sku);
  return command;
}

// A runner that stays has the locked file open: who waited for it again would wait for itself.
Status LocalRunner::lock_device(const Step& step, const StepContext& context,
                                const std::string& device) {
  if (lock_ && lock_->descriptor() >= 0) return {};
  TRY(lock_, wait_for_device_of(step, context.session.spec().options.provisional, device,
                                {context.hooks.progress, context.hooks.cancelled}));
  return {};
}

Result<StepOutputs> LocalRunner::run(const Step& step, const StepContext& context,
                                     const std::string& device) {
  TRY(RunnerRequest request, request_for(step, context));
  const BuildSessionSpec& spec = context.session.spec();
  TRY(RunnerCommand command, command_for(request, spec));
  CHECK_OK(lock_device(step, context, device));
  // In its sandbox a runner's own lock would exclude nobody.
  request.device_locked = lock_->descriptor() >= 0 || command.sandbox.has_value();
  command.device_lock = lock_->descriptor();
  AttemptEvents events{context.hooks.progress, context.hooks.log, context.hooks.cancelled,
                       options_.max_trial};
  events.steps = options_.steps;
  TRY(Outcome end, run_attempts(command, request, *context.tuning.timings, events,
                                step.kind == StepKind::tune ? nullptr : &kept_));
  if (!kept_) lock_.reset();
  // A wrong engine is an answer; every other failure is told by its code.
  const bool rejected = end.kind == OutcomeKind::failed && end.fault.code == ErrorCode::internal;
  if (end.kind != OutcomeKind::succeeded && !rejected)
    return Error{end.fault.code, end.fault.message};
  StepOutputs out{{}, std::move(end.metrics), std::move(end.facts), ""};
  if (rejected) out.rejected = end.fault.message;
  for (const NamedBlob& output : end.outputs) {
    TRY(Bytes bytes, read_output(request.output_folder, output));
    const auto blob = out.blobs[output.name] = to_blob(std::move(bytes));
    keep(output, std::filesystem::path(request.output_folder) / output.name, blob);
  }
  return out;
}

}  // namespace enginery
