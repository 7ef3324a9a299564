#include "schemas/codec_values.h"

#include <cstring>

namespace enginery::codec {

Digest digest(capnp::Data::Reader d) {
  Digest out;
  KJ_REQUIRE(d.size() == out.bytes.size(), "a digest has 32 bytes", d.size());
  std::memcpy(out.bytes.data(), d.begin(), d.size());
  return out;
}

std::optional<Digest> optional_digest(capnp::Data::Reader d) {
  if (d.size() == 0) return std::nullopt;
  return digest(d);
}

void write_texts(const std::vector<std::string>& from, capnp::List<capnp::Text>::Builder to) {
  for (size_t i = 0; i < from.size(); ++i) to.set(count(i), text(from[i]));
}
void read_texts(capnp::List<capnp::Text>::Reader from, std::vector<std::string>& to) {
  to.resize(checked_count(from));
  for (size_t i = 0; i < to.size(); ++i) to[i] = text(from[count(i)]);
}
void write_digests(const std::vector<Digest>& from, capnp::List<capnp::Data>::Builder to) {
  for (size_t i = 0; i < from.size(); ++i) to.set(count(i), data(from[i]));
}
void read_digests(capnp::List<capnp::Data>::Reader from, std::vector<Digest>& to) {
  to.resize(checked_count(from));
  for (size_t i = 0; i < to.size(); ++i) to[i] = digest(from[count(i)]);
}

void write(const NamedText& from, v::NamedText::Builder to) {
  to.setName(text(from.name));
  to.setValue(text(from.value));
}
void read(v::NamedText::Reader from, NamedText& to) {
  to = {text(from.getName()), text(from.getValue())};
}

void write(const NamedNumber& from, v::NamedNumber::Builder to) {
  to.setName(text(from.name));
  to.setValue(from.value);
}
void read(v::NamedNumber::Reader from, NamedNumber& to) {
  to = {text(from.getName()), from.getValue()};
}

void write(const NamedBlob& from, v::NamedBlob::Builder to) {
  to.setName(text(from.name));
  to.setDigest(data(from.digest));
  to.setSizeBytes(from.size_bytes);
}
void read(v::NamedBlob::Reader from, NamedBlob& to) {
  to = {text(from.getName()), digest(from.getDigest()), from.getSizeBytes()};
}

void write(const Fault& from, v::Fault::Builder to) {
  to.setCode(static_cast<uint16_t>(from.code));
  to.setMessage(text(from.message));
}
void read(v::Fault::Reader from, Fault& to) {
  to.code = enumeration(from.getCode(), kLastErrorCode, ErrorCode::internal);
  to.message = text(from.getMessage());
}

void write(const StepRef& from, v::StepRef::Builder to) {
  to.setJob(text(from.job));
  to.setStep(from.step);
  to.setEpoch(from.epoch);
}
void read(v::StepRef::Reader from, StepRef& to) {
  to = {text(from.getJob()), from.getStep(), from.getEpoch()};
}

void write(const Progress& from, v::Progress::Builder to) {
  to.setPhase(text(from.phase));
  to.setDone(from.done);
  to.setTotal(from.total);
  to.setEtaSeconds(from.eta_seconds);
}
void read(v::Progress::Reader from, Progress& to) {
  to = {text(from.getPhase()), from.getDone(), from.getTotal(), from.getEtaSeconds()};
}

void write(const Outcome& from, v::Outcome::Builder to) {
  to.setKind(static_cast<uint16_t>(from.kind));
  write(from.fault, to.initFault());
  write_list(from.outputs, to.initOutputs(count(from.outputs.size())));
  write_list(from.metrics, to.initMetrics(count(from.metrics.size())));
  write_list(from.facts, to.initFacts(count(from.facts.size())));
}
void read(v::Outcome::Reader from, Outcome& to) {
  to.kind = enumeration(from.getKind(), OutcomeKind::internal, OutcomeKind::internal);
  read(from.getFault(), to.fault);
  read_list(from.getOutputs(), to.outputs);
  read_list(from.getMetrics(), to.metrics);
  read_list(from.getFacts(), to.facts);
}

void write(const AttemptView& from, v::Attempt::Builder to) {
  to.setWorker(text(from.worker));
  to.setEpoch(from.epoch);
  to.setStartedNs(from.started_ns);
  to.setEndedNs(from.ended_ns);
  to.setOutcome(text(from.outcome));
  to.setMessage(text(from.message));
}
void read(v::Attempt::Reader from, AttemptView& to) {
  to = {text(from.getWorker()), from.getEpoch(),         from.getStartedNs(),
        from.getEndedNs(),      text(from.getOutcome()), text(from.getMessage())};
}

void write(const FieldDifference& from, v::FieldDifference::Builder to) {
  to.setField(text(from.field));
  to.setHasWanted(from.wanted.has_value());
  if (from.wanted) to.setWanted(text(*from.wanted));
  to.setHasHad(from.had.has_value());
  if (from.had) to.setHad(text(*from.had));
}
void read(v::FieldDifference::Reader from, FieldDifference& to) {
  to.field = text(from.getField());
  if (from.getHasWanted()) to.wanted = text(from.getWanted());
  if (from.getHasHad()) to.had = text(from.getHad());
}

void write(const MissView& from, v::MissView::Builder to) {
  to.setKey(data(from.key));
  if (from.nearest) to.setNearest(data(*from.nearest));
  write_list(from.differs, to.initDiffers(count(from.differs.size())));
  to.setSku(text(from.sku));
  to.setPresent(from.present);
}
void read(v::MissView::Reader from, MissView& to) {
  to.key = digest(from.getKey());
  to.nearest = optional_digest(from.getNearest());
  read_list(from.getDiffers(), to.differs);
  to.sku = text(from.getSku());
  to.present = from.getPresent();
}

void write(const CandidateView& from, v::CandidateView::Builder to) {
  to.setWorker(text(from.worker));
  to.setReason(text(from.reason));
}
void read(v::CandidateView::Reader from, CandidateView& to) {
  to = {text(from.getWorker()), text(from.getReason())};
}

void write(const ExplainView& from, v::ExplainView::Builder to) {
  to.setSku(text(from.sku));
  to.setStep(text(from.step));
  to.setReason(text(from.reason));
  write_list(from.candidates, to.initCandidates(count(from.candidates.size())));
}
void read(v::ExplainView::Reader from, ExplainView& to) {
  to.sku = text(from.getSku());
  to.step = text(from.getStep());
  to.reason = text(from.getReason());
  read_list(from.getCandidates(), to.candidates);
}

void write(const BlobState& from, v::BlobState::Builder to) {
  to.setDigest(data(from.digest));
  to.setPresent(from.present);
  to.setReceived(from.received_bytes);
  to.setSizeBytes(from.size_bytes);
}
void read(v::BlobState::Reader from, BlobState& to) {
  to = {digest(from.getDigest()), from.getPresent(), from.getReceived(), from.getSizeBytes()};
}

void write(const TimingEntry& from, v::TimingEntry::Builder to) {
  to.setDevice(data(from.device));
  to.setProblem(data(from.problem));
  to.setTactic(text(from.tactic));
  to.setEntry(text(from.entry));
  to.setMeasuredNs(from.measured_ns);
}
void read(v::TimingEntry::Reader from, TimingEntry& to) {
  to = {digest(from.getDevice()), digest(from.getProblem()), text(from.getTactic()),
        text(from.getEntry()), from.getMeasuredNs()};
}

}  // namespace enginery::codec
