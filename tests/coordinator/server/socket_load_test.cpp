// Many jobs and workers over sockets (R7): clients that submit at once, then workers that finish at
// once what they are given. ENGINERY_LOAD_JOBS=100000 with ENGINERY_LOAD_WORKERS=1000 makes it the
// whole bar, asserted with ENGINERY_LOAD_RATES=1 on a machine that does nothing else; by default it
// is a small one that only catches a scan over everything.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <future>

#include "coordinator/client/descriptor_limit.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kJobsOfAModel = 100, kSkus = 8, kClients = 10;
constexpr size_t kLinksOfAContext = 250;  // of the 1023 that it has

double elapsed_s(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

double resident_now_mb() {
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

// A job of its own: another tuning and another engine of one of the models.
SubmitRequest numbered_submit(size_t number) {
  const std::string model = std::to_string(number / kJobsOfAModel);
  SubmitRequest submit = make_submit(model, {"sku" + std::to_string(number % kSkus)}, "n" + model);
  for (auto* key : {&submit.targets[0].engine_key, &submit.targets[0].tune_key})
    key->push_back({"number", std::to_string(number)});
  submit.wait_for_workers = true;
  return submit;
}

// What every pretended step leaves.
struct Leavings {
  NamedBlob choices, content, engine;
};

Leavings upload_leavings(Client& client) {
  const auto add = [&](const char* name) {
    const Bytes bytes = std::string("the ") + name;
    return NamedBlob{name, must(client.put_blob(as_bytes(bytes))), bytes.size()};
  };
  return {add("choices"), add("content"), add("unsigned")};
}

Outcome outcome_at_once(const RunStep& run, const Leavings& leavings) {
  Outcome outcome;
  if (run.kind == "validate") outcome.facts = {structure_fact(run)};
  if (run.kind == "tune") outcome.outputs = {leavings.choices};
  if (run.kind == "assemble") outcome.outputs = {leavings.content};
  if (run.kind == "profile") outcome.outputs = {leavings.engine};
  return outcome;
}

// One worker: a connection with one Sync on its way.
class SocketWorker {
 public:
  SocketWorker(std::unique_ptr<Link> link, size_t number) : link_(std::move(link)) {
    sync_.worker = "worker" + std::to_string(number);
    sync_.incarnation = sync_.sequence = 1;
    sync_.sku = "sku" + std::to_string(number % kSkus);
    sync_.kind = "cpu";
    sync_.toolchain = "tool 1";
    sync_.device = "device of " + sync_.worker;
  }
  // Says what is to be said and takes an answer that is there; whether that was a step.
  bool turn(const Leavings& leavings) {
    if (!asked_) ask();
    const auto message = must(link_->receive(milliseconds(0), -1));
    if (!message || message->envelope.request != request_) return false;
    asked_ = false;
    ++sync_.sequence;
    const SyncReply& reply = std::get<SyncReply>(message->envelope.body);
    if (std::holds_alternative<BeIdle>(reply.desired)) sync_.state = Idle{};
    const auto* run = std::get_if<RunStep>(&reply.desired);
    if (run == nullptr) return false;
    sync_.state = Finished{run->ref, outcome_at_once(*run, leavings)};
    ask();
    return true;
  }

 private:
  void ask() {
    Message message;
    message.envelope.request = request_ = make_request_id();
    message.envelope.sequence = sync_.sequence;
    message.envelope.body = sync_;
    asked_ = link_->send(message).ok();  // not before it is connected
  }

  std::unique_ptr<Link> link_;
  SyncRequest sync_;
  RequestId request_;
  bool asked_ = false;
};

class SocketLoad {
 public:
  SocketLoad() {
    allow_many_descriptors();
    options_ = {folder_.path / "data", "ipc://" + (folder_.path / "c.sock").string(),
                "ipc://" + (folder_.path / "b.sock").string(), milliseconds(5000), accept_engine};
    coordinator_ = must(Coordinator::start(options_));
  }

  // Jobs a second, of clients that each wait for one answer after the other.
  double submit(size_t jobs) {
    const auto client = connect_to(options_.listen, "uploader");
    for (size_t i = 0; i <= jobs / kJobsOfAModel; ++i)
      must(client->put_blob(as_bytes(std::to_string(i))));
    const auto begin = steady_clock::now();
    std::vector<std::future<std::vector<double>>> clients;
    for (size_t first = 0; first < kClients; ++first)
      clients.push_back(
          std::async(std::launch::async, [=, this] { return submit_from(first, jobs); }));
    for (auto& one : clients) {
      const std::vector<double> taken = one.get();
      taken_ms_.insert(taken_ms_.end(), taken.begin(), taken.end());
    }
    const double took_s = elapsed_s(begin);
    std::sort(taken_ms_.begin(), taken_ms_.end());
    return static_cast<double>(jobs) / took_s;
  }
  double p99_ms() const { return taken_ms_.at(taken_ms_.size() * 99 / 100); }

  // Steps handed out a second.
  double dispatch(size_t count, size_t wanted) {
    const Leavings leavings = upload_leavings(*connect_to(options_.listen, "uploader"));
    std::vector<SocketWorker> workers;
    Dial dial;
    for (size_t i = 0; i < count; ++i) {
      if (i % kLinksOfAContext == 0) dial = make_zmq_dial();
      workers.emplace_back(must(dial(options_.listen, kMaxControlBytes)), i);
    }
    const auto begin = steady_clock::now();
    size_t handed_out = 0;
    while (handed_out < wanted && elapsed_s(begin) < 600) {
      const size_t before = handed_out;
      for (SocketWorker& worker : workers) handed_out += worker.turn(leavings);
      if (handed_out == before) std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_GE(handed_out, wanted);
    return static_cast<double>(handed_out) / elapsed_s(begin);
  }

 private:
  std::vector<double> submit_from(size_t first, size_t jobs) const {
    const auto client = connect_to(options_.listen, "client" + std::to_string(first));
    std::vector<double> taken_ms;
    for (size_t number = first; number < jobs; number += kClients) {
      const auto begin = steady_clock::now();
      must(client->submit(numbered_submit(number), make_request_id()));
      taken_ms.push_back(elapsed_s(begin) * 1e3);
    }
    return taken_ms;
  }

  TemporaryFolder folder_;
  CoordinatorOptions options_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<double> taken_ms_;
};

TEST(SocketLoad, SubmitsAndDispatchesOverSockets) {
  const size_t jobs = from_environment("ENGINERY_LOAD_JOBS", 1000);
  const size_t workers = from_environment("ENGINERY_LOAD_WORKERS", 100);
  const bool whole = from_environment("ENGINERY_LOAD_RATES", 0) != 0;
  SocketLoad load;
  const double submits = load.submit(jobs);
  const double dispatches = load.dispatch(workers, std::min(jobs, workers * 30));
  std::printf(
      "%zu jobs, %zu workers over sockets: %.0f submits (p99 %.1f ms), %.0f dispatches a "
      "second, %.0f MB with the workers\n",
      jobs, workers, submits, load.p99_ms(), dispatches, resident_now_mb());
  EXPECT_GE(submits, whole ? 2000 : 20);
  EXPECT_GE(dispatches, whole ? 1200 : 20);
  if (whole) {
    EXPECT_LE(resident_now_mb(), 1000);
  }
}

}  // namespace
}  // namespace enginery
