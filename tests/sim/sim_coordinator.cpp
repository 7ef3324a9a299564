// World's coordinator: the real driver and core, fed as the server's thread feeds them, which dies
// and stands still.
#include <algorithm>

#include "tests/sim/sim_client.h"
#include "tests/sim/sim_operator.h"
#include "tests/sim/sim_worker.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The blobs that a request names and that are not there, as the server asks for them.
std::vector<Digest> missing_blobs(const Body& body, const SimDisk& disk) {
  std::vector<Digest> missing;
  if (const auto* submit = std::get_if<SubmitRequest>(&body);
      submit != nullptr && !disk.has_blob(submit->model))
    missing.push_back(submit->model);
  const auto* sync = std::get_if<SyncRequest>(&body);
  const auto* finished = sync == nullptr ? nullptr : std::get_if<Finished>(&sync->state);
  if (finished == nullptr) return missing;
  for (const NamedBlob& output : finished->outcome.outputs)
    if (!disk.has_blob(output.digest)) missing.push_back(output.digest);
  return missing;
}

}  // namespace

void World::send_to_coordinator(const Peer& from, RequestId id, Body body,
                                const std::string& client) {
  network(from.host, [this, from, id, body = std::move(body), client] {
    // Without a coordinator it is lost; one that stands still finds it in its socket.
    in_coordinator(life_, [this, from, id, body, client] {
      Request request{{from.route, id}, client, body, missing_blobs(body, disk_)};
      if (options_.tamper) options_.tamper(request, disk_.rows());
      feed(std::move(request));
    });
  });
}

void World::in_coordinator(uint64_t life, std::function<void()> action) {
  if (driver_ == nullptr || life != life_) return;
  if (stalled_until_ <= now_) return action();
  at(stalled_until_ - now_,
     [this, life, action = std::move(action)] { in_coordinator(life, action); });
}

void World::start_coordinator() {
  ++life_;
  if (chance(options_.faults.load_fails)) disk_.fail_next_load();
  Result<std::unique_ptr<QueueDriver>> driver = QueueDriver::open(disk_, *this, options_.core);
  if (!driver.ok()) {  // the disk is full, or cannot be read: try again
    disk_.roll_back();
    trouble_until(now_ + seconds(1));
    at(seconds(1), [this] { start_coordinator(); });
    return;
  }
  driver_ = std::move(*driver);
  stalled_until_ = now_;
  timer_at_.reset();
  flush();
}

void World::crash_coordinator() {
  if (driver_ == nullptr) return;
  ++report_.coordinator_crashes;
  driver_.reset();
  disk_.roll_back();
  flush_due_ = false;
  const Nanoseconds pause = between(milliseconds(50), seconds(12));
  trouble_until(now_ + pause);
  at(pause, [this] { start_coordinator(); });
}

// Several events may share a transaction.
void World::feed(CoreEvent event) {
  if (chance(options_.faults.look_up_fails)) disk_.fail_next_look_up();
  driver_->feed(std::move(event));
  if (coin(0.7)) return flush();
  if (std::exchange(flush_due_, true)) return;
  at(between(Nanoseconds(1000), milliseconds(2)), [this, life = life_] {
    in_coordinator(life, [this] {
      if (flush_due_) flush();
    });
  });
}

void World::flush() {
  flush_due_ = false;
  if (chance(options_.faults.disk_full)) {
    ++report_.disk_failures;
    disk_.fail_next(1);
  }
  if (options_.faults.lying_disk > 0 && chance(options_.faults.lying_disk)) disk_.lie_once();
  if (chance(options_.faults.crash_before_commit)) return crash_coordinator();
  Outbox outbox = driver_->flush();
  if (chance(options_.faults.crash_after_commit)) return crash_coordinator();
  carry_out(std::move(outbox));
  if (driver_ != nullptr) arm_timer();
}

void World::carry_out(Outbox outbox) {
  for (const Reply& reply : outbox.replies) {
    if (chance(options_.faults.crash_between_replies)) return crash_coordinator();
    deliver(reply);
  }
  for (const SignTask& task : outbox.signing) {
    if (chance(options_.faults.crash_between_replies)) return crash_coordinator();
    at(between(milliseconds(1), milliseconds(300)),
       [this, task, life = life_] { sign(task, life); });
  }
}

void World::deliver(const Reply& reply) {
  const std::string& route = reply.to.route;
  for (auto& worker : workers_)
    if (worker->options().route == route)
      network(worker->options().device,
              [w = worker.get(), reply] { w->hear(reply.to.request, reply.body); });
  for (auto& client : clients_)
    if (client->name() == route)
      network("", [c = client.get(), reply] { c->hear(reply.to.request, reply.body); });
  if (route == "operator")
    network("", [this, reply] { operator_->hear(reply.to.request, reply.body); });
}

// The signer is a thread of its own.
void World::sign(SignTask task, uint64_t life) {
  SignAnswer answer{task.step, task.epoch, std::nullopt, {}};
  if (const Status read = disk_.fetch(task.engine.blob); read.ok()) {
    const std::string content = "signed " + task.engine.blob.hex();
    answer.engine = NamedBlob{"engine", disk_.add_blob(content, 0, 0), content.size()};
  } else {
    answer.fault = {read.error().code, read.error().message};
  }
  in_coordinator(life, [this, answer = std::move(answer)] { feed(answer); });
}

void World::arm_timer() {
  const std::optional<Nanoseconds> next = driver_->next_timer();
  if (!next || (timer_at_ && *timer_at_ <= *next && *timer_at_ > now_)) return;
  timer_at_ = next;
  at(std::max(Nanoseconds(0), *next - now_) + Nanoseconds(1000),
     [this, life = life_, armed = next] {
       // One microsecond later than what waits in the socket: the server takes that first.
       const Nanoseconds rest = std::max(Nanoseconds(0), stalled_until_ - now_);
       at(rest + Nanoseconds(1000), [this, life, armed] {
         in_coordinator(life, [this, armed] {
           if (timer_at_ != armed) return;
           timer_at_.reset();
           feed(TimerFired{});
           if (driver_ != nullptr && !timer_at_) arm_timer();
         });
       });
     });
}

}  // namespace enginery
