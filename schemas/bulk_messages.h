// The messages of the bulk socket: blobs in chunks, logs and timings. The bytes of a chunk travel
// in a raw second frame (Message::chunk).
//
// Where: arms of Body (messages.h); their bytes are messages.capnp's. Threads: as any value.
#pragma once

#include "schemas/values.h"

namespace enginery {

inline constexpr size_t kMaxBulkBytes = 2 << 20;
inline constexpr size_t kChunkBytes = 1 << 20;  // of a blob's transfer

struct HasBlobs {
  std::vector<Digest> digests;
  bool operator==(const HasBlobs&) const = default;
};
struct BlobStates {
  std::vector<BlobState> blobs;  // one for each digest asked, in order
  bool operator==(const BlobStates&) const = default;
};
struct PutBlob {
  Digest digest;
  uint64_t size_bytes = 0;  // of the whole blob
  uint64_t offset = 0;
  Digest chunk;  // of the raw frame: another one is refused (corrupt_data)
  bool operator==(const PutBlob&) const = default;
};
struct PutReply {
  uint64_t offset = 0;  // where to go on
  bool complete = false;
  bool operator==(const PutReply&) const = default;
};
struct GetBlob {
  Digest digest;
  uint64_t offset = 0, length = kChunkBytes;
  bool operator==(const GetBlob&) const = default;
};
struct BlobChunk {
  Digest digest;
  uint64_t offset = 0, size_bytes = 0;  // size of the whole blob
  Digest chunk;                         // of the raw frame
  bool operator==(const BlobChunk&) const = default;
};

// Appends to the step's log; offset counts the bytes of this lease's own log, so that it may be
// repeated.
struct AppendLog {
  StepRef ref;
  uint64_t offset = 0;
  std::string text;
  bool operator==(const AppendLog&) const = default;
};
struct AppendReply {
  uint64_t offset = 0;  // where to go on
  bool operator==(const AppendReply&) const = default;
};
// A job's log from an offset on; with `follow` a long poll that waits for more.
struct ReadLog {
  std::string job;
  uint64_t offset = 0;
  uint32_t length = 256 * 1024;
  bool follow = false;
  uint32_t hold_ms = 5000;
  bool operator==(const ReadLog&) const = default;
};
struct LogChunk {
  uint64_t offset = 0;  // of the first byte of text
  std::string text;
  uint64_t end = 0;       // the log's present end
  bool complete = false;  // the job has ended and nothing follows `end`
  bool operator==(const LogChunk&) const = default;
};

// Rows of a device (of some problems only, when there are any), in pages.
struct GetTimings {
  Digest device;
  std::vector<Digest> problems;
  uint64_t from_row = 0;
  bool operator==(const GetTimings&) const = default;
};
struct TimingList {
  std::vector<TimingEntry> entries;
  uint64_t next_row = 0;
  bool complete = true;
  bool operator==(const TimingList&) const = default;
};
// Merges timings, also of a lost lease. `keys`: the canonical bytes of the device and problem keys
// that entries name.
struct PutTimings {
  std::vector<Bytes> keys;
  std::vector<TimingEntry> entries;
  bool operator==(const PutTimings&) const = default;
};
struct PutTimingsReply {
  uint64_t stored = 0;
  bool operator==(const PutTimingsReply&) const = default;
};

}  // namespace enginery
