# Values that several messages share. A field's comment is written from its sender's point of view: what I, who fill it
# in, promise. Evolution: add at the end, never renumber, never reuse (schemas/README.md).
#
# Everywhere: a digest is the 32 bytes of a SHA-256; an optional digest is empty when there is none. `...Ns` are
# nanoseconds since the Unix epoch, `...Ms` milliseconds, `...Bytes` bytes. A state, source or kind is the number of an
# enumerator in values.h; a number that the reader does not know reads as that enumeration's safe value.
@0xb8d1f0a3c6e24951;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("enginery::schemas");

# A fact as text: a field of a key, a fact that a step found out.
struct NamedText {
  name @0 :Text;              # lower case; means the same in every message
  value @1 :Text;             # usually UTF-8; any bytes are allowed
}

# A measured number of a step.
struct NamedNumber {
  name @0 :Text;              # with its unit: latency_ms, content_bytes
  value @1 :Float64;          # in that unit
}

# A blob and what it is for.
struct NamedBlob {
  name @0 :Text;              # its role: "model", "choices", "engine"
  digest @1 :Data;            # of its bytes; I have uploaded it before I name it
  sizeBytes @2 :UInt64;       # of the whole blob
}

# An error that travels and is stored.
struct Fault {
  code @0 :UInt16;            # ErrorCode of engine/base/result.h
  message @1 :Text;           # for people: what was attempted, on what, and what was expected
}

# Names a lease of a step. Whoever reports on the step sends back the one that it was given.
struct StepRef {
  job @0 :Text;               # one of the jobs that want the step; for people and logs
  step @1 :UInt64;            # the coordinator's number of the step, never reused
  epoch @2 :UInt64;           # grows by one with every lease of the step; an older one never commits
}

# How far a running step is.
struct Progress {
  phase @0 :Text;             # what I do now, for people: "tuning"
  done @1 :UInt64;            # units of work behind me; the unit is the phase's own
  total @2 :UInt64;           # units of the phase; 0: I do not know
  etaSeconds @3 :Float64;     # my estimate until the step's end; 0: I do not know
}

# How an attempt at a step ended.
struct Outcome {
  kind @0 :UInt16;            # OutcomeKind: the retry rules go by it
  fault @1 :Fault;            # why; only read when kind is not `succeeded`
  outputs @2 :List(NamedBlob);    # what I leave; all uploaded before I say so
  metrics @3 :List(NamedNumber);  # what I measured
  facts @4 :List(NamedText);      # what I found out and later steps need
}

# One try of a step, for people.
struct Attempt {
  worker @0 :Text;            # who had the lease
  epoch @1 :UInt64;           # of that lease
  startedNs @2 :Int64;        # when it was leased
  endedNs @3 :Int64;          # 0: it still runs
  outcome @4 :Text;           # the OutcomeKind's word; "" while it runs
  message @5 :Text;           # of its fault, cut to 500 bytes
}

# A step as people see it.
struct StepView {
  sku @0 :Text;               # "" for validate, which all targets share
  name @1 :Text;              # the step's kind: "tune"
  key @2 :Data;               # digest of every fact that can change its result
  step @3 :UInt64;            # 0: answered from the catalog without an execution
  state @4 :UInt16;           # StepState
  source @5 :UInt16;          # Source: where its result comes from
  epoch @6 :UInt64;           # of its latest lease; 0: never leased
  commits @7 :UInt64;         # results written for it: 0 or 1, unless something is broken
  attempts @8 :List(Attempt); # the latest 50, oldest first
}

# How near an engine comes to the float model on held-out rows. Percentages: negative where unknown.
struct HeldOutFigures {
  rows @0 :UInt64;           # how many were run
  sqnrDb @1 :Float64;         # signal to noise of the worst output
  agreement @2 :Float64;      # rows of the float model's first class
  top1 @3 :Float64;           # rows of the labels' class
  floatTop1 @4 :Float64;      # the same of the float model
}

# One SKU's engine of a job.
struct TargetView {
  sku @0 :Text;               # as it was submitted
  state @1 :UInt16;           # TargetState
  source @2 :UInt16;          # Source; `none` until it is decided
  provisional @3 :Bool;       # untuned, built by a worker without the device
  engine @4 :Data;            # the signed engine's blob; empty until it is done
  key @5 :Data;               # of the engine: what a later submit is answered by
  latencyMs @6 :Float64;      # median of one inference; 0: not measured
  sizeBytes @7 :UInt64;       # of the engine; 0 until it is done
  timingsMeasured @8 :UInt64; # tactic timings that this build measured
  timingsReused @9 :UInt64;   # and those that it found in the catalog
  hasFault @10 :Bool;         # whether `fault` says anything
  fault @11 :Fault;           # why the target failed
  progress @12 :Progress;     # of the step that it waits for
  note @13 :Text;             # one sentence for people: what it waits for, or what its engine is
  hasAccuracy @14 :Bool;      # whether `accuracy` says anything
  accuracy @15 :HeldOutFigures; # on the rows that the job brought
  calibration @16 :Text;      # digest of the table or the histograms; "": there was none
}

# A job as people see it.
struct JobView {
  id @0 :Text;                # "j17"; "" for a dry run
  name @1 :Text;              # what the engines are called
  model @2 :Data;             # the submitted model's blob
  state @3 :UInt16;           # JobState
  client @4 :Text;            # whose fair share it counts to
  priority @5 :Int32;         # 100 more doubles the job's share
  tags @6 :List(Text);        # put on the engines when they are done
  submittedNs @7 :Int64;      # when I took it
  endedNs @8 :Int64;          # 0: it has not ended
  targets @9 :List(TargetView);   # one a SKU, in the order of the submit
  steps @10 :List(StepView);  # only in the answer to showJob
  revision @11 :UInt64;       # grows with every change; what waitJob compares
  modelName @12 :Text;        # the file name that was submitted
  options @13 :Text;          # the build's options, canonical JSON, as submitted
}

