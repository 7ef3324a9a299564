// The control socket's thread: requests in, core, durable rows, replies out.
// Threads: run() is the thread; stop() and the signer's answers come from others.
#pragma once

#include <atomic>
#include <unordered_map>

#include "cache/catalog.h"
#include "coordinator/server/log_store.h"
#include "coordinator/server/queue_driver.h"
#include "coordinator/server/server_socket.h"
#include "coordinator/server/signer.h"

namespace enginery {

class ControlServer {
 public:
  // Everything given outlives it. `changed` is called when a job's log state changed.
  ControlServer(ServerSocket& socket, Catalog& catalog, QueueStore& store, LogStore& logs,
                const SigningKey& key, std::string bulk_address, std::function<void()> changed);

  Status open(const CoreOptions& options);  // loads the queue
  void run();                               // returns after stop()
  void stop();

 private:
  struct Dispatch;
  void handle(Incoming in);
  void hello(const Incoming& in, const Hello& hello);
  void feed_request(Incoming in);
  std::vector<Digest> missing_blobs(const Body& body);
  void deliver(Outbox outbox);
  void reply(const ReplyTo& to, Body body);
  std::chrono::milliseconds patience() const;

  ServerSocket& socket_;
  Catalog& catalog_;
  QueueStore& store_;
  LogStore& logs_;
  PublicKey public_key_;
  std::string bulk_address_;
  std::function<void()> changed_;
  uint64_t incarnation_;
  std::unordered_map<std::string, std::string> clients_;  // session -> Hello's name
  std::unique_ptr<QueueDriver> driver_;
  Wake wake_;
  std::atomic<bool> stop_ = false;
  Signer signer_;  // last: its thread rings the wake
};

}  // namespace enginery
