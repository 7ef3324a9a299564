#include "schemas/codec_messages.h"

namespace enginery {

CODEC(ErrorReply, ErrorReply) {
  FIELD(fault, Fault);
}

CODEC(Hello, Hello) {
  FIELD(role, Role);
  FIELD(name, Name);
  FIELD(least_version, LeastVersion);
  FIELD(greatest_version, GreatestVersion);
  FIELD(software, Software);
  FIELD(pid, Pid);
}

CODEC(Welcome, Welcome) {
  FIELD(version, Version);
  FIELD(bulk_address, BulkAddress);
  FIELD(software, Software);
  FIELD(pid, Pid);
  FIELD(incarnation, Incarnation);
  FIELD(public_key, PublicKey);
}

CODEC(TargetRequest, TargetRequest) {
  FIELD(sku, Sku);
  FIELD(toolchain, Toolchain);
  FIELD(engine_key, EngineKey);
  FIELD(tune_key, TuneKey);
  FIELD(provisional, Provisional);
}

CODEC(SubmitRequest, Submit) {
  FIELD(client, Client);
  FIELD(name, Name);
  FIELD(model_name, ModelName);
  FIELD(model, Model);
  FIELD(inputs, Inputs);
  FIELD(options, Options);
  FIELD(validate_key, ValidateKey);
  FIELD(targets, Targets);
  FIELD(priority, Priority);
  FIELD(tags, Tags);
  FIELD(rebuild, Rebuild);
  FIELD(wait_for_workers, WaitForWorkers);
  FIELD(dry_run, DryRun);
  FIELD(try_quarantined, TryQuarantined);
  FIELD(tuning_workers, TuningWorkers);
}

CODEC(JobReply, JobReply) {
  FIELD(job, Job);
}

CODEC(ListJobs, ListJobs) {
  FIELD(limit, Limit);
  FIELD(before, Before);
}

CODEC(JobList, JobList) {
  FIELD(jobs, Jobs);
}

CODEC(ShowJob, ShowJob) {
  FIELD(job, Job);
}

CODEC(WaitJob, WaitJob) {
  FIELD(job, Job);
  FIELD(known_revision, KnownRevision);
  FIELD(hold_ms, HoldMs);
  FIELD(until_end, UntilEnd);
}

CODEC(CancelJob, CancelJob) {
  FIELD(job, Job);
}

CODEC(ExplainJob, ExplainJob) {
  FIELD(job, Job);
}

CODEC(ExplainReply, ExplainReply) {
  FIELD(targets, Targets);
}

CODEC(FindEngines, FindEngines) {
  FIELD(name, Name);
  FIELD(tag, Tag);
  FIELD(sku, Sku);
  FIELD(limit, Limit);
}

CODEC(EngineList, EngineList) {
  FIELD(engines, Engines);
}

CODEC(WhyMiss, WhyMiss) {
  FIELD(subject, Subject);
}

CODEC(WhyMissReply, WhyMissReply) {
  FIELD(misses, Misses);
}

CODEC(SkuList, SkuList) {
  FIELD(skus, Skus);
}

CODEC(WorkerList, WorkerList) {
  FIELD(workers, Workers);
}

CODEC(DrainWorker, DrainWorker) {
  FIELD(worker, Worker);
  FIELD(exit, Exit);
}

CODEC(UndrainWorker, UndrainWorker) {
  FIELD(worker, Worker);
}

CODEC(ForgetWorker, ForgetWorker) {
  FIELD(worker, Worker);
}

CODEC(Done, Done) {}

CODEC(ListSkus, ListSkus) {}

CODEC(ListWorkers, ListWorkers) {}

CODEC(AskCatalog, AskCatalog) {
  FIELD(action, Action);
  FIELD(words, Words);
  FIELD(options, Options);
}

CODEC(OrderCatalog, OrderCatalog) {
  FIELD(action, Action);
  FIELD(words, Words);
  FIELD(options, Options);
}

CODEC(CatalogAnswer, CatalogAnswer) {
  FIELD(json, Json);
}

// ---- the workers' protocol

CODEC(Running, WorkerState::Running) {
  FIELD(ref, Ref);
  FIELD(progress, Progress);
}

CODEC(Finished, WorkerState::Finished) {
  FIELD(ref, Ref);
  FIELD(outcome, Outcome);
}

void to_wire(const WorkerState& from, v::WorkerState::Builder to) {
  if (const auto* running = std::get_if<Running>(&from))
    to_wire(*running, to.initRunning());
  else if (const auto* finished = std::get_if<Finished>(&from))
    to_wire(*finished, to.initFinished());
  else
    to.setIdle();
}
void from_wire(v::WorkerState::Reader from, WorkerState& to) {
  switch (from.which()) {
    case v::WorkerState::IDLE:
      to = Idle{};
      return;
    case v::WorkerState::RUNNING:
      return from_wire(from.getRunning(), to.emplace<Running>());
    case v::WorkerState::FINISHED:
      return from_wire(from.getFinished(), to.emplace<Finished>());
  }
  KJ_FAIL_REQUIRE("unknown worker state");
}

CODEC(SyncRequest, Sync) {
  FIELD(worker, Worker);
  FIELD(incarnation, Incarnation);
  FIELD(sequence, Sequence);
  FIELD(sku, Sku);
  FIELD(kind, Kind);
  FIELD(toolchain, Toolchain);
  FIELD(device, Device);
  FIELD(host, Host);
  FIELD(pid, Pid);
  FIELD(state, State);
  FIELD(health, Health);
  FIELD(prefer_idle, PreferIdle);
  FIELD(compiles_for, CompilesFor);
  FIELD(examined, Examined);
  FIELD(exam_problem, ExamProblem);
  FIELD(reading, Reading);
}

CODEC(RunStep, RunStep) {
  FIELD(ref, Ref);
  FIELD(kind, Kind);
  FIELD(key, Key);
  FIELD(sku, Sku);
  FIELD(name, Name);
  FIELD(model_name, ModelName);
  FIELD(model, Model);
  FIELD(options, Options);
  FIELD(inputs, Inputs);
  FIELD(engine_key, EngineKey);
  FIELD(facts, Facts);
  FIELD(provisional, Provisional);
  FIELD(assistant, Assistant);
}

CODEC(TakeProblem, TakeProblem) {
  FIELD(worker, Worker);
  FIELD(incarnation, Incarnation);
  FIELD(ref, Ref);
  FIELD(problem, Problem);
  FIELD(left, Left);
}

CODEC(ProblemTaken, ProblemTaken) {
  FIELD(taken, Taken);
  FIELD(sharers, Sharers);
}

namespace {

struct DesiredWriter {
  v::SyncReply::Desired::Builder to;
  void operator()(const Keep&) { to.setKeep(); }
  void operator()(const BeIdle&) { to.setIdle(); }
  void operator()(const RunStep& run) { to_wire(run, to.initRun()); }
  void operator()(const Cancel& cancel) { to_wire(cancel.ref, to.initCancel()); }
  void operator()(const Drain&) { to.setDrain(); }
  void operator()(const Exit&) { to.setExit(); }
  void operator()(const Examine& examine) { to.setExamine(examine.number); }
  void operator()(const Resume&) { to.setResume(); }
};

}  // namespace

void to_wire(const Desired& from, v::SyncReply::Desired::Builder to) {
  std::visit(DesiredWriter{to}, from);
}
void from_wire(v::SyncReply::Desired::Reader from, Desired& to) {
  switch (from.which()) {
    case v::SyncReply::Desired::KEEP:
      to = Keep{};
      return;
    case v::SyncReply::Desired::IDLE:
      to = BeIdle{};
      return;
    case v::SyncReply::Desired::RUN:
      return from_wire(from.getRun(), to.emplace<RunStep>());
    case v::SyncReply::Desired::CANCEL:
      return from_wire(from.getCancel(), to.emplace<Cancel>().ref);
    case v::SyncReply::Desired::DRAIN:
      to = Drain{};
      return;
    case v::SyncReply::Desired::EXIT:
      to = Exit{};
      return;
    case v::SyncReply::Desired::EXAMINE:
      to = Examine{from.getExamine()};
      return;
    case v::SyncReply::Desired::RESUME:
      to = Resume{};
      return;
  }
  to = Keep{};  // what a newer coordinator desires: the safe choice is to go on
}

CODEC(SyncReply, SyncReply) {
  FIELD(next_sync_ms, NextSyncMs);
  FIELD(desired, Desired);
}

CODEC(ListEvents, ListEvents) {
  FIELD(job, Job);
  FIELD(after, After);
  FIELD(since_ns, SinceNs);
  FIELD(limit, Limit);
  FIELD(hold_ms, HoldMs);
}

CODEC(EventList, EventList) {
  FIELD(events, Events);
  FIELD(next, Next);
  FIELD(more, More);
}

CODEC(MakeSet, MakeSet) {
  FIELD(name, Name);
  FIELD(tag, Tag);
}

CODEC(SetReply, SetReply) {
  FIELD(set, Set);
}

CODEC(JoinFarm, Join) {
  FIELD(public_key, PublicKey);
  FIELD(name, Name);
}
CODEC(Joined, Joined) {
  FIELD(name, Name);
}

}  // namespace enginery
