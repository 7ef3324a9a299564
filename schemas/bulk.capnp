# Messages of the bulk socket: blobs in chunks, logs, timings. Evolution: add at the end, never renumber, never reuse.
@0x9f37b2e8460dc15a;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("enginery::schemas");
using V = import "values.capnp";

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