# A job in a list.
struct JobLine {
  id @0 :Text;                # "j17"
  model @1 :Text;             # the job's name
  state @2 :UInt16;           # JobState
  submittedNs @3 :Int64;      # when I took it
  done @4 :UInt32;            # targets that have ended, successfully or not
  total @5 :UInt32;           # targets
}

# A device type that workers have offered.
struct SkuView {
  sku @0 :Text;               # its name: "h200"
  kind @1 :Text;              # "cuda" or "cpu"
  toolchain @2 :Text;         # the one that most of its workers have
  workers @3 :UInt32;         # workers that are connected now
  idle @4 :UInt32;            # of these: without work and willing to take some
  queued @5 :UInt32;          # steps that wait for one of them
  toolchains @6 :List(ToolchainView); # all that were offered, the one of most workers first
}

# The workers of a device type that have the same toolchain.
struct ToolchainView {
  toolchain @0 :Text;         # as in the keys that they can serve
  workers @1 :UInt32;         # of these workers as in SkuView
  idle @2 :UInt32;            # likewise
  queued @3 :UInt32;          # likewise
}

# A worker as the coordinator sees it.
struct WorkerView {
  id @0 :Text;                # its stable name: "host/h200"
  sku @1 :Text;               # what it builds for
  state @2 :UInt16;           # WorkerCondition
  pid @3 :Int64;              # of its process, on its host
  host @4 :Text;              # its host's name
  device @5 :Text;            # the physical device that it measures on
  job @6 :Text;               # a job that wants what it runs; "" when it runs nothing
  step @7 :Text;              # the kind of the step that it runs; ""
  lastSeenSeconds @8 :Float64;    # since its last sync
  progress @9 :Progress;      # of the step that it runs
  health @10 :Text;           # its own words, JSON, cut to 200 bytes
  reason @11 :Text;           # why it is quarantined; "" when it is not
  reading @12 :DeviceReading; # of its device, with its last sync
}

# What a device's sensors say. 0: it does not say.
struct DeviceReading {
  clockMhz @0 :Float64;       # of its cores
  memoryClockMhz @1 :Float64; # of its memory
  temperatureC @2 :Float64;   # degrees Celsius
  powerW @3 :Float64;         # watts
  throttleBits @4 :UInt64;    # why it is slower than it could be, as NVML numbers the reasons
}

# An engine of the catalog.
struct EngineView {
  name @0 :Text;              # as submitted; an engine may have several names, this is the one that was asked for
  sku @1 :Text;               # what it runs on
  engine @2 :Data;            # its file's blob
  contentDigest @3 :Data;     # without signature and provenance: equal for engines that do the same
  model @4 :Data;             # the blob that it was built from
  key @5 :Data;               # of the action that made it
  precision @6 :Text;         # the coarsest arithmetic in it: "fp32", "fp16"
  sizeBytes @7 :UInt64;       # of its file
  latencyMs @8 :Float64;      # median of one inference; 0: not measured
  provisional @9 :Bool;       # untuned
  createdNs @10 :Int64;       # when it came into the catalog
  job @11 :Text;              # the job that was asked for; "" when something else was
}

# A field in which a wanted key and a stored one differ.
struct FieldDifference {
  field @0 :Text;             # its name in the key
  hasWanted @1 :Bool;         # whether the wanted key has it at all
  wanted @2 :Text;            # its value there
  hasHad @3 :Bool;            # whether the stored key has it at all
  had @4 :Text;               # its value there
}

# Why a key has no result.
struct MissView {
  key @0 :Data;               # the key that was asked about
  nearest @1 :Data;           # the stored action of that kind that differs least; empty: there is none
  differs @2 :List(FieldDifference);  # in what; empty without a nearest
  sku @3 :Text;               # the key's own
  present @4 :Bool;           # the key itself has a result: no miss
}

# Why one worker does or does not take a step.
struct CandidateView {
  worker @0 :Text;            # its name
  reason @1 :Text;            # one sentence
}

# Why a target waits.
struct ExplainView {
  sku @0 :Text;               # the target's
  step @1 :Text;              # the kind of the step that it waits for; "" when for none
  reason @2 :Text;            # one sentence
  candidates @3 :List(CandidateView); # one a worker that could matter
}

# What the store has of a blob.
struct BlobState {
  digest @0 :Data;            # the blob that was asked about
  present @1 :Bool;           # it is there, whole
  received @2 :UInt64;        # bytes of an unfinished upload: where to go on; 0 when present
  sizeBytes @3 :UInt64;       # of the blob; 0 unless present
}

# A row of the timing cache.
struct TimingEntry {
  device @0 :Data;            # digest of the device key (device and its software)
  problem @1 :Data;           # digest of the problem key
  tactic @2 :Text;            # the tactic's id
  entry @3 :Text;             # samples or failure, and the device's state: the tuner's JSON, opaque to everyone else
  measuredNs @4 :Int64;       # when; of two rows for the same three the later one stays
}

# A line of the event journal.
struct EventView {
  sequence @0 :Int64;         # grows by at least one a line, never reused
  job @1 :Text;               # its id; "": of the farm itself
  timeNs @2 :Int64;           # when it was written
  kind @3 :Text;              # what happened: "submitted", "leased", "attempt_ended", ...
  fields @4 :List(NamedText); # what else is known of it
}
