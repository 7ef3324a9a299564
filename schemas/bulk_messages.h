// The messages of the bulk socket: blobs in chunks, logs and timings. The bytes of a chunk travel
// in a raw second frame (Message::chunk).
//
// Where: arms of Body (messages.h). What each field means to its sender is said in messages.capnp.
// No request here touches the queue. Threads: as any value.
#pragma once

#include "schemas/values.h"

namespace enginery {

inline constexpr size_t kMaxBulkBytes = 2 << 20;  // of each of a message's two frames
inline constexpr size_t kChunkBytes = 1 << 20;    // of a blob's transfer

// Which blobs are there, by name and size; their content is checked when it is read.
struct HasBlobs {
  std::vector<Digest> digests;
  bool operator==(const HasBlobs&) const = default;
};
struct BlobStates {
  std::vector<BlobState> blobs;  // one for each digest asked, in order
  bool operator==(const BlobStates&) const = default;
};
// A piece of an upload, kChunkBytes at most; Message::chunk has its bytes. Repeatable: known bytes
// are skipped. invalid_argument: beyond the blob's end; corrupt_data: damaged on the way, or (after
// the last chunk) other bytes than `digest` promised, and the upload begins again.
struct PutBlob {
  Digest digest;
  uint64_t size_bytes = 0;  // of the whole blob
  uint64_t offset = 0;
  // Of the raw frame: another one is refused (corrupt_data). All zero: only the whole is hashed.
  Digest chunk;
  bool operator==(const PutBlob&) const = default;
};
// Also the answer to a chunk behind a gap: go on from `offset`.
struct PutReply {
  uint64_t offset = 0;    // bytes that have arrived: where to go on
  bool complete = false;  // the blob is hashed and durable
  bool operator==(const PutReply&) const = default;
};
// GetBlob::length of a receiver that hashes the whole blob itself: kChunkBytes that the coordinator
// does not hash; BlobChunk::chunk is all zero then.
inline constexpr uint64_t kUncheckedBytes = UINT64_MAX;
// Above kChunkBytes means kChunkBytes. not_found; corrupt_data (not of kUncheckedBytes): the
// store's copy is damaged and was set aside.
struct GetBlob {
  Digest digest;
  uint64_t offset = 0, length = kChunkBytes;
  bool operator==(const GetBlob&) const = default;
};
// A piece of a download; Message::chunk has its bytes, none at the blob's end.
struct BlobChunk {
  Digest digest;
  uint64_t offset = 0, size_bytes = 0;  // size of the whole blob
  Digest chunk;                         // of the raw frame
  bool operator==(const BlobChunk&) const = default;
};

// Appends to the step's log; offset counts the bytes of this lease's own log, so that it may be
// repeated. invalid_argument: a gap, and where to go on; not_found: no job waits for the step.
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
  uint32_t length = 256 * 1024;  // kChunkBytes at most
  bool follow = false;
  uint32_t hold_ms = 5000;  // the coordinator holds it 30 s at most
  bool operator==(const ReadLog&) const = default;
};
struct LogChunk {
  uint64_t offset = 0;  // of the first byte of text
  std::string text;
  uint64_t end = 0;       // the log's present end
  bool complete = false;  // the job has ended and nothing follows `end`
  bool operator==(const LogChunk&) const = default;
};

// Rows of a device (of some problems only, when there are any), in pages. from_row is 0, then what
// the page before gave as next_row; it means nothing to the asker.
struct GetTimings {
  Digest device;
  std::vector<Digest> problems;
  uint64_t from_row = 0;
  bool operator==(const GetTimings&) const = default;
};
struct TimingList {
  std::vector<TimingEntry> entries;  // 1000, or 1 MiB of them
  uint64_t next_row = 0;             // GetTimings::from_row of the next page
  bool complete = true;              // there is none
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
  uint64_t stored = 0;  // rows added or replaced; an older measurement changes nothing
  bool operator==(const PutTimingsReply&) const = default;
};

}  // namespace enginery
