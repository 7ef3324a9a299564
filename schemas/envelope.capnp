# The envelope of every message. Evolution: add arms at the end, never renumber, never reuse (schemas/README.md).
@0xa1e6d53b7f90284c;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("enginery::schemas");
using C = import "control.capnp";
using B = import "bulk.capnp";

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
    error @8 :C.ErrorReply;
    hello @9 :C.Hello;
    welcome @10 :C.Welcome;
    done @11 :C.Done;
    submit @12 :C.Submit;
    jobReply @13 :C.JobReply;
    listJobs @14 :C.ListJobs;
    jobList @15 :C.JobList;
    showJob @16 :C.ShowJob;
    waitJob @17 :C.WaitJob;
    cancelJob @18 :C.CancelJob;
    explainJob @19 :C.ExplainJob;
    explainReply @20 :C.ExplainReply;
    findEngines @21 :C.FindEngines;
    engineList @22 :C.EngineList;
    whyMiss @23 :C.WhyMiss;
    whyMissReply @24 :C.WhyMissReply;
    listSkus @25 :C.ListSkus;
    skuList @26 :C.SkuList;
    listWorkers @27 :C.ListWorkers;
    workerList @28 :C.WorkerList;
    drainWorker @29 :C.DrainWorker;
    sync @30 :C.Sync;
    syncReply @31 :C.SyncReply;
    hasBlobs @32 :B.HasBlobs;
    blobStates @33 :B.BlobStates;
    putBlob @34 :B.PutBlob;
    putReply @35 :B.PutReply;
    getBlob @36 :B.GetBlob;
    blobChunk @37 :B.BlobChunk;
    appendLog @38 :B.AppendLog;
    appendReply @39 :B.AppendReply;
    readLog @40 :B.ReadLog;
    logChunk @41 :B.LogChunk;
    getTimings @42 :B.GetTimings;
    timingList @43 :B.TimingList;
    putTimings @44 :B.PutTimings;
    putTimingsReply @45 :B.PutTimingsReply;
  }
}
