# Every message: the envelope, then the messages of the control socket, then those of the bulk socket. The list is
# messages.inc. A field's comment is written from its sender's point of view; the units of values.capnp hold here, too.
# Evolution: add fields and arms at the end, never renumber, never reuse (schemas/README.md).
@0xa1e6d53b7f90284c;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("enginery::schemas");
using V = import "values.capnp";

# What every frame holds.
struct Envelope {
  version @0 :UInt32;              # the protocol version that I write in: the one that Welcome named, 1 in Hello
  requestHigh @1 :UInt64;          # high and low half of the request's id: made by the client, the same in every repetition
  requestLow @2 :UInt64;           # and in the reply
  session @3 :Text;                # names this run of the client; made at its start. "" in replies
  incarnation @4 :UInt64;          # of the coordinator, in replies: another one after each of its starts. 0 in requests
  sequence @5 :UInt64;             # counts the client's requests, so that logs can be ordered. 0 in replies
  trace @6 :Text;                  # W3C traceparent; "" when nobody traces
  # A request or its reply; a reader that does not know the arm sees none and answers `unsupported`.
  body :union {
    none @7 :Void;                           # no message
    error @8 :ErrorReply;                    # the answer to any request that cannot be served
    hello @9 :Hello;                         # control socket; answered by welcome
    welcome @10 :Welcome;                    # a reply
    done @11 :Done;                          # a reply
    submit @12 :Submit;                      # control socket; answered by jobReply
    jobReply @13 :JobReply;                  # a reply
    listJobs @14 :ListJobs;                  # control socket; answered by jobList
    jobList @15 :JobList;                    # a reply
    showJob @16 :ShowJob;                    # control socket; answered by jobReply
    waitJob @17 :WaitJob;                    # control socket; answered by jobReply
    cancelJob @18 :CancelJob;                # control socket; answered by jobReply
    explainJob @19 :ExplainJob;              # control socket; answered by explainReply
    explainReply @20 :ExplainReply;          # a reply
    findEngines @21 :FindEngines;            # control socket; answered by engineList
    engineList @22 :EngineList;              # a reply
    whyMiss @23 :WhyMiss;                    # control socket; answered by whyMissReply
    whyMissReply @24 :WhyMissReply;          # a reply
    listSkus @25 :ListSkus;                  # control socket; answered by skuList
    skuList @26 :SkuList;                    # a reply
    listWorkers @27 :ListWorkers;            # control socket; answered by workerList
    workerList @28 :WorkerList;              # a reply
    drainWorker @29 :DrainWorker;            # control socket; answered by done
    sync @30 :Sync;                          # control socket; answered by syncReply
    syncReply @31 :SyncReply;                # a reply
    hasBlobs @32 :HasBlobs;                  # bulk socket; answered by blobStates
    blobStates @33 :BlobStates;              # a reply
    putBlob @34 :PutBlob;                    # bulk socket; answered by putReply
    putReply @35 :PutReply;                  # a reply
    getBlob @36 :GetBlob;                    # bulk socket; answered by blobChunk
    blobChunk @37 :BlobChunk;                # a reply
    appendLog @38 :AppendLog;                # bulk socket; answered by appendReply
    appendReply @39 :AppendReply;            # a reply
    readLog @40 :ReadLog;                    # bulk socket; answered by logChunk
    logChunk @41 :LogChunk;                  # a reply
    getTimings @42 :GetTimings;              # bulk socket; answered by timingList
    timingList @43 :TimingList;              # a reply
    putTimings @44 :PutTimings;              # bulk socket; answered by putTimingsReply
    putTimingsReply @45 :PutTimingsReply;    # a reply
    askCatalog @46 :AskCatalog;              # control socket; answered by catalogAnswer
    orderCatalog @47 :OrderCatalog;          # control socket; answered by catalogAnswer
    catalogAnswer @48 :CatalogAnswer;        # a reply
    undrainWorker @49 :UndrainWorker;        # control socket; answered by done
    forgetWorker @50 :ForgetWorker;          # control socket; answered by done
    listEvents @51 :ListEvents;              # control socket; answered by eventList
    eventList @52 :EventList;                # a reply
    makeSet @53 :MakeSet;                    # control socket; answered by setReply
    setReply @54 :SetReply;                  # a reply
    takeProblem @55 :TakeProblem;            # control socket; answered by problemTaken
    problemTaken @56 :ProblemTaken;          # a reply
    join @57 :Join;                          # control socket; answered by joined
    joined @58 :Joined;                      # a reply
  }
}

# --- control socket

# The first message of a connection's control socket.
struct Hello {
  role @0 :Text;                   # "cli" or "worker"
  name @1 :Text;                   # whose fair share my jobs count to: user@host; cut to 200 bytes
  leastVersion @2 :UInt32;         # the oldest protocol version that I speak
  greatestVersion @3 :UInt32;      # and the newest
  software @4 :Text;               # what I am, for logs: "enginery"
  pid @5 :Int64;                   # my process, for logs
}

