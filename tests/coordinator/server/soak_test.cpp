// A coordinator that serves job after job grows neither in memory nor on disk, and starts fast.
//
// ENGINERY_SOAK_JOBS=100000 with ENGINERY_SOAK_KEPT=2000, and ENGINERY_SOAK_ENDED=1000000 with
// ENGINERY_SOAK_KEPT=20000 (what is kept by default), make them the whole bars; by default they are
// small. Of the first one's jobs at most a fiftieth may be kept: else the events, of which fifty
// are kept for each, are still growing after the first third.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "tests/coordinator/farm_fixture.h"
#include "tests/support/sanitizers.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Others may remove files meanwhile.
size_t entries_of(const fs::path& folder) {
  size_t count = 0;
  std::error_code failed;
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator at(folder, failed); !failed && at != end;
       at.increment(failed))
    ++count;
  return count;
}

constexpr bool kFreedIsFree = !test::kSanitized;  // sanitizers keep what is freed

// What may not grow.
struct Footprint {
  double resident_mb = 0, database_mb = 0;
  size_t descriptors = 0, files = 0;
};

Footprint footprint(const fs::path& data) {
  Footprint now;
  size_t pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident_pages;
  now.resident_mb =
      static_cast<double>(resident_pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
  now.descriptors = entries_of("/proc/self/fd");
  now.database_mb = static_cast<double>(fs::file_size(data / "catalog.db")) / 1e6;
  now.files = entries_of(data);
  return now;
}

void print(const char* when, const Footprint& at) {
  std::printf("%s: %.1f MB resident, %zu descriptors, %.1f MB database, %zu files\n", when,
              at.resident_mb, at.descriptors, at.database_mb, at.files);
}

class Soak : public testing::Test {
 protected:
  Soak() {
    options_ = {folder_.path / "data", "ipc://" + (folder_.path / "c.sock").string(),
                "ipc://" + (folder_.path / "b.sock").string(), milliseconds(200), accept_engine};
    options_.ended_jobs_kept = kept_;
    options_.tidy_every = milliseconds(100);
  }
  void start() { coordinator_ = must(Coordinator::start(options_)); }

  // Submits from sixteen clients at once that are answered by what is there.
  void hit(uint64_t jobs) const {
    constexpr uint64_t kClients = 16;
    std::vector<std::future<void>> clients;
    for (uint64_t first = 0; first < kClients; ++first)
      clients.push_back(std::async(std::launch::async, [this, first, jobs] {
        const auto client = connect_to(options_.listen, "client" + std::to_string(first));
        for (uint64_t i = first; i < jobs; i += kClients)
          must(client->submit(make_submit("model 0", {"x"}), make_request_id()));
      }));
    for (auto& client : clients) client.get();
  }

  // One job in fifty is built anew, the others are answered by what is there.
  void run(Client& client, uint64_t jobs) {
    for (uint64_t i = 0; i < jobs; ++i) {
      const std::string model = "model " + std::to_string(i % 10);
      must(client.put_blob(as_bytes(model)));
      SubmitRequest submit = make_submit(model, {"x"});
      submit.rebuild = i % 50 == 0;
      const JobView job = must(client.submit(submit, make_request_id()));
      const JobView end = must(wait_for_end(client, job.id));
      ASSERT_EQ(end.state, JobState::done) << i;
    }
  }

  const uint64_t jobs_ = from_environment("ENGINERY_SOAK_JOBS", 1500);
  const uint64_t kept_ = from_environment("ENGINERY_SOAK_KEPT", 50);
  TemporaryFolder folder_;
  CoordinatorOptions options_;
  std::unique_ptr<Coordinator> coordinator_;
};

TEST_F(Soak, JobAfterJobLeavesNothingBehind) {
  start();
  const FakeWorker worker(options_.listen, "w", "x");
  const auto client = connect_to(options_.listen, "tester@here");
  ASSERT_NE(client, nullptr);
  while (must(client->workers()).empty()) std::this_thread::sleep_for(milliseconds(10));
  run(*client, jobs_ / 3);
  const Footprint warm = footprint(options_.data);
  print("after a third", warm);
  run(*client, jobs_ - jobs_ / 3);
  std::this_thread::sleep_for(milliseconds(300));  // a round of the housekeeper
  const Footprint end = footprint(options_.data);
  print("at the end", end);
  if (kFreedIsFree) {
    EXPECT_LE(end.resident_mb, warm.resident_mb * 1.05 + 4);
  }
  EXPECT_LE(end.database_mb, warm.database_mb * 1.1 + 1);
  EXPECT_LE(end.descriptors, warm.descriptors + 2);
  EXPECT_LE(end.files, warm.files + 10);
  EXPECT_LE(must(client->jobs(0)).size(), kept_ + 1);
}

TEST_F(Soak, StartsFastAfterManyJobs) {
  const uint64_t ended = from_environment("ENGINERY_SOAK_ENDED", 500);
  options_.tidy_every = milliseconds(1000);
  start();
  {
    const FakeWorker worker(options_.listen, "w", "x");
    const auto client = connect_to(options_.listen, "tester@here");
    ASSERT_NE(client, nullptr);
    while (must(client->workers()).empty()) std::this_thread::sleep_for(milliseconds(10));
    run(*client, 1);
  }
  hit(ended / 2);
  print("after half of them", footprint(options_.data));
  hit(ended - ended / 2);
  print("after all of them", footprint(options_.data));
  coordinator_.reset();
  const auto begin = steady_clock::now();
  start();
  const std::chrono::duration<double> took = steady_clock::now() - begin;
  std::printf("start after %llu jobs, %llu of them kept: %.2f s\n",
              static_cast<unsigned long long>(ended), static_cast<unsigned long long>(kept_),
              took.count());
  EXPECT_LT(took.count(), 2.0);
}

}  // namespace
}  // namespace enginery
