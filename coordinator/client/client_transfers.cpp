// Blobs between a client and the coordinator: a window of chunks in flight and one hash of the
// whole, computed beside the receiving.
#include <algorithm>
#include <map>

#include "coordinator/client/chunk_window.h"
#include "coordinator/client/client.h"
#include "engine/base/side_hash.h"

namespace enginery {
namespace {

// A download in chunks: which parts were asked for, which have arrived, and where the hole is.
class Parts {
 public:
  explicit Parts(uint64_t from) : asked_(from), done_(from) {}

  bool complete() const { return size_ && done_ >= *size_; }
  bool wants_more() const { return !size_ || asked_ < *size_; }
  uint64_t done() const { return done_; }
  uint64_t size() const { return size_.value_or(0); }

  GetBlob next(const Digest& digest) {
    const GetBlob get{digest, asked_, kUncheckedBytes};
    asked_ += kChunkBytes;
    return get;
  }
  // corrupt_data: not the part that was asked for.
  Status take(const GetBlob& get, const BlobChunk& chunk, Bytes part) {
    const uint64_t expected =
        std::min<uint64_t>(kChunkBytes, chunk.size_bytes - std::min(chunk.size_bytes, get.offset));
    if (chunk.offset != get.offset || size_.value_or(chunk.size_bytes) != chunk.size_bytes)
      return Error{ErrorCode::corrupt_data, "an answer of another place"};
    if (part.size() != expected) return Error{ErrorCode::corrupt_data, "it ends early"};
    size_ = chunk.size_bytes;
    parts_[get.offset] = std::move(part);
    return {};
  }
  // The next bytes in order, once they are there.
  std::optional<Bytes> pop() {
    const auto first = parts_.find(done_);
    if (first == parts_.end() || first->second.empty()) return std::nullopt;
    Bytes part = std::move(first->second);
    parts_.erase(first);
    done_ += part.size();
    return part;
  }

 private:
  std::optional<uint64_t> size_;
  uint64_t asked_, done_;
  std::map<uint64_t, Bytes> parts_;  // that arrived before their turn
};

}  // namespace

Result<ChunkWindow> Client::window() {
  TRY(Link * link, bulk());
  return ChunkWindow(*link, clock(),
                     {session_, options_.address, options_.repeat_after, options_.reply_timeout});
}

Status Client::get_chunks(const Digest& digest, uint64_t from, const ChunkSink& sink,
                          const TransferProgress& progress) {
  return receive_chunks(
      digest, from, [&](Bytes part, uint64_t) { return sink(std::move(part)); }, progress);
}

Status Client::receive_chunks(const Digest& digest, uint64_t from, const SizedSink& sink,
                              const TransferProgress& progress) {
  TRY(ChunkWindow window, window());
  Parts parts(from);
  CHECK_OK(window.send(parts.next(digest)));  // its answer says how large the blob is
  while (window.in_flight() > 0) {
    TRY(ChunkWindow::Answered answered, window.receive());
    const auto* chunk = std::get_if<BlobChunk>(&answered.reply.envelope.body);
    if (chunk == nullptr)
      return Error{ErrorCode::internal, "coordinator: an answer of another kind than asked for"};
    CHECK_OK(
        parts.take(std::get<GetBlob>(answered.request), *chunk, std::move(answered.reply.chunk)));
    while (parts.wants_more() && !window.full()) CHECK_OK(window.send(parts.next(digest)));
    while (std::optional<Bytes> part = parts.pop()) {
      CHECK_OK(sink(std::move(*part), parts.size()));
      if (progress) progress(parts.done(), parts.size());
    }
  }
  return parts.complete() ? Status() : Status(Error{ErrorCode::corrupt_data, "it ends early"});
}

// The bytes that came are not the blob's. When its copy at the coordinator is damaged, asking for a
// checked part makes the coordinator find that out.
Error Client::wrong_bytes(const Digest& digest) {
  const Status stored = ask_to_check(digest);
  if (!stored.ok()) return stored.error();
  return {ErrorCode::corrupt_data, "the bytes that arrived have another digest"};
}

Result<Bytes> Client::get_blob(const Digest& digest, const TransferProgress& progress) {
  constexpr uint64_t kMaxReserved = 1ull << 30;  // more than that is seen before it is believed
  Bytes bytes;
  SideHash hash;
  const Status got = receive_chunks(
      digest, 0,
      [&](Bytes part, uint64_t size) {
        if (bytes.empty()) bytes.reserve(std::min(size, kMaxReserved));
        bytes += part;
        hash.update(std::move(part));
        return Status();
      },
      progress);
  if (!got.ok()) return got.error().within("download " + digest.text());
  if (hash.finish() != digest) return wrong_bytes(digest).within("download " + digest.text());
  return bytes;
}

Result<Digest> Client::put_blob(ByteSpan bytes, const TransferProgress& progress) {
  const Digest digest = sha256(bytes);
  const ChunkSource source = [&](uint64_t offset, size_t size) {
    return Result<Bytes>(Bytes(as_text(bytes.subspan(offset, size))));
  };
  CHECK_OK(put_chunks(digest, bytes.size(), source, progress));
  return digest;
}

Status Client::put_chunks(const Digest& digest, uint64_t size, const ChunkSource& source,
                          const TransferProgress& progress) {
  TRY(const std::vector<BlobState> states, has_blobs({digest}));
  if (states[0].present) return {};
  const Status sent =
      upload(digest, size, std::min(states[0].received_bytes, size), source, progress);
  return sent.ok() ? sent : Status(sent.error().within("upload " + digest.text()));
}

Status Client::upload(const Digest& digest, uint64_t size, uint64_t offset,
                      const ChunkSource& source, const TransferProgress& progress) {
  TRY(ChunkWindow window, window());
  uint64_t next = offset, reported = 0;
  bool ask = true;   // also where nothing is left to send: the answer says that all is there
  bool gap = false;  // something was lost: nothing new before all that is on its way is answered
  while (true) {
    while ((next < size || ask) && !gap && !window.full()) {
      const auto length = static_cast<size_t>(std::min<uint64_t>(kChunkBytes, size - next));
      TRY(Bytes part, source(next, length));
      if (part.size() != length) return Error{ErrorCode::storage, "the source ends early"};
      CHECK_OK(window.send(PutBlob{digest, size, next, Digest{}}, std::move(part)));
      next += length;
      ask = false;
    }
    TRY(const ChunkWindow::Answered answered, window.receive());
    const auto* reply = std::get_if<PutReply>(&answered.reply.envelope.body);
    if (reply == nullptr)
      return Error{ErrorCode::internal, "coordinator: an answer of another kind than asked for"};
    if (reply->offset > size) return Error{ErrorCode::internal, "an offset behind the end"};
    reported = std::max(reported, reply->offset);
    if (progress) progress(reported, size);
    if (reply->complete) return {};
    gap = gap || reply->offset <= std::get<PutBlob>(answered.request).offset;
    if (window.in_flight() > 0) continue;
    ask = gap || next >= size;
    next = gap || next >= size ? reply->offset : next;
    gap = false;
  }
}

}  // namespace enginery
