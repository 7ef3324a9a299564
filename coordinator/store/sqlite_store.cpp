#include "coordinator/store/sqlite_store.h"

#include "schemas/codec.h"

namespace enginery {
namespace {

template <typename E>
int64_t number(E value) {
  return static_cast<int64_t>(value);
}

class SqliteStore final : public QueueStore {
 public:
  explicit SqliteStore(Catalog& catalog) : catalog_(catalog), database_(catalog.database()) {}

  Result<LoadedQueue> load() override { return load_queue(database_); }

  Status begin() override {
    TRY(Transaction transaction, Transaction::begin(database_));
    transaction_.emplace(std::move(transaction));
    return {};
  }
  Status apply(const RowChange& change) override {
    return std::visit([this](const auto& row) { return write(row); }, change);
  }
  Status commit() override {
    const Status status = transaction_->commit();
    transaction_.reset();
    return status;
  }
  void roll_back() override { transaction_.reset(); }

  Result<StoredAnswer> look_up(const Digest& key) override {
    StoredAnswer answer;
    TRY(const auto found, catalog_.results().lookup(key));
    TRY(answer.next_generation, catalog_.results().next_generation(key));
    if (!found) return answer;
    answer.result = to_step_result(*found);
    return answer;
  }

 private:
  template <typename... Args>
  Status run(std::string_view sql, const Args&... args) {
    TRY(const int64_t changed, database_.execute(sql, args...));
    (void)changed;
    return {};
  }

  Status write(const InsertJob& insert) {
    const JobRow& job = insert.job;
    Envelope envelope;
    envelope.body = job.request;
    TRY(const Bytes request, encode(envelope, kMaxStoredRequest));
    CHECK_OK(
        run("INSERT INTO queue_job(number, request_high, request_low, state, submitted_ns, "
            "ended_ns, request, tenant) "
            "VALUES(?1,?2,?3,?4,?5,?6,?7,?8)",
            job.number, job.request_id.high, job.request_id.low, number(job.state),
            job.submitted_ns, job.ended_ns, as_bytes(request), job.request.tenant));
    for (uint32_t i = 0; i < job.targets.size(); ++i)
      CHECK_OK(write(SaveTarget{job.number, i, job.targets[i]}));
    return {};
  }

  Status write(const UpdateJob& job) {
    return run("UPDATE queue_job SET state=?2, ended_ns=?3 WHERE number=?1", job.number,
               number(job.state), job.ended_ns);
  }

  // The newest step stays, so that its number is not used twice.
  Status write(const ForgetJob& job) {
    CHECK_OK(run("DELETE FROM queue_job WHERE number=?1", job.number));
    for (const uint64_t step : job.steps)
      CHECK_OK(
          run("DELETE FROM queue_step WHERE id=?1 AND id<(SELECT max(id) FROM queue_step)", step));
    return {};
  }

  Status write(const SaveTarget& save) {
    const TargetRow& t = save.target;
    std::optional<int64_t> code;
    std::optional<std::string> message;
    if (t.fault) {
      code = number(t.fault->code);
      message = t.fault->message;
    }
    const Bytes uses = encode_uses(t.uses);
    const HeldOutFigures accuracy = t.accuracy.value_or(HeldOutFigures());
    return run(
        "INSERT OR REPLACE INTO queue_target(job, position, state, source, engine, latency_ms, "
        "size_bytes, "
        "timings_measured, timings_reused, fault_code, fault_message, uses, accuracy_rows, "
        "sqnr_db, agreement, top1, float_top1, calibration, note) "
        "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)",
        save.job, static_cast<int64_t>(save.index), number(t.state), number(t.source), t.engine,
        t.latency_ms, t.size_bytes, t.timings_measured, t.timings_reused, code, message,
        as_bytes(uses), accuracy.rows, accuracy.sqnr_db, accuracy.agreement, accuracy.top1,
        accuracy.float_top1, t.calibration, t.note);
  }

  Status write(const SaveStep& save) {
    const StepRow& s = save.step;
    return run(
        "INSERT INTO queue_step(id, job, kind, key, generation, sku, toolchain, provisional, "
        "state, epoch, worker, "
        "incarnation, device, commits, fault_code, fault_message, assists) "
        "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17) ON CONFLICT(id) DO "
        "UPDATE SET "
        "state=?9, epoch=?10, worker=?11, incarnation=?12, device=?13, commits=?14, "
        "fault_code=?15, fault_message=?16",
        s.id, s.job, number(s.kind), s.key, s.generation, s.sku, s.toolchain, s.provisional,
        number(s.state), s.epoch, s.worker, s.incarnation, s.device, s.commits,
        number(s.fault.code), s.fault.message, s.assists);
  }

