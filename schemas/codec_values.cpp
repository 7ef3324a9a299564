#include <cstring>

#include "schemas/codec_messages.h"

namespace enginery {

void read_data(capnp::Data::Reader from, Digest& to) {
  KJ_REQUIRE(from.size() == to.bytes.size(), "a digest has 32 bytes", from.size());
  std::memcpy(to.bytes.data(), from.begin(), from.size());
}

void read_data(capnp::Data::Reader from, std::optional<Digest>& to) {
  to.reset();
  if (from.size() != 0) read_data(from, to.emplace());
}

CODEC(NamedText, NamedText) {
  FIELD(name, Name);
  FIELD(value, Value);
}

CODEC(NamedNumber, NamedNumber) {
  FIELD(name, Name);
  FIELD(value, Value);
}

CODEC(NamedBlob, NamedBlob) {
  FIELD(name, Name);
  FIELD(digest, Digest);
  FIELD(size_bytes, SizeBytes);
}

CODEC(Fault, Fault) {
  FIELD(code, Code);
  FIELD(message, Message);
}

CODEC(StepRef, StepRef) {
  FIELD(job, Job);
  FIELD(step, Step);
  FIELD(epoch, Epoch);
}

CODEC(Progress, Progress) {
  FIELD(phase, Phase);
  FIELD(done, Done);
  FIELD(total, Total);
  FIELD(eta_seconds, EtaSeconds);
}

CODEC(Outcome, Outcome) {
  FIELD(kind, Kind);
  FIELD(fault, Fault);
  FIELD(outputs, Outputs);
  FIELD(metrics, Metrics);
  FIELD(facts, Facts);
}

CODEC(AttemptView, Attempt) {
  FIELD(worker, Worker);
  FIELD(epoch, Epoch);
  FIELD(started_ns, StartedNs);
  FIELD(ended_ns, EndedNs);
  FIELD(outcome, Outcome);
  FIELD(message, Message);
}

CODEC(FieldDifference, FieldDifference) {
  FIELD(field, Field);
  OPTIONAL_FIELD(wanted, HasWanted, Wanted);
  OPTIONAL_FIELD(had, HasHad, Had);
}

CODEC(MissView, MissView) {
  FIELD(key, Key);
  FIELD(nearest, Nearest);
  FIELD(differs, Differs);
  FIELD(sku, Sku);
  FIELD(present, Present);
}

CODEC(CandidateView, CandidateView) {
  FIELD(worker, Worker);
  FIELD(reason, Reason);
}

CODEC(ExplainView, ExplainView) {
  FIELD(sku, Sku);
  FIELD(step, Step);
  FIELD(reason, Reason);
  FIELD(candidates, Candidates);
}

CODEC(BlobState, BlobState) {
  FIELD(digest, Digest);
  FIELD(present, Present);
  FIELD(received_bytes, Received);
  FIELD(size_bytes, SizeBytes);
}

CODEC(TimingEntry, TimingEntry) {
  FIELD(device, Device);
  FIELD(problem, Problem);
  FIELD(tactic, Tactic);
  FIELD(entry, Entry);
  FIELD(measured_ns, MeasuredNs);
}

CODEC(StepView, StepView) {
  FIELD(sku, Sku);
  FIELD(name, Name);
  FIELD(key, Key);
  FIELD(step, Step);
  FIELD(state, State);
  FIELD(source, Source);
  FIELD(epoch, Epoch);
  FIELD(commits, Commits);
  FIELD(attempts, Attempts);
}

CODEC(HeldOutFigures, HeldOutFigures) {
  FIELD(rows, Rows);
  FIELD(sqnr_db, SqnrDb);
  FIELD(agreement, Agreement);
  FIELD(top1, Top1);
  FIELD(float_top1, FloatTop1);
}

CODEC(TargetView, TargetView) {
  FIELD(sku, Sku);
  FIELD(state, State);
  FIELD(source, Source);
  FIELD(provisional, Provisional);
  FIELD(engine, Engine);
  FIELD(key, Key);
  FIELD(latency_ms, LatencyMs);
  FIELD(size_bytes, SizeBytes);
  FIELD(timings_measured, TimingsMeasured);
  FIELD(timings_reused, TimingsReused);
  OPTIONAL_FIELD(fault, HasFault, Fault);
  FIELD(progress, Progress);
  FIELD(note, Note);
  OPTIONAL_FIELD(accuracy, HasAccuracy, Accuracy);
  FIELD(calibration, Calibration);
}

CODEC(JobView, JobView) {
  FIELD(id, Id);
  FIELD(name, Name);
  FIELD(model_name, ModelName);
  FIELD(model, Model);
  FIELD(state, State);
  FIELD(client, Client);
  FIELD(options, Options);
  FIELD(priority, Priority);
  FIELD(tags, Tags);
  FIELD(submitted_ns, SubmittedNs);
  FIELD(ended_ns, EndedNs);
  FIELD(targets, Targets);
  FIELD(steps, Steps);
  FIELD(revision, Revision);
}

CODEC(JobLine, JobLine) {
  FIELD(id, Id);
  FIELD(model, Model);
  FIELD(state, State);
  FIELD(submitted_ns, SubmittedNs);
  FIELD(done, Done);
  FIELD(total, Total);
}

CODEC(ToolchainView, ToolchainView) {
  FIELD(toolchain, Toolchain);
  FIELD(workers, Workers);
  FIELD(idle, Idle);
  FIELD(queued, Queued);
}

CODEC(SkuView, SkuView) {
  FIELD(sku, Sku);
  FIELD(kind, Kind);
  FIELD(toolchain, Toolchain);
  FIELD(workers, Workers);
  FIELD(idle, Idle);
  FIELD(queued, Queued);
  FIELD(toolchains, Toolchains);
}

CODEC(DeviceReading, DeviceReading) {
  FIELD(clock_mhz, ClockMhz);
  FIELD(memory_clock_mhz, MemoryClockMhz);
  FIELD(temperature_c, TemperatureC);
  FIELD(power_w, PowerW);
  FIELD(throttle_bits, ThrottleBits);
}

CODEC(WorkerView, WorkerView) {
  FIELD(id, Id);
  FIELD(sku, Sku);
  FIELD(state, State);
  FIELD(pid, Pid);
  FIELD(host, Host);
  FIELD(device, Device);
  FIELD(job, Job);
  FIELD(step, Step);
  FIELD(last_seen_seconds, LastSeenSeconds);
  FIELD(progress, Progress);
  FIELD(health, Health);
  FIELD(reason, Reason);
  FIELD(reading, Reading);
}

CODEC(EngineView, EngineView) {
  FIELD(name, Name);
  FIELD(sku, Sku);
  FIELD(engine, Engine);
  FIELD(content_digest, ContentDigest);
  FIELD(model, Model);
  FIELD(key, Key);
  FIELD(precision, Precision);
  FIELD(size_bytes, SizeBytes);
  FIELD(latency_ms, LatencyMs);
  FIELD(provisional, Provisional);
  FIELD(created_ns, CreatedNs);
  FIELD(job, Job);
}

CODEC(EventView, EventView) {
  FIELD(sequence, Sequence);
  FIELD(job, Job);
  FIELD(time_ns, TimeNs);
  FIELD(kind, Kind);
  FIELD(fields, Fields);
}

}  // namespace enginery
