// Every message with its fields at the ends of their types, and with the largest lists and texts
// that are allowed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "schemas/codec.h"
#include "tests/schemas/made_message.h"

namespace enginery {
namespace {

constexpr size_t kMessages = std::variant_size_v<AnyMessage>;

Result<Envelope> there_and_back(const Envelope& envelope, size_t max_bytes = 16 << 20) {
  const Result<Bytes> bytes = encode(envelope, max_bytes);
  if (!bytes.ok()) return bytes.error();
  return decode(as_bytes(*bytes), max_bytes);
}

Envelope with(Body body) {
  Envelope envelope;
  envelope.body = std::move(body);
  return envelope;
}

TEST(Extremes, EveryMessageKeepsTheEndsOfItsFieldsTypes) {
  for (const Extreme extreme :
       {Extreme::least, Extreme::greatest, Extreme::all_ones, Extreme::empty}) {
    for (size_t arm = 0; arm < kMessages; ++arm) {
      for (size_t choice = 0; choice < 6; ++choice) {
        const Envelope envelope = extreme_envelope(arm, choice, extreme);
        const Result<Envelope> back = there_and_back(envelope);
        ASSERT_TRUE(back.ok()) << back.error().message << " arm " << arm;
        EXPECT_TRUE(*back == envelope) << "arm " << arm << " choice " << choice;
      }
    }
  }
}

// What a default-made message says on the wire is what an older sender says of a field that it does
// not know.
TEST(Extremes, AMessageOfDefaultsIsTheSmallestAndReadsAsOne) {
  const Envelope plain = with(SyncRequest{});
  const Result<Bytes> bytes = encode(plain);
  ASSERT_TRUE(bytes.ok());
  EXPECT_LT(bytes->size(), 400u);
  EXPECT_TRUE(*decode(as_bytes(*bytes)) == plain);
}

TEST(Extremes, ANumberThatIsNoneStaysNone) {
  const double numbers[] = {
      std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
      -std::numeric_limits<double>::infinity(), -0.0, std::numeric_limits<double>::denorm_min()};
  for (const double number : numbers) {
    JobReply reply;
    reply.job.targets.resize(1);
    reply.job.targets[0].latency_ms = number;
    const Result<Envelope> back = there_and_back(with(reply));
    ASSERT_TRUE(back.ok());
    const double read = std::get<JobReply>(back->body).job.targets.at(0).latency_ms;
    EXPECT_TRUE(std::isnan(number) ? std::isnan(read) : read == number);
    EXPECT_EQ(std::signbit(read), std::signbit(number));
  }
}

TEST(Extremes, AListMayHaveAsManyElementsAsTheCapSays) {
  HasBlobs digests;
  digests.digests.resize(kMaxListCount);
  EXPECT_TRUE(there_and_back(with(digests)).ok());
  SubmitRequest submit;
  submit.tags.assign(kMaxListCount, "t");
  EXPECT_TRUE(there_and_back(with(submit)).ok());
  submit.tags.push_back("t");
  EXPECT_FALSE(there_and_back(with(submit)).ok());
  PutTimings timings;
  timings.keys.resize(kMaxListCount + 1);
  EXPECT_FALSE(there_and_back(with(timings)).ok());
}

TEST(Extremes, TheCapHoldsForListsInsideOfLists) {
  SubmitRequest submit;
  submit.targets.resize(2);
  submit.targets[1].engine_key.resize(kMaxListCount + 1);
  EXPECT_FALSE(there_and_back(with(submit)).ok());
  submit.targets[1].engine_key.resize(kMaxListCount);
  EXPECT_TRUE(there_and_back(with(submit)).ok());
}

// The limit is the socket's, to the byte: what it says is sent arrives.
TEST(Extremes, AFrameMayFillTheSocketsLimitAndNoMore) {
  Envelope envelope = with(ShowJob{std::string(1000, 'j')});
  const size_t size = encode(envelope)->size();
  EXPECT_TRUE(encode(envelope, size).ok());
  EXPECT_FALSE(encode(envelope, size - 1).ok());
  const Bytes bytes = *encode(envelope);
  EXPECT_TRUE(decode(as_bytes(bytes), size).ok());
  EXPECT_FALSE(decode(as_bytes(bytes), size - 1).ok());
}

// A first try has room for a small message only: a large one is written again, in one segment.
TEST(Extremes, ALargeMessageIsOneSegment) {
  for (const size_t bytes : {100, 8000, 8192, 8300, 100'000, 900'000}) {
    const Envelope envelope = with(ShowJob{std::string(bytes, 'j')});
    const Result<Envelope> back = there_and_back(envelope);
    ASSERT_TRUE(back.ok()) << bytes;
    EXPECT_TRUE(*back == envelope) << bytes;
  }
}

}  // namespace
}  // namespace enginery
