// Codec pairs of the shared values: write(value, builder), read(reader, value). Inside schemas
// only.
//
// Readers throw kj::Exception on what does not fit (as Cap'n Proto itself does); codec.cpp catches
// it in one place.
#pragma once

#include <kj/debug.h>

#include "schemas/messages.h"
#include "schemas/values.capnp.h"

namespace enginery::codec {

inline kj::StringPtr text(const std::string& s) {
  return kj::StringPtr(s.c_str(), s.size());
}
inline std::string text(capnp::Text::Reader t) {
  return std::string(t.begin(), t.size());
}
inline capnp::Data::Reader data(const Digest& d) {
  return {d.bytes.data(), d.bytes.size()};
}
inline capnp::Data::Reader data(const Bytes& b) {
  return {reinterpret_cast<const kj::byte*>(b.data()), b.size()};
}
inline Bytes data(capnp::Data::Reader d) {
  return Bytes(reinterpret_cast<const char*>(d.begin()), d.size());
}
Digest digest(capnp::Data::Reader d);
std::optional<Digest> optional_digest(capnp::Data::Reader d);

// A number that this version does not know reads as `otherwise`.
template <typename E>
E enumeration(uint16_t number, E last, E otherwise) {
  return number <= static_cast<uint16_t>(last) ? static_cast<E>(number) : otherwise;
}

template <typename List>
size_t checked_count(const List& list) {
  KJ_REQUIRE(list.size() <= kMaxListCount, "list too long", list.size());
  return list.size();
}

namespace v = schemas;

void write(const NamedText& from, v::NamedText::Builder to);
void read(v::NamedText::Reader from, NamedText& to);
void write(const NamedNumber& from, v::NamedNumber::Builder to);
void read(v::NamedNumber::Reader from, NamedNumber& to);
void write(const NamedBlob& from, v::NamedBlob::Builder to);
void read(v::NamedBlob::Reader from, NamedBlob& to);
void write(const Fault& from, v::Fault::Builder to);
void read(v::Fault::Reader from, Fault& to);
void write(const StepRef& from, v::StepRef::Builder to);
void read(v::StepRef::Reader from, StepRef& to);
void write(const Progress& from, v::Progress::Builder to);
void read(v::Progress::Reader from, Progress& to);
void write(const Outcome& from, v::Outcome::Builder to);
void read(v::Outcome::Reader from, Outcome& to);
void write(const AttemptView& from, v::Attempt::Builder to);
void read(v::Attempt::Reader from, AttemptView& to);
void write(const StepView& from, v::StepView::Builder to);
void read(v::StepView::Reader from, StepView& to);
void write(const TargetView& from, v::TargetView::Builder to);
void read(v::TargetView::Reader from, TargetView& to);
void write(const JobView& from, v::JobView::Builder to);
void read(v::JobView::Reader from, JobView& to);
void write(const JobLine& from, v::JobLine::Builder to);
void read(v::JobLine::Reader from, JobLine& to);
void write(const SkuView& from, v::SkuView::Builder to);
void read(v::SkuView::Reader from, SkuView& to);
void write(const WorkerView& from, v::WorkerView::Builder to);
void read(v::WorkerView::Reader from, WorkerView& to);
void write(const EngineView& from, v::EngineView::Builder to);
void read(v::EngineView::Reader from, EngineView& to);
void write(const FieldDifference& from, v::FieldDifference::Builder to);
void read(v::FieldDifference::Reader from, FieldDifference& to);
void write(const MissView& from, v::MissView::Builder to);
void read(v::MissView::Reader from, MissView& to);
void write(const CandidateView& from, v::CandidateView::Builder to);
void read(v::CandidateView::Reader from, CandidateView& to);
void write(const ExplainView& from, v::ExplainView::Builder to);
void read(v::ExplainView::Reader from, ExplainView& to);
void write(const BlobState& from, v::BlobState::Builder to);
void read(v::BlobState::Reader from, BlobState& to);
void write(const TimingEntry& from, v::TimingEntry::Builder to);
void read(v::TimingEntry::Reader from, TimingEntry& to);

template <typename T, typename ListBuilder>
void write_list(const std::vector<T>& from, ListBuilder to) {
  for (size_t i = 0; i < from.size(); ++i) write(from[i], to[static_cast<unsigned>(i)]);
}
template <typename ListReader, typename T>
void read_list(ListReader from, std::vector<T>& to) {
  to.resize(checked_count(from));
  for (size_t i = 0; i < to.size(); ++i) read(from[static_cast<unsigned>(i)], to[i]);
}
void write_texts(const std::vector<std::string>& from, capnp::List<capnp::Text>::Builder to);
void read_texts(capnp::List<capnp::Text>::Reader from, std::vector<std::string>& to);
void write_digests(const std::vector<Digest>& from, capnp::List<capnp::Data>::Builder to);
void read_digests(capnp::List<capnp::Data>::Reader from, std::vector<Digest>& to);

inline unsigned count(size_t n) {
  return static_cast<unsigned>(n);
}

}  // namespace enginery::codec
