#include "schemas/codec.h"

#include <gtest/gtest.h>

#include "tests/schemas/made_message.h"

namespace enginery {
namespace {

constexpr size_t kArms = std::variant_size_v<AnyMessage>;

TEST(Codec, GivesBackEveryMessageAsItWas) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomMessages random(seed);
    for (size_t arm = 0; arm < kArms; ++arm) {
      const Envelope envelope = random.envelope(arm);
      ASSERT_EQ(envelope.body.index(), arm);
      const Result<Bytes> bytes = encode(envelope);
      ASSERT_TRUE(bytes.ok()) << bytes.error().message;
      const Result<Envelope> back = decode(as_bytes(*bytes));
      ASSERT_TRUE(back.ok()) << back.error().message << " arm " << arm << " seed " << seed;
      ASSERT_TRUE(*back == envelope) << "arm " << arm << " seed " << seed;
    }
  }
}

TEST(Codec, ReadsFramesAtAnyAddress) {
  const Envelope envelope = RandomMessages(7).envelope(5);
  const Bytes bytes = *encode(envelope);
  for (size_t shift = 0; shift < 8; ++shift) {
    const Bytes shifted = Bytes(shift, 'x') + bytes;
    EXPECT_TRUE(*decode(as_bytes(std::string_view(shifted).substr(shift))) == envelope);
  }
}

TEST(Codec, RefusesToMakeAFrameThatTheSocketWouldLose) {
  Envelope envelope;
  envelope.body = LogChunk{0, std::string(kMaxControlBytes, 'x'), 0, false};
  const Result<Bytes> bytes = encode(envelope, kMaxControlBytes);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(encode(envelope, kMaxBulkBytes).ok());
}

TEST(Codec, RefusesTruncatedFrames) {
  RandomMessages random(11);
  for (size_t arm = 1; arm < kArms; ++arm) {
    const Bytes bytes = *encode(random.envelope(arm));
    for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 60) {
      const Result<Envelope> back = decode(as_bytes(std::string_view(bytes).substr(0, size)));
      if (size % 8 != 0) {
        EXPECT_FALSE(back.ok());
      }
      if (!back.ok()) {
        EXPECT_TRUE(back.error().code == ErrorCode::corrupt_data ||
                    back.error().code == ErrorCode::unsupported);
      }
    }
  }
}

TEST(Codec, SurvivesFlippedBits) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    RandomMessages random(seed);
    for (size_t arm = 0; arm < kArms; ++arm) {
      Bytes bytes = *encode(random.envelope(arm));
      for (int flips = 0; flips < 8; ++flips) {
        const size_t at = random.below(bytes.size());
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        const Result<Envelope> back = decode(as_bytes(bytes));
        if (back.ok()) {
          EXPECT_TRUE(encode(*back, 16 << 20).ok());  // whatever came out is a whole value
        }
      }
    }
  }
}

TEST(Codec, SurvivesNoise) {
  RandomMessages random(3);
  for (int round = 0; round < 2000; ++round) {
    Bytes noise(8 * (1 + random.below(40)), '\0');
    for (char& c : noise) c = static_cast<char>(random.number());
    (void)decode(as_bytes(noise));
  }
}

TEST(Codec, ANumberOfANewerSenderReadsAsTheSafeOne) {
  const auto back = [](Body body) {
    Envelope envelope;
    envelope.body = std::move(body);
    const Result<Bytes> bytes = encode(envelope);
    return bytes.ok() ? decode(as_bytes(*bytes)) : Result<Envelope>(bytes.error());
  };
  JobView job;
  job.state = static_cast<JobState>(77);
  job.targets.resize(1);
  job.targets[0].state = static_cast<TargetState>(5);
  job.targets[0].source = static_cast<Source>(4);
  job.steps.resize(1);
  job.steps[0].state = static_cast<StepState>(9);
  const Result<Envelope> view = back(JobReply{job});
  ASSERT_TRUE(view.ok()) << view.error().message;
  const JobView& read = std::get<JobReply>(view->body).job;
  EXPECT_EQ(read.state, JobState::submitted);
  ASSERT_EQ(read.targets.size(), 1u);
  EXPECT_EQ(read.targets[0].state, TargetState::queued);
  EXPECT_EQ(read.targets[0].source, Source::none);
  ASSERT_EQ(read.steps.size(), 1u);
  EXPECT_EQ(read.steps[0].state, StepState::waiting);
  WorkerView worker;
  worker.state = static_cast<WorkerCondition>(5);
  const Result<Envelope> workers = back(WorkerList{{worker}});
  ASSERT_TRUE(workers.ok());
  EXPECT_EQ(std::get<WorkerList>(workers->body).workers.at(0).state, WorkerCondition::busy);
  const Result<Envelope> error = back(ErrorReply{{static_cast<ErrorCode>(999), "new"}});
  ASSERT_TRUE(error.ok());
  EXPECT_EQ(std::get<ErrorReply>(error->body).fault.code, ErrorCode::internal);
}

TEST(Codec, RefusesListsBeyondTheCap) {
  HasBlobs many;
  many.digests.resize(kMaxListCount + 1);
  Envelope envelope;
  envelope.body = many;
  const Bytes bytes = *encode(envelope, kMaxBulkBytes);
  const Result<Envelope> back = decode(as_bytes(bytes), kMaxBulkBytes);
  ASSERT_FALSE(back.ok());
  EXPECT_EQ(back.error().code, ErrorCode::corrupt_data);
}

}  // namespace
}  // namespace enginery
