#include "schemas/codec_values.h"

namespace enginery::codec {

void write(const StepView& from, v::StepView::Builder to) {
  to.setSku(text(from.sku));
  to.setName(text(from.name));
  to.setKey(data(from.key));
  to.setStep(from.step);
  to.setState(static_cast<uint16_t>(from.state));
  to.setSource(static_cast<uint16_t>(from.source));
  to.setEpoch(from.epoch);
  to.setCommits(from.commits);
  write_list(from.attempts, to.initAttempts(count(from.attempts.size())));
}
void read(v::StepView::Reader from, StepView& to) {
  to.sku = text(from.getSku());
  to.name = text(from.getName());
  to.key = digest(from.getKey());
  to.step = from.getStep();
  to.state = enumeration(from.getState(), StepState::quarantined, StepState::waiting);
  to.source = enumeration(from.getSource(), Source::joined, Source::none);
  to.epoch = from.getEpoch();
  to.commits = from.getCommits();
  read_list(from.getAttempts(), to.attempts);
}

void write(const TargetView& from, v::TargetView::Builder to) {
  to.setSku(text(from.sku));
  to.setState(static_cast<uint16_t>(from.state));
  to.setSource(static_cast<uint16_t>(from.source));
  to.setProvisional(from.provisional);
  if (from.engine) to.setEngine(data(*from.engine));
  to.setKey(data(from.key));
  to.setLatencyMs(from.latency_ms);
  to.setSizeBytes(from.size_bytes);
  to.setTimingsMeasured(from.timings_measured);
  to.setTimingsReused(from.timings_reused);
  to.setHasFault(from.fault.has_value());
  if (from.fault) write(*from.fault, to.initFault());
  write(from.progress, to.initProgress());
  to.setNote(text(from.note));
}
void read(v::TargetView::Reader from, TargetView& to) {
  to.sku = text(from.getSku());
  to.state = enumeration(from.getState(), TargetState::cancelled, TargetState::queued);
  to.source = enumeration(from.getSource(), Source::joined, Source::none);
  to.provisional = from.getProvisional();
  to.engine = optional_digest(from.getEngine());
  to.key = digest(from.getKey());
  to.latency_ms = from.getLatencyMs();
  to.size_bytes = from.getSizeBytes();
  to.timings_measured = from.getTimingsMeasured();
  to.timings_reused = from.getTimingsReused();
  if (from.getHasFault()) read(from.getFault(), to.fault.emplace());
  read(from.getProgress(), to.progress);
  to.note = text(from.getNote());
}

void write(const JobView& from, v::JobView::Builder to) {
  to.setId(text(from.id));
  to.setName(text(from.name));
  to.setModelName(text(from.model_name));
  to.setModel(data(from.model));
  to.setState(static_cast<uint16_t>(from.state));
  to.setClient(text(from.client));
  to.setOptions(text(from.options));
  to.setPriority(from.priority);
  write_texts(from.tags, to.initTags(count(from.tags.size())));
  to.setSubmittedNs(from.submitted_ns);
  to.setEndedNs(from.ended_ns);
  write_list(from.targets, to.initTargets(count(from.targets.size())));
  write_list(from.steps, to.initSteps(count(from.steps.size())));
  to.setRevision(from.revision);
}
void read(v::JobView::Reader from, JobView& to) {
  to.id = text(from.getId());
  to.name = text(from.getName());
  to.model_name = text(from.getModelName());
  to.model = digest(from.getModel());
  to.state = enumeration(from.getState(), JobState::cancelled, JobState::submitted);
  to.client = text(from.getClient());
  to.options = text(from.getOptions());
  to.priority = from.getPriority();
  read_texts(from.getTags(), to.tags);
  to.submitted_ns = from.getSubmittedNs();
  to.ended_ns = from.getEndedNs();
  read_list(from.getTargets(), to.targets);
  read_list(from.getSteps(), to.steps);
  to.revision = from.getRevision();
}

void write(const JobLine& from, v::JobLine::Builder to) {
  to.setId(text(from.id));
  to.setModel(text(from.model));
  to.setState(static_cast<uint16_t>(from.state));
  to.setSubmittedNs(from.submitted_ns);
  to.setDone(from.done);
  to.setTotal(from.total);
}
void read(v::JobLine::Reader from, JobLine& to) {
  to.id = text(from.getId());
  to.model = text(from.getModel());
  to.state = enumeration(from.getState(), JobState::cancelled, JobState::submitted);
  to.submitted_ns = from.getSubmittedNs();
  to.done = from.getDone();
  to.total = from.getTotal();
}

void write(const SkuView& from, v::SkuView::Builder to) {
  to.setSku(text(from.sku));
  to.setKind(text(from.kind));
  to.setToolchain(text(from.toolchain));
  to.setWorkers(from.workers);
  to.setIdle(from.idle);
  to.setQueued(from.queued);
}
void read(v::SkuView::Reader from, SkuView& to) {
  to = {text(from.getSku()), text(from.getKind()), text(from.getToolchain()),
        from.getWorkers(),   from.getIdle(),       from.getQueued()};
}

void write(const WorkerView& from, v::WorkerView::Builder to) {
  to.setId(text(from.id));
  to.setSku(text(from.sku));
  to.setState(static_cast<uint16_t>(from.state));
  to.setPid(from.pid);
  to.setHost(text(from.host));
  to.setDevice(text(from.device));
  to.setJob(text(from.job));
  to.setStep(text(from.step));
  to.setLastSeenSeconds(from.last_seen_seconds);
  write(from.progress, to.initProgress());
  to.setHealth(text(from.health));
}
void read(v::WorkerView::Reader from, WorkerView& to) {
  to.id = text(from.getId());
  to.sku = text(from.getSku());
  to.state = enumeration(from.getState(), WorkerCondition::quarantined, WorkerCondition::busy);
  to.pid = from.getPid();
  to.host = text(from.getHost());
  to.device = text(from.getDevice());
  to.job = text(from.getJob());
  to.step = text(from.getStep());
  to.last_seen_seconds = from.getLastSeenSeconds();
  read(from.getProgress(), to.progress);
  to.health = text(from.getHealth());
}

void write(const EngineView& from, v::EngineView::Builder to) {
  to.setName(text(from.name));
  to.setSku(text(from.sku));
  to.setEngine(data(from.engine));
  to.setContentDigest(data(from.content_digest));
  to.setModel(data(from.model));
  to.setKey(data(from.key));
  to.setPrecision(text(from.precision));
  to.setSizeBytes(from.size_bytes);
  to.setLatencyMs(from.latency_ms);
  to.setProvisional(from.provisional);
  to.setCreatedNs(from.created_ns);
  to.setJob(text(from.job));
}
void read(v::EngineView::Reader from, EngineView& to) {
  to.name = text(from.getName());
  to.sku = text(from.getSku());
  to.engine = digest(from.getEngine());
  to.content_digest = digest(from.getContentDigest());
  to.model = digest(from.getModel());
  to.key = digest(from.getKey());
  to.precision = text(from.getPrecision());
  to.size_bytes = from.getSizeBytes();
  to.latency_ms = from.getLatencyMs();
  to.provisional = from.getProvisional();
  to.created_ns = from.getCreatedNs();
  to.job = text(from.getJob());
}

}  // namespace enginery::codec