struct Welcome {
  version @0 :UInt32;              # the version that we speak from now on: the greatest that both know
  bulkAddress @1 :Text;            # where my bulk socket listens
  software @2 :Text;               # what I am, for logs
  pid @3 :Int64;                   # my process
  incarnation @4 :UInt64;          # of this start of mine: a client that sees another one knows that I forgot its long polls
  publicKey @5 :Data;              # 32 bytes of Ed25519: what I sign engines with
}

# Answers any request that cannot be served; nothing has changed then.
struct ErrorReply {
  fault @0 :V.Fault;               # why
}

# Answers requests that return nothing.
struct Done {}

# One SKU of a submit. The keys come without `kind` and `trustDomain`, which the coordinator adds.
struct TargetRequest {
  sku @0 :Text;                    # for which device type
  toolchain @1 :Text;              # the tool versions that the keys name; "" fits every worker of the SKU
  engineKey @2 :List(V.NamedText); # every fact that can change the engine, in the order of its key
  tuneKey @3 :List(V.NamedText);   # every fact that can change what tuning chooses: structure and shapes, no weights
  provisional @4 :Bool;            # do not wait for the device: an untuned engine, by a worker that compiles for the SKU
}

# Build a model. Idempotent by the envelope's request id: a repetition answers with the same job.
struct Submit {
  client @0 :Text;                 # whose fair share it counts to; "": Hello's name
  name @1 :Text;                   # what the engines are called
  modelName @2 :Text;              # the model's file name, for people and provenance
  model @3 :Data;                  # its blob; uploaded before
  inputs @4 :List(V.NamedBlob);    # further blobs (external weights, calibration data), uploaded before
  options @5 :Text;                # canonical JSON; opaque to the coordinator, read by the worker
  validateKey @6 :List(V.NamedText); # every fact that can change whether the model is accepted
  targets @7 :List(TargetRequest); # one a SKU; at least one
  priority @8 :Int32;              # 100 more doubles the share of this job
  tags @9 :List(Text);             # put on the engines when they are done
  rebuild @10 :Bool;               # do not answer from finished results
  waitForWorkers @11 :Bool;        # queue for SKUs that no worker has offered yet, instead of refusing
  dryRun @12 :Bool;                # change nothing: only say what is cached and what would be built
  tryQuarantined @13 :Bool;        # try steps that are quarantined once more
  tuningWorkers @14 :UInt32;       # how many workers may share one tuning at most; 0: as many as are free
}

struct JobReply {
  job @0 :V.JobView;               # as it is now; with its steps only for showJob
}

struct ListJobs {
  limit @0 :UInt32;                # the largest number of lines; 0 means 1000, above 2000 means 2000
  before @1 :Text;                 # a job id: only older ones; "" for the newest
}

struct JobList {
  jobs @0 :List(V.JobLine);        # newest first
}

struct ShowJob {
  job @0 :Text;                    # its id
}

# A long poll: answered when the job has changed, or when the time is over.
struct WaitJob {
  job @0 :Text;                    # its id
  knownRevision @1 :UInt64;        # the newest revision that I have seen; 0: none
  holdMs @2 :UInt32;               # how long I am willing to wait; 0: answer at once; above 30,000 means 30,000
  untilEnd @3 :Bool;               # only the end counts as a change
}

struct CancelJob {
  job @0 :Text;                    # its id
}

struct ExplainJob {
  job @0 :Text;                    # its id
}

struct ExplainReply {
  targets @0 :List(V.ExplainView); # one a target that has not ended
}

struct FindEngines {
  name @0 :Text;                   # a submitted name, a job id, or "sha256:" and at least 8 hex digits of an engine; "": any
  tag @1 :Text;                    # only engines with this tag; "": any
  sku @2 :Text;                    # only for this SKU; "": any
  limit @3 :UInt32;                # the largest number of rows, 1 to 1000
}

struct EngineList {
  engines @0 :List(V.EngineView);  # newest first
}

struct WhyMiss {
  subject @0 :Text;                # a key (at least 8 hex digits) or a job id
}

struct WhyMissReply {
  misses @0 :List(V.MissView);     # one for a key, one a target for a job
}

struct ListSkus {}

struct SkuList {
  skus @0 :List(V.SkuView);        # in the order of their names
}

struct ListWorkers {}

struct WorkerList {
  workers @0 :List(V.WorkerView);  # in the order of their names; 1000 at most
}

# No new work for a worker; what it runs it finishes.
struct DrainWorker {
  worker @0 :Text;                 # its name
  exit @1 :Bool;                   # and end its process once it is idle
}

