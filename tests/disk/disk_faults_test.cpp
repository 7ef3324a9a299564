// R11: a coordinator whose disk is full, broken or slow answers with storage errors, corrupts
// nothing, loses nothing that it acknowledged and goes on by itself when the disk is well again.
#include <gtest/gtest.h>

#include <cerrno>

#include "cache/catalog.h"
#include "cache/verify.h"
#include "tests/coordinator/farm_fixture.h"
#include "tests/disk/disk_calls.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

const Bytes kLargeBlob(200'000, 'x');  // a file, not a row

Result<JobView> ask_for(Client& client, const std::string& model) {
  TRY(const Digest digest, client.put_blob(as_bytes(model)));
  (void)digest;
  SubmitRequest request = make_submit(model, {"a"}, model);
  request.wait_for_workers = true;
  return client.submit(request, make_request_id());
}

// The disk is well: the coordinator notices within five seconds.
void expect_done(Client& client, const JobView& job) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(8);
  Result<JobView> end = wait_for_end(client, job.id);
  while (!end.ok() && end.error().code == ErrorCode::storage &&
         std::chrono::steady_clock::now() < patience) {
    std::this_thread::sleep_for(milliseconds(100));
    end = wait_for_end(client, job.id);
  }
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(end->state, JobState::done) << job.id;
}

void expect_sound(const std::filesystem::path& data) {
  const auto catalog = must(Catalog::open(data));
  for (const VerifyProblem& problem : must(verify(*catalog)).problems)
    ADD_FAILURE() << problem.kind << " " << problem.subject << " " << problem.detail;
}

class BadDisk : public testing::TestWithParam<int> {};

TEST_P(BadDisk, IsAStorageErrorAndTheCoordinatorGoesOnAfterwards) {
  Farm farm;
  const std::filesystem::path data = farm.options().data;
  {
    const auto client = farm.client();
    const JobView before = must(ask_for(*client, "before"));  // nobody serves it yet
    DiskFaults::begin(data, GetParam());
    const Result<JobView> refused = ask_for(*client, "refused");
    const Result<Digest> no_room = client->put_blob(as_bytes(kLargeBlob));
    std::optional<FakeWorker> worker;
    worker.emplace(farm, "w", "a");  // meets the bad disk with its first words
    std::this_thread::sleep_for(milliseconds(1500));
    const Result<JobView> still = client->show(before.id);
    DiskFaults::end();
    EXPECT_GT(DiskFaults::struck(), 3);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::storage) << refused.error().message;
    ASSERT_FALSE(no_room.ok());
    EXPECT_EQ(no_room.error().code, ErrorCode::storage) << no_room.error().message;
    if (still.ok()) {
      EXPECT_FALSE(is_end(still->state));
    }
    expect_done(*client, before);
    EXPECT_TRUE(client->put_blob(as_bytes(kLargeBlob)).ok());
    expect_done(*client, must(ask_for(*client, "refused")));
  }
  farm.stop();
  expect_sound(data);
}

INSTANTIATE_TEST_SUITE_P(, BadDisk, testing::Values(ENOSPC, EIO), [](const auto& number) {
  return number.param == EIO ? "ThatFails" : "ThatIsFull";
});

TEST(SlowDisk, DelaysAndLosesNothing) {
  Farm farm;
  const std::filesystem::path data = farm.options().data;
  {
    const auto client = farm.client();
    DiskFaults::begin(data, 0, milliseconds(100));
    const FakeWorker worker(farm, "w", "a");
    for (const char* model : {"one", "two"}) expect_done(*client, must(ask_for(*client, model)));
    DiskFaults::end();
    EXPECT_GT(DiskFaults::struck(), 10);
  }
  farm.stop();
  expect_sound(data);
}

}  // namespace
}  // namespace enginery
