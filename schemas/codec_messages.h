// What codes each value and each message: to_wire(struct, builder) and from_wire(reader, struct).
// Inside schemas only; defined in codec_values.cpp, codec_control.cpp and codec_bulk.cpp.
#pragma once

#include <utility>

#include "schemas/codec_fields.h"

namespace enginery {

// Shared values: the plain struct, its struct in values.capnp.
#define ENGINERY_VALUE(Struct, Wire)                     \
  void to_wire(const Struct& from, v::Wire::Builder to); \
  void from_wire(v::Wire::Reader from, Struct& to);
ENGINERY_VALUE(NamedText, NamedText)
ENGINERY_VALUE(NamedNumber, NamedNumber)
ENGINERY_VALUE(NamedBlob, NamedBlob)
ENGINERY_VALUE(Fault, Fault)
ENGINERY_VALUE(StepRef, StepRef)
ENGINERY_VALUE(Progress, Progress)
ENGINERY_VALUE(Outcome, Outcome)
ENGINERY_VALUE(AttemptView, Attempt)
ENGINERY_VALUE(StepView, StepView)
ENGINERY_VALUE(TargetView, TargetView)
ENGINERY_VALUE(JobView, JobView)
ENGINERY_VALUE(JobLine, JobLine)
ENGINERY_VALUE(SkuView, SkuView)
ENGINERY_VALUE(DeviceReading, DeviceReading)
ENGINERY_VALUE(WorkerView, WorkerView)
ENGINERY_VALUE(EngineView, EngineView)
ENGINERY_VALUE(FieldDifference, FieldDifference)
ENGINERY_VALUE(MissView, MissView)
ENGINERY_VALUE(CandidateView, CandidateView)
ENGINERY_VALUE(ExplainView, ExplainView)
ENGINERY_VALUE(BlobState, BlobState)
ENGINERY_VALUE(TimingEntry, TimingEntry)
ENGINERY_VALUE(EventView, EventView)
#undef ENGINERY_VALUE

// Every message of the list.
#define ENGINERY_MESSAGE(Struct, Arm)                                                        \
  void to_wire(const Struct& from,                                                           \
               decltype(std::declval<v::Envelope::Body::Builder&>().init##Arm()) to);        \
  void from_wire(decltype(std::declval<const v::Envelope::Body::Reader&>().get##Arm()) from, \
                 Struct& to);
#include "schemas/messages.inc"

}  // namespace enginery
