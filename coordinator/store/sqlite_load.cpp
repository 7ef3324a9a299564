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

Error unreadable(const std::string& what) {
  return {ErrorCode::corrupt_data, "queue: " + what};
}

// An enumerator that this program has; `last` is its greatest one. `of` and `number` say whose it
// is.
template <typename E>
Result<E> known(const Statement& row, int column, E last, const char* of, uint64_t number) {
  const int64_t value = row.integer(column);
  if (value < 0 || value > static_cast<int64_t>(last))
    return unreadable(of + std::to_string(number) + " has the number " + std::to_string(value) +
                      ", which this enginery does not know");
  return static_cast<E>(value);
}

Status load_jobs(Database& database, LoadedQueue& queue) {
  TRY(Statement row,
      database.prepare(
          "SELECT number, request_high, request_low, state, submitted_ns, ended_ns, request, "
          "tenant FROM queue_job ORDER BY number"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    JobRow job;
    job.number = unsigned_column(row, 0);
    job.request_id = {unsigned_column(row, 1), unsigned_column(row, 2)};
    TRY(job.state, known(row, 3, JobState::cancelled, "the state of j", job.number));
    job.submitted_ns = row.integer(4);
    job.ended_ns = row.integer(5);
    Result<Envelope> envelope = decode(row.blob(6), kMaxStoredRequest);
    if (!envelope.ok()) return envelope.error().within("queue: " + job_id(job.number));
    auto* request = std::get_if<SubmitRequest>(&envelope->body);
    if (request == nullptr) return unreadable(job_id(job.number) + " is not a submit");
    job.request = std::move(*request);
    job.request.tenant = row.text(7);
    queue.jobs[job.number] = std::move(job);
  }
}

Status load_targets(Database& database, LoadedQueue& queue) {
  TRY(Statement row,
      database.prepare(
          "SELECT job, position, state, source, engine, latency_ms, size_bytes, timings_measured, "
          "timings_reused, fault_code, fault_message, uses, accuracy_rows, sqnr_db, agreement, "
          "top1, float_top1, calibration, note FROM queue_target ORDER BY job, position"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    const uint64_t number = unsigned_column(row, 0);
    const auto job = queue.jobs.find(number);
    if (job == queue.jobs.end()) return unreadable("a target of " + job_id(number) + " has no job");
    TargetRow target;
    TRY(target.state, known(row, 2, TargetState::cancelled, "the state of a target of j", number));
    TRY(target.source, known(row, 3, Source::joined, "the source of a target of j", number));
    if (!row.is_null(4)) target.engine = row.digest(4);
    target.latency_ms = row.real(5);
    target.size_bytes = unsigned_column(row, 6);
    target.timings_measured = unsigned_column(row, 7);
    target.timings_reused = unsigned_column(row, 8);
    if (!row.is_null(9)) target.fault = Fault{static_cast<ErrorCode>(row.integer(9)), row.text(10)};
    TRY(target.uses, decode_uses(row.blob(11)));
    if (const uint64_t rows = unsigned_column(row, 12); rows > 0)
      target.accuracy =
          HeldOutFigures{rows, row.real(13), row.real(14), row.real(15), row.real(16)};
    target.calibration = row.text(17);
    target.note = row.text(18);
    job->second.targets.push_back(std::move(target));
  }
}

Status load_steps(Database& database, LoadedQueue& queue) {
  TRY(Statement row,
      database.prepare(
          "SELECT id, job, kind, key, generation, sku, toolchain, provisional, state, epoch, "
          "worker, "
          "incarnation, device, commits, fault_code, fault_message, assists FROM queue_step "
          "ORDER BY id"));
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
    TRY(step.state, known(row, 8, StepState::quarantined, "the state of step ", step.id));
    step.epoch = unsigned_column(row, 9);
    step.worker = row.text(10);
    step.incarnation = unsigned_column(row, 11);
    step.device = row.text(12);
    step.commits = unsigned_column(row, 13);
    step.fault = {static_cast<ErrorCode>(row.integer(14)), row.text(15)};
    step.assists = unsigned_column(row, 16);
    // Of an assistant that has ended the history may have dropped the step that it assisted.
    if (step.assists != 0 && !is_end(step.state) && !queue.steps.count(step.assists))
      return unreadable("step " + std::to_string(step.id) + " assists a step that is not there");
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
    if (!row.is_null(6)) {
      TRY(attempt.outcome,
          known(row, 6, OutcomeKind::input_gone, "an attempt at step ", attempt.step));
    }
    attempt.message = row.text(7);
    const auto step = queue.steps.find(attempt.step);
    if (step == queue.steps.end())
      return unreadable("an attempt at step " + std::to_string(attempt.step) + " has no step");
    step->second.attempts.push_back(std::move(attempt));
  }
}

Status load_skus(Database& database, LoadedQueue& queue) {
  TRY(Statement row, database.prepare("SELECT sku, kind, toolchain, seen_ns FROM queue_sku"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    queue.skus[{row.text(0), row.text(2)}] = {row.text(0), row.text(1), row.text(2),
                                              row.integer(3)};
  }
}

Status load_troubles(Database& database, LoadedQueue& queue) {
  TRY(Statement row,
      database.prepare("SELECT key, kills, latest_ns, evidence FROM queue_key_trouble"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    queue.troubles[row.digest(0)] = {row.digest(0), static_cast<uint32_t>(row.integer(1)),
                                     row.integer(2), row.text(3)};
  }
}

Status load_quarantines(Database& database, LoadedQueue& queue) {
  TRY(Statement row, database.prepare("SELECT worker, reason, since_ns FROM queue_quarantine"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    queue.quarantines[row.text(0)] = {row.text(0), row.text(1), row.integer(2)};
  }
}

Status load_wishes(Database& database, LoadedQueue& queue) {
  TRY(Statement row, database.prepare("SELECT worker, wish, incarnation FROM queue_wish"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    const auto wish = static_cast<Wish>(row.integer(1));
    if (wish > Wish::resume) return unreadable("a worker's wish is unknown");
    queue.wishes[row.text(0)] = {row.text(0), wish, static_cast<uint64_t>(row.integer(2))};
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
  if (bytes.size() % kUseBytes != 0) return unreadable("a target's uses are cut");
  std::vector<StepUse> uses;
  while (!bytes.empty()) {
    StepUse use;
    use.kind = static_cast<StepKind>(take<uint16_t>(bytes));
    use.source = static_cast<Source>(take<uint16_t>(bytes));
    if (use.source > Source::joined) return unreadable("a target's use has an unknown source");
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
  CHECK_OK(load_troubles(database, queue));
  CHECK_OK(load_quarantines(database, queue));
  CHECK_OK(load_wishes(database, queue));
  return queue;
}

}  // namespace enginery