# A question to the catalog that changes nothing.
struct AskCatalog {
  action @0 :Text;                 # "ls", "show", "verify", "timing-ls", ...
  words @1 :List(Text);            # what it is about
  options @2 :Text;                # a JSON object; "": none
}

# The same for what changes the catalog: "pin", "tag", "gc", "timing-import", ...
struct OrderCatalog {
  action @0 :Text;                 # what to do
  words @1 :List(Text);            # with what
  options @2 :Text;                # a JSON object; "": none
}

struct CatalogAnswer {
  json @0 :Text;                   # a document with a field "schema"
}

# New work again for a worker that was drained or is quarantined.
struct UndrainWorker {
  worker @0 :Text;                 # its name
}

# Remove a worker that is gone from the lists.
struct ForgetWorker {
  worker @0 :Text;                 # its name
}

# What a worker is doing, in its own words.
struct WorkerState {
  union {
    idle @0 :Void;                 # nothing
    running :group {
      ref @1 :V.StepRef;           # the lease that I work on
      progress @2 :V.Progress;     # how far I am
    }
    finished :group {              # repeated until the coordinator desires something else than `keep`
      ref @3 :V.StepRef;           # the lease that I am done with
      outcome @4 :V.Outcome;       # how; its outputs are uploaded
    }
  }
}

# The whole worker protocol: my state, and what you want of me. A long poll: answered when the coordinator desires something
# else, or after nextSyncMs of the reply before.
struct Sync {
  worker @0 :Text;                 # my stable name: host/sku
  incarnation @1 :UInt64;          # grows with every start of mine; a sync of an older one is ignored
  sequence @2 :UInt64;             # grows with every new sync of the incarnation; the coordinator ignores one that is older than what it has seen
  sku @3 :Text;                    # what I build for
  kind @4 :Text;                   # "cuda" or "cpu"
  toolchain @5 :Text;              # my tool versions, as in the keys that I can serve
  device @6 :Text;                 # the physical device: at most one measurement at a time on it, whoever asks
  host @7 :Text;                   # my host's name
  pid @8 :Int64;                   # my process
  state @9 :WorkerState;           # what I am doing
  health @10 :Text;                # JSON for people: temperatures, free disk
  preferIdle @11 :Bool;            # I am draining: give me no new work
  compilesFor @12 :List(Text);     # SKUs for which I can build provisional engines
  examined @13 :UInt64;            # the number of the latest self-test that I have ended; 0: none
  examProblem @14 :Text;           # what it found; "" when all is well
  reading @15 :V.DeviceReading;    # what my device's sensors say
}

# A step as a worker gets it: everything that it needs to know.
struct RunStep {
  ref @0 :V.StepRef;               # my lease; the worker sends it back with every report about the step
  kind @1 :Text;                   # "validate", "tune", "assemble", "verify" or "profile"
  key @2 :Data;                    # the step's key: what its result will be stored under
  sku @3 :Text;                    # for which device type
  name @4 :Text;                   # what the engine is called
  modelName @5 :Text;              # the model's file name
  model @6 :Data;                  # its blob
  options @7 :Text;                # canonical JSON, as submitted
  inputs @8 :List(V.NamedBlob);    # the job's further blobs, then the earlier steps' outputs by their names
  engineKey @9 :Data;              # of the engine that this step belongs to
  facts @10 :List(V.NamedText);    # of the earlier steps; and the engine key's fields as "key.<name>"
  provisional @11 :Bool;           # untuned: measure nothing
  assistant @12 :UInt32;           # 0: all of it. n: another worker leads it, and you are the n-th that measures for it
}

# I am about to measure one of the problems of a step that several workers may share.
struct TakeProblem {
  worker @0 :Text;                 # my name
  incarnation @1 :UInt64;          # of my process
  ref @2 :V.StepRef;               # my lease
  problem @3 :Data;                # the digest of the problem's key; I give the one that I had before back
  left @4 :UInt32;                 # how many problems I still lack, with this one
}

struct ProblemTaken {
  taken @0 :Bool;                  # false: another worker measures it just now, or the lease is not yours any longer
  sharers @1 :UInt32;              # how many workers share the step, you included
}

struct SyncReply {
  nextSyncMs @0 :UInt32;           # how long I may hold your next sync; send it as soon as this one is answered
  desired :union {                 # what I want of you; one that you do not know reads as keep
    keep @1 :Void;                 # go on with what you do
    idle @2 :Void;                 # be idle: what you reported is stored or no longer wanted
    run @3 :RunStep;               # begin this
    cancel @4 :V.StepRef;          # stop this, if it is what you run; then report
    drain @5 :Void;                # finish what you run and ask for nothing more
    exit @6 :Void;                 # the same, then end your process
    examine @7 :UInt64;            # test yourself (device, memory, disk) and say how it went, with this number
    resume @8 :Void;               # take work again: the drain is over
  }
}

