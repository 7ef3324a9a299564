// The client's bulk half: blobs in checked chunks that resume, logs, timings.
#include <algorithm>

#include "coordinator/client/client.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

template <typename Reply>
Result<Reply> expect(Message& message) {
  if (auto* wanted = std::get_if<Reply>(&message.envelope.body)) return std::move(*wanted);
  return Error{ErrorCode::internal, "coordinator: an answer of another kind than asked for"};
}

}  // namespace

Result<Link*> Client::bulk() {
  if (!bulk_) {
    TRY(bulk_, dial_(welcome_.bulk_address, kMaxBulkBytes));
  }
  return bulk_.get();
}

Result<Message> Client::call_bulk(Body body, Bytes chunk, milliseconds hold) {
  TRY(Link * link, bulk());
  Message request;
  request.envelope.request = make_request_id();
  request.envelope.body = std::move(body);
  request.chunk = std::move(chunk);
  TRY(Message reply, exchange(*link, std::move(request), hold + options_.reply_timeout));
  if (auto* error = std::get_if<ErrorReply>(&reply.envelope.body))
    return Error{error->fault.code, error->fault.message};
  return reply;
}

Result<std::vector<BlobState>> Client::has_blobs(const std::vector<Digest>& digests) {
  std::vector<BlobState> states;
  constexpr size_t kPage = 5000;
  for (size_t from = 0; from < digests.size(); from += kPage) {
    const size_t to = std::min(digests.size(), from + kPage);
    TRY(Message message, call_bulk(HasBlobs{{digests.begin() + from, digests.begin() + to}}));
    TRY(BlobStates page, expect<BlobStates>(message));
    if (page.blobs.size() != to - from)
      return Error{ErrorCode::internal, "coordinator: an incomplete answer to has_blobs"};
    states.insert(states.end(), page.blobs.begin(), page.blobs.end());
  }
  return states;
}

Result<Digest> Client::put_blob(ByteSpan bytes, const TransferProgress& progress) {
  const Digest digest = sha256(bytes);
  TRY(const std::vector<BlobState> states, has_blobs({digest}));
  if (states[0].present) return digest;
  uint64_t offset = std::min<uint64_t>(states[0].received_bytes, bytes.size());
  while (true) {
    const ByteSpan part =
        bytes.subspan(offset, std::min<size_t>(kChunkBytes, bytes.size() - offset));
    const PutBlob put{digest, bytes.size(), offset, sha256(part)};
    Result<Message> message = call_bulk(put, Bytes(as_text(part)));
    if (!message.ok()) return message.error().within("upload " + digest.text());
    TRY(const PutReply reply, expect<PutReply>(*message));
    if (progress) progress(std::min<uint64_t>(reply.offset, bytes.size()), bytes.size());
    if (reply.complete) return digest;
    if (reply.offset > bytes.size())
      return Error{ErrorCode::internal, "upload " + digest.text() + ": an offset behind the end"};
    offset = reply.offset;
  }
}

Result<Bytes> Client::get_blob(const Digest& digest, const TransferProgress& progress) {
  Bytes bytes;
  while (true) {
    TRY(Message message, call_bulk(GetBlob{digest, bytes.size(), kChunkBytes}));
    TRY(const BlobChunk chunk, expect<BlobChunk>(message));
    if (chunk.offset != bytes.size() || sha256(message.chunk) != chunk.chunk)
      return Error{ErrorCode::corrupt_data,
                   "download " + digest.text() + ": a chunk arrived damaged"};
    bytes += message.chunk;
    if (progress) progress(bytes.size(), chunk.size_bytes);
    if (bytes.size() >= chunk.size_bytes) break;
    if (message.chunk.empty())
      return Error{ErrorCode::corrupt_data, "download " + digest.text() + ": it ends early"};
  }
  if (sha256(bytes) != digest)
    return Error{ErrorCode::corrupt_data,
                 "download " + digest.text() + ": the bytes have another digest"};
  return bytes;
}

Result<uint64_t> Client::append_log(const StepRef& ref, uint64_t offset, const std::string& text) {
  TRY(Message message, call_bulk(AppendLog{ref, offset, text}));
  TRY(const AppendReply reply, expect<AppendReply>(message));
  return reply.offset;
}

Result<LogChunk> Client::read_log(const std::string& job, uint64_t offset, bool follow,
                                  milliseconds hold) {
  ReadLog read;
  read.job = job;
  read.offset = offset;
  read.follow = follow;
  read.hold_ms = static_cast<uint32_t>(hold.count());
  TRY(Message message, call_bulk(read, {}, follow ? hold : milliseconds(0)));
  return expect<LogChunk>(message);
}

Result<std::vector<TimingEntry>> Client::get_timings(const Digest& device,
                                                     const std::vector<Digest>& problems) {
  std::vector<TimingEntry> all;
  GetTimings get{device, problems, 0};
  while (true) {
    TRY(Message message, call_bulk(get));
    TRY(TimingList page, expect<TimingList>(message));
    std::move(page.entries.begin(), page.entries.end(), std::back_inserter(all));
    if (page.complete) return all;
    if (page.next_row <= get.from_row)
      return Error{ErrorCode::internal, "coordinator: timings without an end"};
    get.from_row = page.next_row;
  }
}

Result<uint64_t> Client::put_timings(const std::vector<Bytes>& keys,
                                     const std::vector<TimingEntry>& entries) {
  constexpr size_t kPage = 500;
  uint64_t stored = 0;
  for (size_t from = 0; from == 0 || from < entries.size(); from += kPage) {
    PutTimings put;
    if (from == 0) put.keys = keys;  // recorded before the first entry that names them
    put.entries.assign(entries.begin() + from,
                       entries.begin() + std::min(entries.size(), from + kPage));
    TRY(Message message, call_bulk(std::move(put)));
    TRY(const PutTimingsReply reply, expect<PutTimingsReply>(message));
    stored += reply.stored;
  }
  return stored;
}

}  // namespace enginery
