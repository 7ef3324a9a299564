// How fast blobs travel over a local socket, against one pass of SHA-256 over the same bytes (R9).
// ENGINERY_BULK_MB=1000 makes it the whole bar; by default it is a small one that only catches a
// transfer that waits for each chunk or hashes the bytes again and again.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const auto begin = steady_clock::now();
  work();
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

// A sanitizer slows the transfers down and not the hash, which is a library's.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kLeastGet = 0, kLeastPut = 0;
#else
constexpr double kLeastGet = 0.2, kLeastPut = 0.15;
#endif

TEST(BulkSpeed, TransfersKeepUpWithTheHash) {
  const size_t size = from_environment("ENGINERY_BULK_MB", 64) << 20;
  const Farm farm;
  const auto client = farm.client();
  Bytes blob(size, 'x');
  double hash = 1e9, put = 1e9, get = 1e9;
  for (int run = 0; run < 3; ++run) {
    blob[0] = static_cast<char>(run);  // another blob each time
    Digest digest;
    hash = std::min(hash, seconds_of([&] { digest = sha256(blob); }));
    put = std::min(put, seconds_of([&] {
                     const auto source = [&](uint64_t offset, size_t length) {
                       return Result<Bytes>(blob.substr(offset, length));
                     };
                     ASSERT_TRUE(client->put_chunks(digest, size, source).ok());
                   }));
    get = std::min(get, seconds_of([&] { ASSERT_EQ(must(client->get_blob(digest)), blob); }));
  }
  const double megabytes = static_cast<double>(size) / 1e6;
  std::printf("hash %.0f MB/s; put %.0f MB/s (%.2f of it), get %.0f MB/s (%.2f of it)\n",
              megabytes / hash, megabytes / put, hash / put, megabytes / get, hash / get);
  EXPECT_GT(hash / get, kLeastGet);
  EXPECT_GT(hash / put, kLeastPut);
}

}  // namespace
}  // namespace enginery
