#include "schemas/codec_messages.h"

namespace enginery::codec {
namespace {

void write_state(const WorkerState& from, v::WorkerState::Builder to) {
  if (const auto* running = std::get_if<Running>(&from)) {
    auto arm = to.initRunning();
    write(running->ref, arm.initRef());
    write(running->progress, arm.initProgress());
  } else if (const auto* finished = std::get_if<Finished>(&from)) {
    auto arm = to.initFinished();
    write(finished->ref, arm.initRef());
    write(finished->outcome, arm.initOutcome());
  } else {
    to.setIdle();
  }
}

WorkerState read_state(v::WorkerState::Reader from) {
  switch (from.which()) {
    case v::WorkerState::IDLE:
      return Idle{};
    case v::WorkerState::RUNNING: {
      Running running;
      read(from.getRunning().getRef(), running.ref);
      read(from.getRunning().getProgress(), running.progress);
      return running;
    }
    case v::WorkerState::FINISHED: {
      Finished finished;
      read(from.getFinished().getRef(), finished.ref);
      read(from.getFinished().getOutcome(), finished.outcome);
      return finished;
    }
  }
  KJ_FAIL_REQUIRE("unknown worker state");
}

}  // namespace

void write(const SyncRequest& from, v::Sync::Builder to) {
  to.setWorker(text(from.worker));
  to.setIncarnation(from.incarnation);
  to.setSequence(from.sequence);
  to.setSku(text(from.sku));
  to.setKind(text(from.kind));
  to.setToolchain(text(from.toolchain));
  to.setDevice(text(from.device));
  to.setHost(text(from.host));
  to.setPid(from.pid);
  write_state(from.state, to.initState());
  to.setHealth(text(from.health));
  to.setPreferIdle(from.prefer_idle);
  write_texts(from.compiles_for, to.initCompilesFor(count(from.compiles_for.size())));
}
void read(v::Sync::Reader from, SyncRequest& to) {
  to.worker = text(from.getWorker());
  to.incarnation = from.getIncarnation();
  to.sequence = from.getSequence();
  to.sku = text(from.getSku());
  to.kind = text(from.getKind());
  to.toolchain = text(from.getToolchain());
  to.device = text(from.getDevice());
  to.host = text(from.getHost());
  to.pid = from.getPid();
  to.state = read_state(from.getState());
  to.health = text(from.getHealth());
  to.prefer_idle = from.getPreferIdle();
  read_texts(from.getCompilesFor(), to.compiles_for);
}

void write(const RunStep& from, v::RunStep::Builder to) {
  write(from.ref, to.initRef());
  to.setKind(text(from.kind));
  to.setKey(data(from.key));
  to.setSku(text(from.sku));
  to.setName(text(from.name));
  to.setModelName(text(from.model_name));
  to.setModel(data(from.model));
  to.setOptions(text(from.options));
  write_list(from.inputs, to.initInputs(count(from.inputs.size())));
  to.setEngineKey(data(from.engine_key));
  write_list(from.facts, to.initFacts(count(from.facts.size())));
  to.setProvisional(from.provisional);
}
void read(v::RunStep::Reader from, RunStep& to) {
  read(from.getRef(), to.ref);
  to.kind = text(from.getKind());
  to.key = digest(from.getKey());
  to.sku = text(from.getSku());
  to.name = text(from.getName());
  to.model_name = text(from.getModelName());
  to.model = digest(from.getModel());
  to.options = text(from.getOptions());
  read_list(from.getInputs(), to.inputs);
  to.engine_key = digest(from.getEngineKey());
  read_list(from.getFacts(), to.facts);
  to.provisional = from.getProvisional();
}

void write(const SyncReply& from, v::SyncReply::Builder to) {
  to.setNextSyncMs(from.next_sync_ms);
  auto desired = to.getDesired();
  switch (from.desired.index()) {
    case 0:
      desired.setKeep();
      break;
    case 1:
      desired.setIdle();
      break;
    case 2:
      write(std::get<RunStep>(from.desired), desired.initRun());
      break;
    case 3:
      write(std::get<Cancel>(from.desired).ref, desired.initCancel());
      break;
    case 4:
      desired.setDrain();
      break;
    case 5:
      desired.setExit();
      break;
  }
}
void read(v::SyncReply::Reader from, SyncReply& to) {
  to.next_sync_ms = from.getNextSyncMs();
  const auto desired = from.getDesired();
  switch (desired.which()) {
    case v::SyncReply::Desired::KEEP:
      to.desired = Keep{};
      return;
    case v::SyncReply::Desired::IDLE:
      to.desired = BeIdle{};
      return;
    case v::SyncReply::Desired::RUN:
      read(desired.getRun(), to.desired.emplace<RunStep>());
      return;
    case v::SyncReply::Desired::CANCEL:
      read(desired.getCancel(), to.desired.emplace<Cancel>().ref);
      return;
    case v::SyncReply::Desired::DRAIN:
      to.desired = Drain{};
      return;
    case v::SyncReply::Desired::EXIT:
      to.desired = Exit{};
      return;
  }
  to.desired = Keep{};  // a wish of a newer coordinator: the safe one
}

}  // namespace enginery::codec
