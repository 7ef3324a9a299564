# Every message: the envelope, then the messages of the control socket, then those of the bulk socket. The list is
# messages.inc. Evolution: add fields and arms at the end, never renumber, never reuse (schemas/README.md).
@0xa1e6d53b7f90284c;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("enginery::schemas");
using V = import "values.capnp";

struct Envelope {
  version @0 :UInt32;
  requestHigh @1 :UInt64;
  requestLow @2 :UInt64;
  session @3 :Text;
  incarnation @4 :UInt64;
  sequence @5 :UInt64;
  trace @6 :Text;       # W3C traceparent
  body :union {
    none @7 :Void;
    error @8 :ErrorReply;
    hello @9 :Hello;
    welcome @10 :Welcome;
    done @11 :Done;
    submit @12 :Submit;
    jobReply @13 :JobReply;
    listJobs @14 :ListJobs;
    jobList @15 :JobList;
    showJob @16 :ShowJob;
    waitJob @17 :WaitJob;
    cancelJob @18 :CancelJob;
    explainJob @19 :ExplainJob;
    explainReply @20 :ExplainReply;
    findEngines @21 :FindEngines;
    engineList @22 :EngineList;
    whyMiss @23 :WhyMiss;
    whyMissReply @24 :WhyMissReply;
    listSkus @25 :ListSkus;
    skuList @26 :SkuList;
    listWorkers @27 :ListWorkers;
    workerList @28 :WorkerList;
    drainWorker @29 :DrainWorker;
    sync @30 :Sync;
    syncReply @31 :SyncReply;
    hasBlobs @32 :HasBlobs;
    blobStates @33 :BlobStates;
    putBlob @34 :PutBlob;
    putReply @35 :PutReply;
    getBlob @36 :GetBlob;
    blobChunk @37 :BlobChunk;
    appendLog @38 :AppendLog;
    appendReply @39 :AppendReply;
    readLog @40 :ReadLog;
    logChunk @41 :LogChunk;
    getTimings @42 :GetTimings;
    timingList @43 :TimingList;
    putTimings @44 :PutTimings;
    putTimingsReply @45 :PutTimingsReply;
  }
}

# --- control socket

struct Hello {
  role @0 :Text;
  name @1 :Text;
  leastVersion @2 :UInt32;
  greatestVersion @3 :UInt32;
  software @4 :Text;
  pid @5 :Int64;
}
struct Welcome {
  version @0 :UInt32;
  bulkAddress @1 :Text;
  software @2 :Text;
  pid @3 :Int64;
  incarnation @4 :UInt64;
  publicKey @5 :Data;
}
struct ErrorReply { fault @0 :V.Fault; }
struct Done {}

struct TargetRequest {
  sku @0 :Text;
  toolchain @1 :Text;
  engineKey @2 :List(V.NamedText);
  tuneKey @3 :List(V.NamedText);
  provisional @4 :Bool;
}
struct Submit {
  client @0 :Text;
  name @1 :Text;
  modelName @2 :Text;
  model @3 :Data;
  inputs @4 :List(V.NamedBlob);
  options @5 :Text;
  validateKey @6 :List(V.NamedText);
  targets @7 :List(TargetRequest);
  priority @8 :Int32;
  tags @9 :List(Text);
  rebuild @10 :Bool;
  waitForWorkers @11 :Bool;
  dryRun @12 :Bool;
}
struct JobReply { job @0 :V.JobView; }

struct ListJobs { limit @0 :UInt32; before @1 :Text; }
struct JobList { jobs @0 :List(V.JobLine); }
struct ShowJob { job @0 :Text; }
struct WaitJob { job @0 :Text; knownRevision @1 :UInt64; holdMs @2 :UInt32; untilEnd @3 :Bool; }
struct CancelJob { job @0 :Text; }
struct ExplainJob { job @0 :Text; }
struct ExplainReply { targets @0 :List(V.ExplainView); }

struct FindEngines { name @0 :Text; tag @1 :Text; sku @2 :Text; limit @3 :UInt32; }
struct EngineList { engines @0 :List(V.EngineView); }
struct WhyMiss { subject @0 :Text; }
struct WhyMissReply { misses @0 :List(V.MissView); }

struct ListSkus {}
struct SkuList { skus @0 :List(V.SkuView); }
struct ListWorkers {}
struct WorkerList { workers @0 :List(V.WorkerView); }
struct DrainWorker { worker @0 :Text; exit @1 :Bool; }

# What a worker is doing, in its own words.
struct WorkerState {
  union {
    idle @0 :Void;
    running :group { ref @1 :V.StepRef; progress @2 :V.Progress; }
    finished :group { ref @3 :V.StepRef; outcome @4 :V.Outcome; }
  }
}
struct Sync {
  worker @0 :Text;
  incarnation @1 :UInt64;
  sequence @2 :UInt64;
  sku @3 :Text;
  kind @4 :Text;
  toolchain @5 :Text;
  device @6 :Text;
  host @7 :Text;
  pid @8 :Int64;
  state @9 :WorkerState;
  health @10 :Text;
  preferIdle @11 :Bool;
  compilesFor @12 :List(Text);
}

# A step as a worker gets it.
struct RunStep {
  ref @0 :V.StepRef;
  kind @1 :Text;
  key @2 :Data;
  sku @3 :Text;
  name @4 :Text;
  modelName @5 :Text;
  model @6 :Data;
  options @7 :Text;
  inputs @8 :List(V.NamedBlob);
  engineKey @9 :Data;
  facts @10 :List(V.NamedText);
  provisional @11 :Bool;
}
struct SyncReply {
  nextSyncMs @0 :UInt32;
  desired :union {
    keep @1 :Void;
    idle @2 :Void;
    run @3 :RunStep;
    cancel @4 :V.StepRef;
    drain @5 :Void;
    exit @6 :Void;
  }
}

# --- bulk socket

# Chunk bytes travel in the raw second frame, never in here; `chunk` is their SHA-256.
struct HasBlobs { digests @0 :List(Data); }
struct BlobStates { blobs @0 :List(V.BlobState); }
struct PutBlob { digest @0 :Data; sizeBytes @1 :UInt64; offset @2 :UInt64; chunk @3 :Data; }
struct PutReply { offset @0 :UInt64; complete @1 :Bool; }
struct GetBlob { digest @0 :Data; offset @1 :UInt64; length @2 :UInt64; }
struct BlobChunk { digest @0 :Data; offset @1 :UInt64; sizeBytes @2 :UInt64; chunk @3 :Data; }

struct AppendLog { ref @0 :V.StepRef; offset @1 :UInt64; text @2 :Text; }
struct AppendReply { offset @0 :UInt64; }
struct ReadLog { job @0 :Text; offset @1 :UInt64; length @2 :UInt32; follow @3 :Bool; holdMs @4 :UInt32; }
struct LogChunk { offset @0 :UInt64; text @1 :Text; end @2 :UInt64; complete @3 :Bool; }

struct GetTimings { device @0 :Data; problems @1 :List(Data); fromRow @2 :UInt64; }
struct TimingList { entries @0 :List(V.TimingEntry); nextRow @1 :UInt64; complete @2 :Bool; }
struct PutTimings { keys @0 :List(Data); entries @1 :List(V.TimingEntry); }
struct PutTimingsReply { stored @0 :UInt64; }
