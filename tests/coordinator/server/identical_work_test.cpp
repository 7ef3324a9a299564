// Whoever asks for the same, one after the other or all at one moment (R6): it is done once, and
// everybody gets the same bytes.
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <map>
#include <mutex>

#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

// Pretends, a little slowly, and counts what it was asked for.
class CountedWork {
 public:
  FakeWorker::Work work() {
    return [this](Client& client, const RunStep& run) {
      {
        const std::lock_guard lock(mutex_);
        ++runs_[run.kind];
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return pretend(client, run);
    };
  }
  void expect_each_once() {
    const std::lock_guard lock(mutex_);
    for (const char* kind : {"validate", "tune", "assemble", "verify", "profile"})
      EXPECT_EQ(runs_[kind], 1) << kind;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> runs_;
};

void wait_for_a_worker(Client& client) {
  while (must(client.workers()).empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(IdenticalWork, OfOneClientInFlightIsDoneOnce) {
  const Farm farm;
  CountedWork counted;
  const FakeWorker worker(farm, "a", "x", counted.work());
  const auto client = farm.client();
  wait_for_a_worker(*client);
  must(client->put_blob(as_bytes("m")));
  std::vector<std::string> jobs;
  for (int i = 0; i < 30; ++i)
    jobs.push_back(must(client->submit(make_submit("m", {"x"}), make_request_id())).id);
  int built = 0;
  for (const std::string& job : jobs) {
    const JobView end = must(wait_for_end(*client, job));
    ASSERT_EQ(end.state, JobState::done);
    built += end.targets[0].source == Source::built;
  }
  counted.expect_each_once();
  EXPECT_EQ(built, 1);
}

// How many clients got which bytes.
class Answers {
 public:
  void add(const Bytes& engine) {
    const std::lock_guard lock(mutex_);
    ++engines_[engine];
  }
  const std::map<Bytes, int>& engines() const { return engines_; }

 private:
  std::mutex mutex_;
  std::map<Bytes, int> engines_;
};

void submit_and_fetch(Client& client, int submits, Answers& answers) {
  std::vector<std::string> jobs;
  for (int i = 0; i < submits; ++i)
    jobs.push_back(must(client.submit(make_submit("m", {"x"}), make_request_id())).id);
  for (const std::string& job : jobs) {
    const JobView end = must(wait_for_end(client, job));
    answers.add(must(client.get_blob(end.targets.at(0).engine.value())));
  }
}

TEST(IdenticalWork, OfTenClientsAtOnceIsDoneOnce) {
  constexpr int kClients = 10, kSubmits = 10;
  const Farm farm;
  CountedWork counted;
  const FakeWorker a(farm, "a", "x", counted.work()), b(farm, "b", "x", counted.work());
  wait_for_a_worker(*farm.client());
  must(farm.client()->put_blob(as_bytes("m")));
  std::latch together(kClients);
  Answers answers;
  std::vector<std::future<void>> clients;
  for (int number = 0; number < kClients; ++number) {
    clients.push_back(std::async(std::launch::async, [&, number] {
      const auto client = farm.client("client" + std::to_string(number));
      together.arrive_and_wait();
      submit_and_fetch(*client, kSubmits, answers);
    }));
  }
  for (auto& client : clients) client.get();
  ASSERT_EQ(answers.engines().size(), 1u) << "they got different engines";
  EXPECT_EQ(answers.engines().begin()->second, kClients * kSubmits);
  counted.expect_each_once();
  std::printf("%d submits of %d clients, 1 execution\n", kClients * kSubmits, kClients);
}

}  // namespace
}  // namespace enginery
