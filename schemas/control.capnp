# Messages of the control socket. Evolution: add at the end, never renumber, never reuse (schemas/README.md).
@0xd40c95a7e1b23f68;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("enginery::schemas");
using V = import "values.capnp";

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
