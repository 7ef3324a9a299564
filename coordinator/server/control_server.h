// The control socket's thread: requests in, core, durable rows, replies out.
//
// Where: between ServerSocket and QueueDriver. It takes up to 256 waiting requests as one batch,
// feeds them to the core, makes the batch durable as one transaction, and only then sends the
// replies. What the catalog alone can answer (catalog_reader.h) a CatalogReader answers.
// Errors: a request that the core refuses and a storage failure are ErrorReplies. Threads: run() is
// the thread; stop() and the signer's answers come from others.
#pragma once

#include <atomic>

#include "cache/catalog.h"
#include "coordinator/server/catalog_reader.h"
#include "coordinator/server/desk.h"
#include "coordinator/server/log_store.h"
#include "coordinator/server/peers.h"
#include "coordinator/server/queue_driver.h"
#include "coordinator/server/server_socket.h"
#include "coordinator/server/signer.h"
#include "coordinator/server/tally.h"

namespace enginery {

// What the thread tells others of itself.
struct ControlHooks {
  std::function<void()> changed;  // a job's log state changed
  std::function<void()> alive;    // every second and more often; may be empty
};

class ControlServer {
 public:
  // Everything given outlives it. `check` says what may be signed; Welcome names `bulk`'s address.
  ControlServer(ServerSocket& socket, const ServerSocket& bulk, KeyRing& keys, Catalog& catalog,
                QueueStore& store, LogStore& logs, Peers& peers, const SigningKey& key,
                EngineCheck check, ControlHooks hooks);

  // Loads the queue and goes on with it. storage, corrupt_data: it cannot be read.
  Status open(const CoreOptions& options);
  void run();   // serves; returns after stop()
  void stop();  // from any thread; returns at once

  // Whether timers that are that late are fired although more requests may wait: who seems silent
  // may have spoken in one of them, but a flood of requests must not stop the clock.
  static bool may_fire(bool more_wait, Nanoseconds late);
  // A request of this process's own, answered like a client's. Errors: the answer's; unavailable:
  // none came in time. From any thread but run()'s.
  Result<Body> ask(Body request, std::chrono::milliseconds timeout) {
    return desk_.ask(std::move(request), timeout);
  }
  const Tally& tally() const { return tally_; }  // from any thread

 private:
  struct Dispatch;
  void handle(Incoming in);
  void hello(const Incoming& in, const Hello& hello);
  void join(const Incoming& in, const JoinFarm& request);
  void feed_request(Incoming in, const Principal& who);
  // What the key may not say, beside its roles: another's worker, another's share.
  Status bind_to(const Principal& who, Incoming& in) const;
  // Which of the blobs that a submit or a finished step names are not in the store. storage: the
  // store cannot say.
  Result<std::vector<Digest>> missing_blobs(const Body& body);
  void cannot_say(const ReplyTo& to, const Body& body, const Error& error);
  // Carries out what follows from a durable batch.
  void open_log(const std::string& job);
  void deliver(Outbox outbox);
  void reply(const ReplyTo& to, Body body);
  // How long the next wait may be: until the core's next timer.
  std::chrono::milliseconds longest_wait() const;

  ServerSocket& socket_;
  const ServerSocket& bulk_;
  KeyRing& keys_;
  Catalog& catalog_;
  QueueStore& store_;
  LogStore& logs_;
  Peers& peers_;
  SigningKey key_;
  ControlHooks hooks_;
  uint64_t incarnation_;
  std::unique_ptr<QueueDriver> driver_;
  Wake wake_;
  std::atomic<bool> stop_ = false;
  Desk desk_;
  Tally tally_;
  std::unique_ptr<CatalogReader> questions_, long_questions_;
  Signer signer_;  // after the wake, as questions_: their threads ring it
};

}  // namespace enginery
