#include "schemas/codec_messages.h"

namespace enginery {

CODEC(HasBlobs, HasBlobs) {
  FIELD(digests, Digests);
}

CODEC(BlobStates, BlobStates) {
  FIELD(blobs, Blobs);
}

CODEC(PutBlob, PutBlob) {
  FIELD(digest, Digest);
  FIELD(size_bytes, SizeBytes);
  FIELD(offset, Offset);
  FIELD(chunk, Chunk);
}

CODEC(PutReply, PutReply) {
  FIELD(offset, Offset);
  FIELD(complete, Complete);
}

CODEC(GetBlob, GetBlob) {
  FIELD(digest, Digest);
  FIELD(offset, Offset);
  FIELD(length, Length);
}

CODEC(BlobChunk, BlobChunk) {
  FIELD(digest, Digest);
  FIELD(offset, Offset);
  FIELD(size_bytes, SizeBytes);
  FIELD(chunk, Chunk);
}

CODEC(AppendLog, AppendLog) {
  FIELD(ref, Ref);
  FIELD(offset, Offset);
  FIELD(text, Text);
}

CODEC(AppendReply, AppendReply) {
  FIELD(offset, Offset);
}

CODEC(ReadLog, ReadLog) {
  FIELD(job, Job);
  FIELD(offset, Offset);
  FIELD(length, Length);
  FIELD(follow, Follow);
  FIELD(hold_ms, HoldMs);
}

CODEC(LogChunk, LogChunk) {
  FIELD(offset, Offset);
  FIELD(text, Text);
  FIELD(end, End);
  FIELD(complete, Complete);
}

CODEC(GetTimings, GetTimings) {
  FIELD(device, Device);
  FIELD(problems, Problems);
  FIELD(from_row, FromRow);
}

CODEC(TimingList, TimingList) {
  FIELD(entries, Entries);
  FIELD(next_row, NextRow);
  FIELD(complete, Complete);
}

CODEC(PutTimings, PutTimings) {
  FIELD(keys, Keys);
  FIELD(entries, Entries);
}

CODEC(PutTimingsReply, PutTimingsReply) {
  FIELD(stored, Stored);
}

}  // namespace enginery
