#include "worker/steps/runner.h"

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <new>
#include <thread>

#include "engine/base/file.h"
#include "engine/base/log.h"
#include "engine/device/sku_table.h"
#include "engine/options/toolchain.h"
#include "pipeline/result.h"
#include "worker/runner/line_pipe.h"
#include "worker/runner/runner_messages.h"
#include "worker/runner/scratch_folder.h"
#include "worker/steps/device_check.h"
#include "worker/timing/pipe_timing_store.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kCancelTimeout{
    1500};  // of a cancelled step, before the process ends without it
constexpr milliseconds kProgressEvery{200};

// Waits for SIGTERM on a thread of its own: asks the step to stop, and ends the process if it does
// not.
class CancelWatch {
 public:
  explicit CancelWatch(LineWriter& out) : out_(out) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::thread([this] { watch(); });
  }
  ~CancelWatch() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    pthread_kill(thread_.native_handle(), SIGTERM);  // wakes it from sigwait
    thread_.join();
  }
  CancelWatch(const CancelWatch&) = delete;
  bool cancelled() const { return cancelled_; }

 private:
  void watch() {
    int signal = 0;
    sigwait(&signals_, &signal);
    cancelled_ = true;
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kCancelTimeout, [this] { return ended_; })) return;
    (void)out_.write(
        to_line(failed_outcome(OutcomeKind::cancelled, {ErrorCode::cancelled, "cancelled"})));
    _exit(0);
  }

  LineWriter& out_;
  sigset_t signals_;
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

class Runner {
 public:
  Runner(const RunnerSetup& setup, int in_fd, int out_fd)
      : setup_(setup), in_fd_(in_fd), out_(out_fd), watch_(out_) {}

  int run() {
    bool stays = false;
    do {
      auto line = read_line(in_fd_, lines_);
      if (!line.ok()) return stays ? 0 : 1;
      auto request = parse_request(*line);
      if (!request.ok()) {
        log_error(request.error().message);
        return 1;
      }
      limit_memory(request->memory_bytes);
      if (request->step == "describe") return send(describe(*request)) ? 0 : 1;
      if (request->step == "examine") return send(examine(*request)) ? 0 : 1;
      if (!send(execute(*request))) return 1;
      stays = request->stays;
    } while (stays);
    return 0;
  }

 private:
  bool send(const RunnerReport& report) { return out_.write(to_line(report)).ok(); }

