// What codes each value and each message: to_wire(struct, builder) and from_wire(reader, struct).
// Inside schemas only; defined in codec_values.cpp, codec_control.cpp and codec_bulk.cpp.
#pragma once

#include <utility>

#include "schemas/codec_fields.h"

namespace enginery {

// Shared values.
void to_wire(const NamedText& from, v::NamedText::Builder to);
void from_wire(v::NamedText::Reader from, NamedText& to);
void to_wire(const NamedNumber& from, v::NamedNumber::Builder to);
void from_wire(v::NamedNumber::Reader from, NamedNumber& to);
void to_wire(const NamedBlob& from, v::NamedBlob::Builder to);
void from_wire(v::NamedBlob::Reader from, NamedBlob& to);
void to_wire(const Fault& from, v::Fault::Builder to);
void from_wire(v::Fault::Reader from, Fault& to);
void to_wire(const StepRef& from, v::StepRef::Builder to);
void from_wire(v::StepRef::Reader from, StepRef& to);
void to_wire(const Progress& from, v::Progress::Builder to);
void from_wire(v::Progress::Reader from, Progress& to);
void to_wire(const Outcome& from, v::Outcome::Builder to);
void from_wire(v::Outcome::Reader from, Outcome& to);
void to_wire(const AttemptView& from, v::Attempt::Builder to);
void from_wire(v::Attempt::Reader from, AttemptView& to);
void to_wire(const StepView& from, v::StepView::Builder to);
void from_wire(v::StepView::Reader from, StepView& to);
void to_wire(const TargetView& from, v::TargetView::Builder to);
void from_wire(v::TargetView::Reader from, TargetView& to);
void to_wire(const JobView& from, v::JobView::Builder to);
void from_wire(v::JobView::Reader from, JobView& to);
void to_wire(const JobLine& from, v::JobLine::Builder to);
void from_wire(v::JobLine::Reader from, JobLine& to);
void to_wire(const SkuView& from, v::SkuView::Builder to);
void from_wire(v::SkuView::Reader from, SkuView& to);
void to_wire(const WorkerView& from, v::WorkerView::Builder to);
void from_wire(v::WorkerView::Reader from, WorkerView& to);
void to_wire(const EngineView& from, v::EngineView::Builder to);
void from_wire(v::EngineView::Reader from, EngineView& to);
void to_wire(const FieldDifference& from, v::FieldDifference::Builder to);
void from_wire(v::FieldDifference::Reader from, FieldDifference& to);
void to_wire(const MissView& from, v::MissView::Builder to);
void from_wire(v::MissView::Reader from, MissView& to);
void to_wire(const CandidateView& from, v::CandidateView::Builder to);
void from_wire(v::CandidateView::Reader from, CandidateView& to);
void to_wire(const ExplainView& from, v::ExplainView::Builder to);
void from_wire(v::ExplainView::Reader from, ExplainView& to);
void to_wire(const BlobState& from, v::BlobState::Builder to);
void from_wire(v::BlobState::Reader from, BlobState& to);
void to_wire(const TimingEntry& from, v::TimingEntry::Builder to);
void from_wire(v::TimingEntry::Reader from, TimingEntry& to);

// Every message of the list.
#define ENGINERY_MESSAGE(Struct, Arm)                                                        \
  void to_wire(const Struct& from,                                                           \
               decltype(std::declval<v::Envelope::Body::Builder&>().init##Arm()) to);        \
  void from_wire(decltype(std::declval<const v::Envelope::Body::Reader&>().get##Arm()) from, \
                 Struct& to);
#include "schemas/messages.inc"

}  // namespace enginery