# From the holder of a token, over a connection with the token's key. Repeatable.
struct Join {
  publicKey @0 :Data;              # 32 bytes: the key that I have made and want to use from now on
  name @1 :Text;                   # what I want to be called; cut to 60 plain characters, made unique
}

struct Joined {
  name @0 :Text;                   # what you are called: your workers' names are this, or begin with this and a slash
}

# --- bulk socket

struct HasBlobs {
  digests @0 :List(Data);          # 10,000 at most, like every list; the client asks for 5,000 at a time
}

struct BlobStates {
  blobs @0 :List(V.BlobState);     # one for each digest asked, in order
}

# A piece of an upload; its bytes are the raw second frame. Repeatable.
struct PutBlob {
  digest @0 :Data;                 # of the whole blob
  sizeBytes @1 :UInt64;            # of the whole blob, 64 GiB at most
  offset @2 :UInt64;               # of the chunk in it
  chunk @3 :Data;                  # SHA-256 of the second frame; another one is refused as corrupt_data
}

struct PutReply {
  offset @0 :UInt64;               # bytes that I have: go on from here
  complete @1 :Bool;               # the blob is stored, durable and hashed
}

struct GetBlob {
  digest @0 :Data;                 # which
  offset @1 :UInt64;               # from this byte on
  length @2 :UInt64;               # the largest number of bytes; above 1 MiB means 1 MiB
}

# A piece of a download; its bytes are the raw second frame.
struct BlobChunk {
  digest @0 :Data;                 # of the whole blob
  offset @1 :UInt64;               # of the chunk in it
  sizeBytes @2 :UInt64;            # of the whole blob
  chunk @3 :Data;                  # SHA-256 of the second frame
}

# Lines of a running step. Repeatable: bytes that I have sent before are skipped.
struct AppendLog {
  ref @0 :V.StepRef;               # my lease
  offset @1 :UInt64;               # of the text's first byte in all that I have written under this lease
  text @2 :Text;                   # whole lines where possible; any bytes are allowed
}

struct AppendReply {
  offset @0 :UInt64;               # bytes of the lease's text that have arrived: go on from here
}

# With `follow` a long poll.
struct ReadLog {
  job @0 :Text;                    # its id
  offset @1 :UInt64;               # where to begin: 0, or where an earlier chunk ended
  length @2 :UInt32;               # the largest number of bytes; above 1 MiB means 1 MiB
  follow @3 :Bool;                 # wait for more when there is nothing yet
  holdMs @4 :UInt32;               # how long I am willing to wait; above 30,000 means 30,000
}

struct LogChunk {
  offset @0 :UInt64;               # of the text's first byte; beyond what was asked where that part was dropped
  text @1 :Text;                   # from there on
  end @2 :UInt64;                  # the log's present end, as an offset
  complete @3 :Bool;               # the job has ended: nothing follows `end`
}

# Rows of a device, page by page.
struct GetTimings {
  device @0 :Data;                 # digest of its device key
  problems @1 :List(Data);         # only of these; empty: all
  fromRow @2 :UInt64;              # 0, then the page's nextRow
}

struct TimingList {
  entries @0 :List(V.TimingEntry); # 1000 rows or 1 MiB at most
  nextRow @1 :UInt64;              # where the next page begins: a place, not a count
  complete @2 :Bool;               # there is no next page
}

# Merges timings, also of a lost lease: what was measured stays true.
struct PutTimings {
  keys @0 :List(Data);             # the canonical bytes of device and problem keys that entries name, unless stored before
  entries @1 :List(V.TimingEntry); # what was measured; of two for the same tactic the later stays
}

struct PutTimingsReply {
  stored @0 :UInt64;               # rows that were added or replaced
}

# --- control socket, since the first release

# Lines of the event journal, oldest first. With `holdMs` a long poll.
struct ListEvents {
  job @0 :Text;                    # only of this job; "": all
  after @1 :Int64;                 # only lines behind this sequence number; 0: from the newest `limit` lines on
  sinceNs @2 :Int64;               # with after = 0: from the first line of this time on; 0: see `after`
  limit @3 :UInt32;                # the largest number of lines; 0 and above 1000 mean 1000
  holdMs @4 :UInt32;               # how long I am willing to wait for a line; above 30,000 means 30,000
}

struct EventList {
  events @0 :List(V.EventView);    # oldest first
  next @1 :Int64;                  # `after` of the next question: the last line's number
  more @2 :Bool;                   # there are further lines already
}

# One signed manifest of the newest engines of a name, a tag or a job, one a SKU.
struct MakeSet {
  name @0 :Text;                   # as of findEngines, but no digest
  tag @1 :Text;                    # only engines with this tag; "": any
}

struct SetReply {
  set @0 :Data;                    # the manifest with its signature: pipeline/README.md
}
