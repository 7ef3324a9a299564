#include "coordinator/server/bulk_server.h"

#include <algorithm>
#include <set>

#include "cache/gc.h"
#include "coordinator/server/timing_pages.h"
#include "engine/base/log.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMaxPause{500};
constexpr uint64_t kMaxBlobBytes = 64ull << 30;

}  // namespace

void BulkServer::stop() {
  stop_ = true;
  wake_.ring();
}

void BulkServer::run() {
  while (!stop_) {
    socket_.wait(followers_.empty() ? kMaxPause : milliseconds(100), wake_);
    wake_.clear();
    while (!stop_) {
      std::optional<Incoming> in = socket_.receive();
      if (!in) break;
      handle(std::move(*in));
    }
    serve_followers();
  }
}

// One overload for each request of the bulk socket: one that is missing does not compile.
struct BulkServer::Dispatch {
  BulkServer& server;
  Message& message;
  const Principal& who;
  const Sight sight = sight_of(who);

  Result<Answer> operator()(const HasBlobs& request) { return server.has(request); }
  Result<Answer> operator()(const PutBlob& request) {
    return server.put(request, std::move(message.chunk));
  }
  Result<Answer> operator()(const GetBlob& request) { return server.get(request); }
  Result<Answer> operator()(const GetTimings& request) { return server.get_timings(request); }
  Result<Answer> operator()(const PutTimings& request) {
    return server.put_timings(request, message.envelope.session);
  }
  Result<Answer> operator()(const AppendLog& request) {
    CHECK_OK(server.check_author(who, request.ref));
    TRY(const uint64_t offset, server.logs_.append(request.ref, request.offset, request.text));
    return Answer{AppendReply{offset}, {}};
  }
  Result<Answer> operator()(const ReadLog& request) {
    TRY(LogChunk chunk, server.logs_.read(request.job, request.offset,
                                          std::min<uint32_t>(request.length, kChunkBytes), sight));
    return Answer{std::move(chunk), {}};
  }
  template <typename Other>
    requires(!BulkRequest<Other>)
  Result<Answer> operator()(const Other&) {
    return Error{ErrorCode::unsupported, "this is not a request of the bulk socket"};
  }
};

void BulkServer::handle(Incoming in) {
  const RequestId id = in.message.envelope.request;
  const Result<Principal> who = keys_.admit(in.from, in.message.envelope.body);
  if (!who.ok()) {
    log_warning("refused a message from " + in.from.address + ": " + who.error().message);
    return reply(in.route, id, who.error());
  }
  if (!who->name.empty())
    in.message.envelope.session = peer_session(who->id(), in.message.envelope.session);
  if (const auto* read = std::get_if<ReadLog>(&in.message.envelope.body);
      read != nullptr && read->follow) {
    const Nanoseconds hold = milliseconds(std::min<uint32_t>(read->hold_ms, 30000));
    const Follower follower{in.route, id, *read, sight_of(*who),
                            catalog_.clock().monotonic() + hold};
    for (const Follower& known : followers_)
      if (known.request == id && known.route == in.route) return;  // a repetition
    if (!follow(follower, false)) followers_.push_back(follower);
    return;
  }
  Result<Answer> answer = std::visit(Dispatch{*this, in.message, *who}, in.message.envelope.body);
  if (!answer.ok() && answer.error().code == ErrorCode::untrusted)
    log_warning("refused a message from " + in.from.address + ": " + answer.error().message);
  reply(in.route, id, std::move(answer));
}

// A key writes to the logs of its own workers' steps.
Status BulkServer::check_author(const Principal& who, const StepRef& ref) const {
  const std::string worker = logs_.worker_of(ref);
  if (who.name.empty() || worker.empty()) return {};
  const Status own = check_worker_name(who, worker);
  return own.ok() ? own : own.error().within("log of step " + std::to_string(ref.step));
}

void BulkServer::reply(const Bytes& route, RequestId request, Result<Answer> answer) {
  Message message;
  message.envelope.request = request;
  if (answer.ok()) {
    message.envelope.body = std::move(answer->body);
    message.chunk = std::move(answer->chunk);
  } else {
    message.envelope.body = ErrorReply{{answer.error().code, answer.error().message}};
  }
  socket_.send(route, std::move(message));
}

Result<BulkServer::Answer> BulkServer::has(const HasBlobs& request) {
  BlobStates states;
  std::vector<Digest> present;
  for (const Digest& digest : request.digests) {
    BlobState state;
    state.digest = digest;
    const Result<uint64_t> size = reader_.blobs().size(digest);
    if (!size.ok() && size.error().code != ErrorCode::not_found) return size.error();
    state.present = size.ok();
    if (size.ok()) {
      state.size_bytes = *size;
    } else {
      TRY(state.received_bytes, writer_.offset(digest));
    }
    states.blobs.push_back(state);
    if (state.present) present.push_back(digest);
  }
  CHECK_OK(lease_blobs(catalog_, reader_, present));
  return Answer{std::move(states), {}};
}

