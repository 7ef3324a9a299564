// The bulk socket's thread: blobs in chunks, logs, timings. It never touches the queue, so
// a long transfer delays no decision.
//
// Where: next to ControlServer, over the same catalog and log store; its requests are the `bulk`
// rows of schemas/messages.inc. Errors: of the catalog and the log store, as ErrorReply;
// unsupported for any other body. Threads: run() is the thread; stop() and wake() come from others.
#pragma once

#include <atomic>
#include <list>

#include "cache/blob_writer.h"
#include "cache/catalog.h"
#include "coordinator/server/log_store.h"
#include "coordinator/server/peers.h"
#include "coordinator/server/server_socket.h"

namespace enginery {

class BulkServer {
 public:
  // Everything given outlives it. `reader` is the catalog over a connection of its own.
  BulkServer(ServerSocket& socket, KeyRing& keys, Catalog& catalog, Catalog& reader,
             BlobWriter& writer, LogStore& logs, const Peers& peers)
      : socket_(socket),
        keys_(keys),
        catalog_(catalog),
        reader_(reader),
        writer_(writer),
        logs_(logs),
        peers_(peers) {}

  void run();  // returns after stop()
  void stop();
  void wake() { wake_.ring(); }  // a job ended: those who follow its log must hear it

 private:
  // A ReadLog that waits for more text; lives until `until` at most.
  struct Follower {
    Bytes route;
    RequestId request;
    ReadLog read;
    Sight sight;
    Nanoseconds until{};
  };
  struct Answer {
    Body body;
    Bytes chunk;  // the raw second frame, for BlobChunk only
  };
  struct Dispatch;
  void handle(Incoming in);
  Result<Answer> has(const HasBlobs& request);
  Result<Answer> put(const PutBlob& request, Bytes chunk);
  Result<Answer> get(const GetBlob& request);
  Result<Answer> get_unchecked(const GetBlob& request);
  Result<Answer> get_timings(const GetTimings& request);
  Result<Answer> put_timings(const PutTimings& request, const std::string& session);
  // Whether the lease was given to a worker of the key's.
  Status check_author(const Principal& who, const StepRef& ref) const;
  // Whether the timings are of the device that the session's worker offers.
  Status check_devices(const PutTimings& request, const std::string& session);
  // Answers when there is something to say, or at the last chance; whether it did.
  bool follow(const Follower& follower, bool last_chance);
  void serve_followers();
  void reply(const Bytes& route, RequestId request, Result<Answer> answer);

  ServerSocket& socket_;
  KeyRing& keys_;
  Catalog& catalog_;
  Catalog& reader_;
  BlobWriter& writer_;
  LogStore& logs_;
  const Peers& peers_;
  std::list<Follower> followers_;
  Wake wake_;
  std::atomic<bool> stop_ = false;
};

}  // namespace enginery