  Status write(const SaveAttempt& save) {
    const AttemptRow& a = save.attempt;
    std::optional<int64_t> outcome;
    if (a.outcome) outcome = number(*a.outcome);
    return run(
        "INSERT OR REPLACE INTO queue_attempt(step, epoch, worker, incarnation, started_ns, "
        "ended_ns, outcome, message) "
        "VALUES(?1,?2,?3,?4,?5,?6,?7,?8)",
        a.step, a.epoch, a.worker, a.incarnation, a.started_ns, a.ended_ns, outcome, a.message);
  }

  Status write(const SaveSku& save) {
    return run(
        "INSERT OR REPLACE INTO queue_sku(sku, kind, toolchain, seen_ns) VALUES(?1,?2,?3,?4)",
        save.sku.sku, save.sku.kind, save.sku.toolchain, save.sku.seen_ns);
  }

  Status write(const SaveKeyTrouble& save) {
    const KeyTrouble& trouble = save.trouble;
    if (trouble.kills == 0) return run("DELETE FROM queue_key_trouble WHERE key=?1", trouble.key);
    return run(
        "INSERT OR REPLACE INTO queue_key_trouble(key, kills, latest_ns, evidence) "
        "VALUES(?1,?2,?3,?4)",
        trouble.key, static_cast<int64_t>(trouble.kills), trouble.latest_ns, trouble.evidence);
  }

  Status write(const SaveQuarantine& save) {
    const QuarantinedWorker& held = save.quarantine;
    if (held.reason.empty())
      return run("DELETE FROM queue_quarantine WHERE worker=?1", held.worker);
    return run("INSERT OR REPLACE INTO queue_quarantine(worker, reason, since_ns) VALUES(?1,?2,?3)",
               held.worker, held.reason, held.since_ns);
  }

  Status write(const SaveWish& save) {
    const WorkerWish& wish = save.wish;
    if (wish.wish == Wish::none) return run("DELETE FROM queue_wish WHERE worker=?1", wish.worker);
    return run("INSERT OR REPLACE INTO queue_wish(worker, wish, incarnation) VALUES(?1,?2,?3)",
               wish.worker, number(wish.wish), wish.incarnation);
  }

  Status write(const RecordAction& record) {
    TRY(const ActionKey key, ActionKey::parse(record.key_bytes));
    return catalog_.results().record_action(key);
  }

  Status write(const CommitResult& commit) {
    ActionResult result = to_action_result(commit.key, commit.result);
    result.epoch = static_cast<int64_t>(commit.epoch);
    // already_there: a local build in the same folder was first; its result stays.
    TRY(const Commit done, catalog_.results().commit(result));
    (void)done;
    return list_calibration(commit);
  }

  // What a calibration has seen stays listed, and can be carried to another catalog.
  Status list_calibration(const CommitResult& commit) {
    const NamedBlob* histograms = blob_named(commit.result.outputs, kCalibrationInput);
    if (!commit.result.success || histograms == nullptr) return {};
    TRY(const ActionKey key, catalog_.results().find_action(commit.key));
    return catalog_.calibrations().put(key, histograms->digest);
  }

  Status write(const AddEngine& add) {
    const EngineView& e = add.engine;
    CHECK_OK(
        catalog_.engines().add({e.engine, e.content_digest, e.name, e.model, e.sku, e.precision,
                                e.key, e.size_bytes, e.latency_ms, e.provisional, e.created_ns}));
    for (const std::string& tag : add.tags)
      CHECK_OK(catalog_.engines().set_tag({e.name, tag, e.sku, e.engine, e.created_ns}));
    return {};
  }

  Status write(const AppendEvent& event) {
    TRY(const int64_t sequence,
        catalog_.events().append({0, event.job, catalog_.clock().wall_time().count(), event.kind,
                                  fields_json(event.fields)}));
    (void)sequence;
    return {};
  }

  Catalog& catalog_;
  Database& database_;
  std::optional<Transaction> transaction_;
};

}  // namespace

Result<std::unique_ptr<QueueStore>> make_sqlite_store(Catalog& catalog) {
  CHECK_OK(catalog.database().migrate("coordinator", queue_migrations()));
  return std::unique_ptr<QueueStore>(std::make_unique<SqliteStore>(catalog));
}

}  // namespace enginery