  static void limit_memory(uint64_t bytes) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (bytes == 0) return;
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_DATA, &limit);
  }

  RunnerReport describe(const RunnerRequest& request) {
    auto device = setup_.describe(request.sku);
    if (!device.ok()) return failed_outcome(device.error());
    const DeviceInfo& info = (*device)->info();
    return DeviceDescription{std::string(to_string(info.kind)), info.name, info.physical_id,
                             toolchain_text(info.kind, &info), skus_to_compile_for()};
  }

  static Outcome examine(const RunnerRequest& request) {
    auto device = open_device(request.sku, {});
    if (!device.ok()) return failed_outcome(device.error());
    const Status status = check_device(**device);
    return status.ok() ? Outcome() : failed_outcome(OutcomeKind::internal, status.error());
  }

  // GPUs' kernels are compiled by NVRTC, which needs no GPU: with it, engines for every GPU of the
  // table can be built.
  static std::vector<std::string> skus_to_compile_for() {
    std::vector<std::string> out;
    bool has_compiler = false;
    for (const SkuRow& row : sku_table()) {
      if (row.kind != DeviceKind::cuda) continue;
      if (out.empty()) {
        DeviceOptions options;
        options.compile_only = true;
        auto device = open_device(row.name, options);
        if (!device.ok()) return {};
        for (const auto& [name, value] : (*device)->info().software) {
          has_compiler = has_compiler || (name == "nvrtc" && !value.empty() &&
                                          std::isdigit(static_cast<unsigned char>(value[0])));
        }
        if (!has_compiler) return {};
      }
      out.push_back(row.name);
    }
    return out;
  }

  StepHooks hooks() {
    StepHooks out;
    out.progress = [this](const Progress& p) {
      const auto now = steady_clock::now();
      if (p.phase == phase_ && now - progressed_ < kProgressEvery) return;
      phase_ = p.phase;
      progressed_ = now;
      send(p);
    };
    out.cancelled = [this] { return watch_.cancelled(); };
    out.log = [this](const std::string& text) { send(RunnerLog{text}); };
    return out;
  }

  Outcome execute(const RunnerRequest& request) {
    try {
      auto done = step(request);
      if (!done.ok()) return failed_outcome(done.error());
      if (!done->rejected.empty())
        return failed_outcome(OutcomeKind::failed, {ErrorCode::internal, done->rejected});
      auto outcome = write_outputs(request, *done);
      return outcome.ok() ? std::move(*outcome) : failed_outcome(outcome.error());
    } catch (const std::bad_alloc&) {
      return failed_outcome(OutcomeKind::out_of_memory,
                            {ErrorCode::out_of_memory, request.step + ": out of memory"});
    }
  }

  Result<StepOutputs> step(const RunnerRequest& request) {
    BuildSessionSpec spec;
    spec.name = request.name;
    spec.model_file = request.model_file;
    spec.model_digest = request.model;
    spec.sku = request.sku;
    TRY(spec.options, parse_options(request.options));
    spec.open = setup_.open;
    TRY(StepInputs inputs, read_inputs(request, session_ && serves(session_->spec(), spec)));
    const std::vector<StepInputs::mapped_type> given = take_given(inputs);
    if (const auto model = inputs.find("model"); model != inputs.end()) spec.model = model->second;
    if (const auto found = inputs.find(std::string(kCalibrationInput)); found != inputs.end())
      spec.calibration = found->second;
    if (const auto found = inputs.find(std::string(kFloatLayersInput)); found != inputs.end())
      spec.float_layers = found->second;
    if (!session_ || !serves(session_->spec(), spec)) session_.emplace(std::move(spec));
    PipeTimingStore timings(in_fd_, lines_, out_);
    StepContext context{*session_, std::move(inputs), request.worker, hooks(), {}};
    TRY(context.verify_inputs, given_tensors(*session_, given));
    context.tuning.timings = &timings;
    context.tuning.one_by_one = request.one_by_one;
    context.tuning.assistant = request.assistant;
    context.device_locked = request.device_locked;
    context.tuning.trial = [this](const InFlightTactic& t) {
      send(RunnerTrial{t.device, t.problem, t.tactic, t.over});
    };
    return run_step(request.step, context, setup_.functions, setup_.steps);
  }

  // All of the request's files but those whose bytes the step before read or left here.
  Result<StepInputs> read_inputs(const RunnerRequest& request, bool same_session) {
    const bool has_model = same_session && session_->spec().model;
    HeldBlobs known = std::exchange(held_, {});
    StepInputs inputs;
    for (const auto& [name, path] : request.inputs) {
      if (name == "model" && has_model) continue;
      const auto digest = request.digests.find(name);
      const auto held = known.find(name);
      const bool is_known = digest != request.digests.end() && held != known.end() &&
                            held->second.digest == digest->second;
      if (is_known) {
        inputs[name] = held->second.bytes;
      } else {
        TRY(Bytes bytes, read_file(path));
        inputs[name] = to_blob(std::move(bytes));
      }
      if (digest != request.digests.end() && name != "model")
        held_[name] = {digest->second, inputs[name]};
    }
    return inputs;
  }

  // Whether a session of `had` is one of `wanted`, too. The model is the same by its digest, and
  // one that the step does not read need not be there.
  static bool serves(const BuildSessionSpec& had, const BuildSessionSpec& wanted) {
    return had.name == wanted.name && had.model_file == wanted.model_file &&
           had.model_digest == wanted.model_digest && had.sku == wanted.sku &&
           to_text(had.options) == to_text(wanted.options) && (had.model || !wanted.model);
  }

  static std::vector<StepInputs::mapped_type> take_given(StepInputs& inputs) {
    std::vector<StepInputs::mapped_type> out;
    while (true) {
      auto found = inputs.extract(kGivenInput + std::to_string(out.size()));
      if (found.empty()) return out;
      out.push_back(std::move(found.mapped()));
    }
  }

  static Result<std::vector<Tensor>> given_tensors(
      BuildSession& session, const std::vector<StepInputs::mapped_type>& given) {
    std::vector<Tensor> out;
    if (given.empty()) return out;
    TRY(const LoadedModel* model, session.model());
    const std::vector<ValueId>& wanted = model->imported.inputs();
    for (size_t i = 0; i < std::min(given.size(), wanted.size()); ++i) {
      const TensorType& type = model->imported.value(wanted[i]).type;
      Tensor& tensor = out.emplace_back(type.type, type.dims);
      if (static_cast<size_t>(tensor.bytes()) != given[i]->size())
        return Error{ErrorCode::invalid_argument,
                     "the given inputs are not of the sizes of the model's"};
      if (tensor.bytes() > 0)
        std::memcpy(tensor.mutable_bytes(), given[i]->data(), given[i]->size());
    }
    return out;
  }

  Result<Outcome> write_outputs(const RunnerRequest& request, const StepOutputs& done) {
    Outcome out;
    out.metrics = done.metrics;
    out.facts = done.facts;
    for (const auto& [name, bytes] : done.blobs) {
      CHECK_OK(write_scratch_file(std::filesystem::path(request.output_folder) / name, *bytes));
      const Digest digest = sha256(*bytes);
      out.outputs.push_back({name, digest, bytes->size()});
      if (is_read_by_a_step(name, setup_.steps)) held_[name] = {digest, bytes};
    }
    return out;
  }

  const RunnerSetup& setup_;
  const int in_fd_;
  LineWriter out_;
  CancelWatch watch_;
  LineBuffer lines_;
  std::optional<BuildSession> session_;  // of the step before, where it was of the same build
  struct HeldBlob {
    Digest digest;
    std::shared_ptr<const Bytes> bytes;
  };
  using HeldBlobs = std::map<std::string, HeldBlob>;
  HeldBlobs held_;  // what the step before read and left, by its names
  std::string phase_;
  steady_clock::time_point progressed_{};
};

}  // namespace

int run_runner(const RunnerSetup& setup, int in_fd, int out_fd) {
  return Runner(setup, in_fd, out_fd).run();
}

}  // namespace enginery
