#include "schemas/codec_messages.h"

namespace enginery::codec {

void write(const HasBlobs& from, v::HasBlobs::Builder to) {
  write_digests(from.digests, to.initDigests(count(from.digests.size())));
}
void read(v::HasBlobs::Reader from, HasBlobs& to) {
  read_digests(from.getDigests(), to.digests);
}

void write(const BlobStates& from, v::BlobStates::Builder to) {
  write_list(from.blobs, to.initBlobs(count(from.blobs.size())));
}
void read(v::BlobStates::Reader from, BlobStates& to) {
  read_list(from.getBlobs(), to.blobs);
}

void write(const PutBlob& from, v::PutBlob::Builder to) {
  to.setDigest(data(from.digest));
  to.setSizeBytes(from.size_bytes);
  to.setOffset(from.offset);
  to.setChunk(data(from.chunk));
}
void read(v::PutBlob::Reader from, PutBlob& to) {
  to = {digest(from.getDigest()), from.getSizeBytes(), from.getOffset(), digest(from.getChunk())};
}

void write(const PutReply& from, v::PutReply::Builder to) {
  to.setOffset(from.offset);
  to.setComplete(from.complete);
}
void read(v::PutReply::Reader from, PutReply& to) {
  to = {from.getOffset(), from.getComplete()};
}

void write(const GetBlob& from, v::GetBlob::Builder to) {
  to.setDigest(data(from.digest));
  to.setOffset(from.offset);
  to.setLength(from.length);
}
void read(v::GetBlob::Reader from, GetBlob& to) {
  to = {digest(from.getDigest()), from.getOffset(), from.getLength()};
}

void write(const BlobChunk& from, v::BlobChunk::Builder to) {
  to.setDigest(data(from.digest));
  to.setOffset(from.offset);
  to.setSizeBytes(from.size_bytes);
  to.setChunk(data(from.chunk));
}
void read(v::BlobChunk::Reader from, BlobChunk& to) {
  to = {digest(from.getDigest()), from.getOffset(), from.getSizeBytes(), digest(from.getChunk())};
}

void write(const AppendLog& from, v::AppendLog::Builder to) {
  write(from.ref, to.initRef());
  to.setOffset(from.offset);
  to.setText(text(from.text));
}
void read(v::AppendLog::Reader from, AppendLog& to) {
  read(from.getRef(), to.ref);
  to.offset = from.getOffset();
  to.text = text(from.getText());
}

void write(const AppendReply& from, v::AppendReply::Builder to) {
  to.setOffset(from.offset);
}
void read(v::AppendReply::Reader from, AppendReply& to) {
  to.offset = from.getOffset();
}

void write(const ReadLog& from, v::ReadLog::Builder to) {
  to.setJob(text(from.job));
  to.setOffset(from.offset);
  to.setLength(from.length);
  to.setFollow(from.follow);
  to.setHoldMs(from.hold_ms);
}
void read(v::ReadLog::Reader from, ReadLog& to) {
  to = {text(from.getJob()), from.getOffset(), from.getLength(), from.getFollow(),
        from.getHoldMs()};
}

void write(const LogChunk& from, v::LogChunk::Builder to) {
  to.setOffset(from.offset);
  to.setText(text(from.text));
  to.setEnd(from.end);
  to.setComplete(from.complete);
}
void read(v::LogChunk::Reader from, LogChunk& to) {
  to = {from.getOffset(), text(from.getText()), from.getEnd(), from.getComplete()};
}

void write(const GetTimings& from, v::GetTimings::Builder to) {
  to.setDevice(data(from.device));
  write_digests(from.problems, to.initProblems(count(from.problems.size())));
  to.setFromRow(from.from_row);
}
void read(v::GetTimings::Reader from, GetTimings& to) {
  to.device = digest(from.getDevice());
  read_digests(from.getProblems(), to.problems);
  to.from_row = from.getFromRow();
}

void write(const TimingList& from, v::TimingList::Builder to) {
  write_list(from.entries, to.initEntries(count(from.entries.size())));
  to.setNextRow(from.next_row);
  to.setComplete(from.complete);
}
void read(v::TimingList::Reader from, TimingList& to) {
  read_list(from.getEntries(), to.entries);
  to.next_row = from.getNextRow();
  to.complete = from.getComplete();
}

void write(const PutTimings& from, v::PutTimings::Builder to) {
  auto keys = to.initKeys(count(from.keys.size()));
  for (size_t i = 0; i < from.keys.size(); ++i) keys.set(count(i), data(from.keys[i]));
  write_list(from.entries, to.initEntries(count(from.entries.size())));
}
void read(v::PutTimings::Reader from, PutTimings& to) {
  const auto keys = from.getKeys();
  to.keys.resize(checked_count(keys));
  for (size_t i = 0; i < to.keys.size(); ++i) to.keys[i] = data(keys[count(i)]);
  read_list(from.getEntries(), to.entries);
}

void write(const PutTimingsReply& from, v::PutTimingsReply::Builder to) {
  to.setStored(from.stored);
}
void read(v::PutTimingsReply::Reader from, PutTimingsReply& to) {
  to.stored = from.getStored();
}

}  // namespace enginery::codec
