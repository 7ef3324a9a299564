#include "worker/agent/self_test.h"

#include "engine/base/file.h"
#include "engine/base/log.h"

namespace enginery {
namespace {

constexpr size_t kDiskBytes = size_t{4} << 20;

}  // namespace

SelfTest::SelfTest(uint64_t number, Subject subject, std::function<void()> changed)
    : number_(number), subject_(std::move(subject)), changed_(std::move(changed)), thread_([this] {
        const Status status = examine();
        {
          const std::lock_guard lock(mutex_);
          problem_ = status.ok() ? "" : status.error().message;
        }
        changed_();
      }) {}

SelfTest::~SelfTest() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  thread_.join();
}

std::optional<std::string> SelfTest::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

Status SelfTest::examine() {
  CHECK_OK(test_disk(subject_.data));
  TRY(const auto process, RunnerProcess::start(subject_.runner));
  RunnerRequest request;
  request.step = "examine";
  request.sku = subject_.sku;
  request.memory_bytes = subject_.memory_bytes;
  const auto deadline = std::chrono::steady_clock::now() + subject_.limit;
  RunnerEvents events;
  events.report = [](const RunnerReport&) {};
  events.output = [](const std::string& line) { log_info("runner: " + line); };
  events.timings = [](const WantTimings&) { return KnownTimings(); };
  events.cancelled = [this] {
    const std::lock_guard lock(mutex_);
    return stop_;
  };
  events.hung = [&]() -> std::string {
    if (std::chrono::steady_clock::now() < deadline) return "";
    return "the self-test did not end within " + std::to_string(subject_.limit.count()) + " s";
  };
  const RunnerReport report = process->run(request, events);
  const auto* end = std::get_if<RunnerEnd>(&report);
  if (end == nullptr) return Error{ErrorCode::internal, "the runner said nothing of its device"};
  if (end->kind == OutcomeKind::succeeded) return {};
  return Error{end->fault.code, end->fault.message};
}

Status test_disk(const std::filesystem::path& folder) {
  CHECK_OK(make_folder(folder));
  const std::filesystem::path file = folder / "self-test";
  const Bytes written(kDiskBytes, 'x');
  const Status status = write_file(file, written);
  const Result<Bytes> read = status.ok() ? read_file(file) : status.error();
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  if (!read.ok()) return read.error().within("disk");
  if (*read == written) return {};
  return Error{ErrorCode::storage,
               "disk: a file in " + folder.string() + " came back with other bytes"};
}

}  // namespace enginery
