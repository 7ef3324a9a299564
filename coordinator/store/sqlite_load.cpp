// Reading the queue's tables at a start.
#include <cstring>

#include "coordinator/store/sqlite_store.h"
#include "schemas/codec.h"

namespace enginery {
namespace {

constexpr size_t kUseBytes = 2 + 2 + 8 + 8 + 32;

template <typename T>
void put(Bytes& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}
template <typename T>
T take(ByteSpan& bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(bytes[i]) << (8 * i)));
  bytes = bytes.subspan(sizeof(T));
  return value;
}

uint64_t unsigned_column(const Statement& row, int column) {
  return static_cast<uint64_t>(row.integer(column));
}

Status load_jobs(Database& database, LoadedQueue& queue) {
  TRY(Statement row,
      database.prepare(
          "SELECT number, request_high, request_low, state, submitted_ns, ended_ns, request "
          "FROM queue_job ORDER BY number"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    JobRow job;
    job.number = unsigned_column(row, 0);
    job.request_id = {unsigned_column(row, 1), unsigned_column(row, 2)};
    job.state = static_cast<JobState>(row.integer(3));
    job.submitted_ns = row.integer(4);
    job.ended_ns = row.integer(5);
    Result<Envelope> envelope = decode(row.blob(6), kMaxStoredRequest);
    if (!envelope.ok()) return envelope.error().within("queue: " + job_id(job.number));
    auto* request = std::get_if<SubmitRequest>(&envelope->body);
    if (request == nullptr)
      return Error{ErrorCode::corrupt_data, "queue: " + job_id(job.number) + " is not a submit"};
    job.request = std::move(*request);
    queue.jobs[job.number] = std::move(job);
  }
}

Status load_targets(Database& database, LoadedQueue& queue) {
  TRY(Statement row,
      database.prepare(
          "SELECT job, position, state, source, engine, latency_ms, size_bytes, timings_measured, "
          "timings_reused, fault_code, fault_message, uses FROM queue_target ORDER BY job, "
          "position"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    TargetRow target;
    target.state = static_cast<TargetState>(row.integer(2));
    target.source = static_cast<Source>(row.integer(3));
    if (!row.is_null(4)) target.engine = row.digest(4);
    target.latency_ms = row.real(5);
    target.size_bytes = unsigned_column(row, 6);
    target.timings_measured = unsigned_column(row, 7);
    target.timings_reused = unsigned_column(row, 8);
    if (!row.is_null(9)) target.fault = Fault{static_cast<ErrorCode>(row.integer(9)), row.text(10)};
    TRY(target.uses, decode_uses(row.blob(11)));
    queue.jobs.at(unsigned_column(row, 0)).targets.push_back(std::move(target));
  }
}

Status load_steps(Database& database, LoadedQueue& queue) {
  TRY(Statement row,
      database.prepare(
          "SELECT id, job, kind, key, generation, sku, toolchain, provisional, state, epoch, "
          "worker, "
          "incarnation, device, commits, fault_code, fault_message FROM queue_step ORDER BY id"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    StepRow step;
    step.id = unsigned_column(row, 0);
    step.job = unsigned_column(row, 1);
    step.kind = static_cast<StepKind>(row.integer(2));
    step.key = row.digest(3);
    step.generation = row.integer(4);
    step.sku = row.text(5);
    step.toolchain = row.text(6);
    step.provisional = row.integer(7) != 0;
    step.state = static_cast<StepState>(row.integer(8));
    step.epoch = unsigned_column(row, 9);
    step.worker = row.text(10);
    step.incarnation = unsigned_column(row, 11);
    step.device = row.text(12);
    step.commits = unsigned_column(row, 13);
    step.fault = {static_cast<ErrorCode>(row.integer(14)), row.text(15)};
    queue.steps[step.id] = std::move(step);
  }
}

Status load_attempts(Database& database, LoadedQueue& queue) {
  TRY(Statement row,
      database.prepare(
          "SELECT step, epoch, worker, incarnation, started_ns, ended_ns, outcome, message "
          "FROM queue_attempt ORDER BY step, epoch"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    AttemptRow attempt;
    attempt.step = unsigned_column(row, 0);
    attempt.epoch = unsigned_column(row, 1);
    attempt.worker = row.text(2);
    attempt.incarnation = unsigned_column(row, 3);
    attempt.started_ns = row.integer(4);
    attempt.ended_ns = row.integer(5);
    if (!row.is_null(6)) attempt.outcome = static_cast<OutcomeKind>(row.integer(6));
    attempt.message = row.text(7);
    queue.steps.at(attempt.step).attempts.push_back(std::move(attempt));
  }
}

Status load_skus(Database& database, LoadedQueue& queue) {
  TRY(Statement row, database.prepare("SELECT sku, kind, toolchain, seen_ns FROM queue_sku"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    queue.skus[row.text(0)] = {row.text(0), row.text(1), row.text(2), row.integer(3)};
  }
}

}  // namespace

Bytes encode_uses(const std::vector<StepUse>& uses) {
  Bytes out;
  for (const StepUse& use : uses) {
    put(out, static_cast<uint16_t>(use.kind));
    put(out, static_cast<uint16_t>(use.source));
    put(out, static_cast<uint64_t>(use.generation));
    put(out, use.step);
    out.append(reinterpret_cast<const char*>(use.key.bytes.data()), use.key.bytes.size());
  }
  return out;
}

Result<std::vector<StepUse>> decode_uses(ByteSpan bytes) {
  if (bytes.size() % kUseBytes != 0)
    return Error{ErrorCode::corrupt_data, "queue: a target's uses are cut"};
  std::vector<StepUse> uses;
  while (!bytes.empty()) {
    StepUse use;
    use.kind = static_cast<StepKind>(take<uint16_t>(bytes));
    use.source = static_cast<Source>(take<uint16_t>(bytes));
    use.generation = static_cast<int64_t>(take<uint64_t>(bytes));
    use.step = take<uint64_t>(bytes);
    std::memcpy(use.key.bytes.data(), bytes.data(), use.key.bytes.size());
    bytes = bytes.subspan(use.key.bytes.size());
    uses.push_back(use);
  }
  return uses;
}

Result<LoadedQueue> load_queue(Database& database) {
  LoadedQueue queue;
  CHECK_OK(load_jobs(database, queue));
  CHECK_OK(load_targets(database, queue));
  CHECK_OK(load_steps(database, queue));
  CHECK_OK(load_attempts(database, queue));
  CHECK_OK(load_skus(database, queue));
  return queue;
}

}  // namespace enginery
