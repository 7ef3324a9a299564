# Values that several messages share. Evolution: add at the end, never renumber, never reuse (schemas/README.md).
@0xb8d1f0a3c6e24951;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("enginery::schemas");

struct NamedText   { name @0 :Text; value @1 :Text; }
struct NamedNumber { name @0 :Text; value @1 :Float64; }
struct NamedBlob   { name @0 :Text; digest @1 :Data; sizeBytes @2 :UInt64; }
struct Fault       { code @0 :UInt16; message @1 :Text; }

struct StepRef { job @0 :Text; step @1 :UInt64; epoch @2 :UInt64; }

struct Progress { phase @0 :Text; done @1 :UInt64; total @2 :UInt64; etaSeconds @3 :Float64; }

# How an attempt at a step ended.
struct Outcome {
  kind @0 :UInt16;
  fault @1 :Fault;
  outputs @2 :List(NamedBlob);
  metrics @3 :List(NamedNumber);
  facts @4 :List(NamedText);
}

struct Attempt {
  worker @0 :Text;
  epoch @1 :UInt64;
  startedNs @2 :Int64;
  endedNs @3 :Int64;
  outcome @4 :Text;
  message @5 :Text;
}

struct StepView {
  sku @0 :Text;
  name @1 :Text;
  key @2 :Data;
  step @3 :UInt64;
  state @4 :UInt16;
  source @5 :UInt16;
  epoch @6 :UInt64;
  commits @7 :UInt64;
  attempts @8 :List(Attempt);
}

struct TargetView {
  sku @0 :Text;
  state @1 :UInt16;
  source @2 :UInt16;
  provisional @3 :Bool;
  engine @4 :Data;
  key @5 :Data;
  latencyMs @6 :Float64;
  sizeBytes @7 :UInt64;
  timingsMeasured @8 :UInt64;
  timingsReused @9 :UInt64;
  hasFault @10 :Bool;
  fault @11 :Fault;
  progress @12 :Progress;
  note @13 :Text;
}

struct JobView {
  id @0 :Text;
  name @1 :Text;
  model @2 :Data;
  state @3 :UInt16;
  client @4 :Text;
  priority @5 :Int32;
  tags @6 :List(Text);
  submittedNs @7 :Int64;
  endedNs @8 :Int64;
  targets @9 :List(TargetView);
  steps @10 :List(StepView);
  revision @11 :UInt64;
  modelName @12 :Text;
  options @13 :Text;
}

struct JobLine {
  id @0 :Text;
  model @1 :Text;
  state @2 :UInt16;
  submittedNs @3 :Int64;
  done @4 :UInt32;
  total @5 :UInt32;
}

struct SkuView {
  sku @0 :Text;
  kind @1 :Text;
  toolchain @2 :Text;
  workers @3 :UInt32;
  idle @4 :UInt32;
  queued @5 :UInt32;
}

struct WorkerView {
  id @0 :Text;
  sku @1 :Text;
  state @2 :UInt16;
  pid @3 :Int64;
  host @4 :Text;
  device @5 :Text;
  job @6 :Text;
  step @7 :Text;
  lastSeenSeconds @8 :Float64;
  progress @9 :Progress;
  health @10 :Text;
}

struct EngineView {
  name @0 :Text;
  sku @1 :Text;
  engine @2 :Data;
  contentDigest @3 :Data;
  model @4 :Data;
  key @5 :Data;
  precision @6 :Text;
  sizeBytes @7 :UInt64;
  latencyMs @8 :Float64;
  provisional @9 :Bool;
  createdNs @10 :Int64;
  job @11 :Text;
}

struct FieldDifference { field @0 :Text; hasWanted @1 :Bool; wanted @2 :Text; hasHad @3 :Bool; had @4 :Text; }
struct MissView {
  key @0 :Data;
  nearest @1 :Data;     # empty: nothing of that kind is stored
  differs @2 :List(FieldDifference);
  sku @3 :Text;
  present @4 :Bool;     # the key itself has a result: no miss
}

struct CandidateView { worker @0 :Text; reason @1 :Text; }
struct ExplainView { sku @0 :Text; step @1 :Text; reason @2 :Text; candidates @3 :List(CandidateView); }

struct BlobState { digest @0 :Data; present @1 :Bool; received @2 :UInt64; sizeBytes @3 :UInt64; }

struct TimingEntry { device @0 :Data; problem @1 :Data; tactic @2 :Text; entry @3 :Text; measuredNs @4 :Int64; }