// A chunk is checked before it is kept where it has a digest of its own, the whole blob before it
// gets its name.
Result<BulkServer::Answer> BulkServer::put(const PutBlob& request, Bytes chunk) {
  if (request.size_bytes > kMaxBlobBytes || request.offset > request.size_bytes ||
      chunk.size() > std::min<uint64_t>(kChunkBytes, request.size_bytes - request.offset))
    return Error{ErrorCode::invalid_argument,
                 "blob " + request.digest.text() + ": a chunk beyond its end"};
  if (request.chunk != Digest{} && sha256(chunk) != request.chunk)
    return Error{ErrorCode::corrupt_data, "blob " + request.digest.text() + ": the chunk at " +
                                              std::to_string(request.offset) +
                                              " arrived damaged; send it again"};
  TRY(const bool there, has_blob(catalog_.blobs(), request.digest));
  if (there) return Answer{PutReply{request.size_bytes, true}, {}};
  if (request.size_bytes == 0) {
    if (request.digest != sha256(""))
      return Error{ErrorCode::corrupt_data, "blob " + request.digest.text() + ": not empty"};
    TRY(const Digest stored, catalog_.blobs().put({}));
    (void)stored;
    return Answer{PutReply{0, true}, {}};
  }
  const Result<uint64_t> offset =
      writer_.append(request.digest, request.offset, std::move(chunk), request.size_bytes);
  if (!offset.ok() &&
      offset.error().code == ErrorCode::invalid_argument) {  // a gap: the client goes on from here
    TRY(const uint64_t from, writer_.offset(request.digest));
    return Answer{PutReply{from, false}, {}};
  }
  if (!offset.ok()) return offset.error();
  if (*offset < request.size_bytes) return Answer{PutReply{*offset, false}, {}};
  CHECK_OK(writer_.finish(request.digest));
  return Answer{PutReply{*offset, true}, {}};
}

Result<BulkServer::Answer> BulkServer::get(const GetBlob& request) {
  if (request.length == kUncheckedBytes) return get_unchecked(request);
  TRY(const uint64_t size, catalog_.blobs().size(request.digest));
  TRY(Bytes bytes, catalog_.blobs().read_range(request.digest, request.offset,
                                               std::min<uint64_t>(request.length, kChunkBytes)));
  const Digest digest = sha256(bytes);
  return Answer{BlobChunk{request.digest, request.offset, size, digest}, std::move(bytes)};
}

// The receiver hashes the whole, so that no byte is hashed twice. It reads over the reader's
// connection, which waits for no transaction of the queue.
Result<BulkServer::Answer> BulkServer::get_unchecked(const GetBlob& request) {
  TRY(const uint64_t size, reader_.blobs().size(request.digest));
  Result<Bytes> bytes =
      reader_.local_blobs()->read_unchecked(request.digest, request.offset, kChunkBytes);
  if (!bytes.ok() && bytes.error().code == ErrorCode::corrupt_data)  // a small blob, set aside so
    bytes = catalog_.blobs().read_range(request.digest, request.offset, kChunkBytes);
  if (!bytes.ok()) return bytes.error();
  return Answer{BlobChunk{request.digest, request.offset, size, Digest{}}, std::move(*bytes)};
}

Result<BulkServer::Answer> BulkServer::get_timings(const GetTimings& request) {
  TRY(TimingList page, timing_page(reader_.timings(), request));
  return Answer{std::move(page), {}};
}

// A timing is the conclusion of every later build on that device: who does not have it is not
// believed.
Status BulkServer::check_devices(const PutTimings& request, const std::string& session) {
  TRY(const std::string sku, peers_.sku_of(session));
  std::set<Digest> devices;
  for (const TimingEntry& entry : request.entries) devices.insert(entry.device);
  for (const Digest& digest : devices) {
    TRY(const ActionKey device, catalog_.timings().find_key(digest));
    const std::string* of = device.find("sku");
    if (of != nullptr && *of == sku) continue;
    return Error{ErrorCode::untrusted, "worker '" + peers_.name_of(session) + "' offers '" + sku +
                                           "' and sent timings of '" + (of ? *of : "?") + "'"};
  }
  return {};
}

Result<BulkServer::Answer> BulkServer::put_timings(const PutTimings& request,
                                                   const std::string& session) {
  for (const Bytes& key : request.keys) {
    TRY(const ActionKey parsed, ActionKey::parse(key));
    CHECK_OK(catalog_.timings().record_key(parsed));
  }
  CHECK_OK(check_devices(request, session));
  std::vector<TimingRow> rows;
  for (const TimingEntry& entry : request.entries)
    rows.push_back({entry.device, entry.problem, entry.tactic, entry.entry, entry.measured_ns});
  TRY(const int64_t stored, catalog_.timings().put(rows));
  return Answer{PutTimingsReply{static_cast<uint64_t>(stored)}, {}};
}

// Answers a follower that has something to hear: new text, the log's end, an error, or that its
// time is up.
bool BulkServer::follow(const Follower& follower, bool last_chance) {
  Result<LogChunk> chunk =
      logs_.read(follower.read.job, follower.read.offset,
                 std::min<uint32_t>(follower.read.length, kChunkBytes), follower.sight);
  if (chunk.ok() && chunk->text.empty() && !chunk->complete && !last_chance) return false;
  if (chunk.ok())
    reply(follower.route, follower.request, Answer{std::move(*chunk), {}});
  else
    reply(follower.route, follower.request, chunk.error());
  return true;
}

void BulkServer::serve_followers() {
  const Nanoseconds now = catalog_.clock().monotonic();
  followers_.remove_if(
      [&](const Follower& follower) { return follow(follower, follower.until <= now); });
}

}  // namespace enginery
