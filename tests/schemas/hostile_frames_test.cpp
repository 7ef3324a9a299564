// Frames that no codec of ours writes: made word by word, or by Cap'n Proto with fields that break
// a rule. Each is one error value, whatever it claims.
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>

#include <cstring>

#include "schemas/codec.h"
#include "schemas/messages.capnp.h"

namespace enginery {
namespace {

namespace v = schemas;

Bytes frame_of(capnp::MallocMessageBuilder& message) {
  const auto segments = message.getSegmentsForOutput();
  EXPECT_EQ(segments.size(), 1u);
  const auto bytes = segments[0].asBytes();
  return Bytes(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

// A frame whose envelope `fill` has filled in.
template <typename Fill>
Bytes made(Fill fill) {
  capnp::MallocMessageBuilder message(1 << 17);
  fill(message.initRoot<v::Envelope>());
  return frame_of(message);
}

Bytes words(const std::vector<uint64_t>& content) {
  Bytes out;
  for (const uint64_t word : content)
    for (int byte = 0; byte < 8; ++byte) out.push_back(static_cast<char>(word >> (8 * byte)));
  return out;
}

void expect_refused(const Bytes& frame, const char* what) {
  const Result<Envelope> envelope = decode(as_bytes(frame));
  EXPECT_FALSE(envelope.ok()) << what;
  if (!envelope.ok()) {
    EXPECT_EQ(envelope.error().code, ErrorCode::corrupt_data) << what;
    EXPECT_TRUE(envelope.error().message.starts_with("message: ")) << envelope.error().message;
  }
}

TEST(HostileFrames, AFrameIsWholeWordsWithinTheLimit) {
  expect_refused("", "nothing");
  for (size_t size = 1; size < 8; ++size) expect_refused(Bytes(size, '\0'), "part of a word");
  expect_refused(Bytes(kMaxControlBytes + 8, '\0'), "beyond the limit");
}

// Nothing but zeros is a message of defaults: no pointer leads anywhere.
TEST(HostileFrames, ZerosAreAnEmptyEnvelope) {
  const Bytes frame(64, '\0');
  const Result<Envelope> envelope = decode(as_bytes(frame));
  ASSERT_TRUE(envelope.ok()) << envelope.error().message;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(envelope->body));
}

// Cap'n Proto's pointers: struct = offset << 2 | data words << 32 | pointers << 48.
constexpr uint64_t struct_pointer(int32_t offset, uint64_t data_words, uint64_t pointers) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(offset)) << 2 & 0xffffffffull) |
         data_words << 32 | pointers << 48;
}

TEST(HostileFrames, PointersBeyondTheFrameAreRefused) {
  expect_refused(words({struct_pointer(1000, 1, 1)}), "a root far behind the end");
  expect_refused(words({struct_pointer(-1, 0, 1)}), "a root that is its own text");
  expect_refused(words({struct_pointer(0, 0xffff, 0xffff), 0, 0}), "a root larger than the frame");
  expect_refused(words({0xfffffffaull, 0}), "a far pointer to another segment");
  expect_refused(words({3, 0}), "a capability");
}

TEST(HostileFrames, ADigestHasThirtyTwoBytes) {
  for (const unsigned size : {0u, 1u, 31u, 33u, 1000u})
    expect_refused(made([&](v::Envelope::Builder envelope) {
                     envelope.getBody().initGetBlob().initDigest(size);
                   }),
                   "a required digest");
}

TEST(HostileFrames, AnOptionalDigestIsWholeOrNothing) {
  const auto target_with_engine = [](unsigned size) {
    return made([&](v::Envelope::Builder envelope) {
      auto job = envelope.getBody().initJobReply().initJob();
      job.initModel(32);
      auto target = job.initTargets(1)[0];
      target.initKey(32);
      target.initEngine(size);
    });
  };
  for (const unsigned size : {1u, 31u, 33u}) expect_refused(target_with_engine(size), "an engine");
  for (const unsigned size : {0u, 32u}) {
    const Bytes frame = target_with_engine(size);
    const Result<Envelope> envelope = decode(as_bytes(frame));
    ASSERT_TRUE(envelope.ok()) << envelope.error().message;
    EXPECT_EQ(std::get<JobReply>(envelope->body).job.targets.at(0).engine.has_value(), size == 32);
  }
}

// A list of structs without content costs its sender one word, however long it says it is.
TEST(HostileFrames, ALongListOfNothingIsRefused) {
  const auto list_of = [](uint32_t count) {
    // The list's tag word: count << 2, words of an element above; the last word with a count of
    // one.
    Bytes frame = made(
        [](v::Envelope::Builder envelope) { envelope.getBody().initWorkerList().initWorkers(1); });
    for (size_t at = frame.size() - 8; at > 0; at -= 8) {
      uint32_t low = 0;
      std::memcpy(&low, frame.data() + at, 4);
      if (low != (1u << 2)) continue;
      const Bytes tag = words({uint64_t{count} << 2});
      frame.replace(at, 8, tag);
      return frame;
    }
    ADD_FAILURE() << "no tag found";
    return frame;
  };
  expect_refused(list_of(1u << 28), "a quarter of a billion workers");
  expect_refused(list_of(kMaxListCount + 1), "one more than allowed");
}

// The same few words named by many pointers: what is read is counted, not what is there.
TEST(HostileFrames, ManyPointersToOneTextCostTheirReadersLimit) {
  Bytes frame = made([](v::Envelope::Builder envelope) {
    auto tags = envelope.getBody().initSubmit().initTags(10'000);
    for (unsigned i = 0; i < tags.size(); ++i) tags.set(i, "t");
    envelope.setTrace(std::string(400'000, 'x').c_str());
  });
  // Every tag's pointer now names the long text.
  uint64_t target_word = 0, text_words = 0;
  std::vector<size_t> tags;
  for (size_t at = 0; at + 8 <= frame.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, frame.data() + at, 8);
    const bool list_of_bytes = (word & 3) == 1 && (word >> 32 & 7) == 2;
    if (!list_of_bytes) continue;
    const uint64_t count = word >> 35;
    if (count == 2) tags.push_back(at);
    if (count == 400'001) {
      target_word = at / 8 + 1 + static_cast<uint64_t>(static_cast<int32_t>(word) >> 2);
      text_words = word >> 32;
    }
  }
  ASSERT_EQ(tags.size(), 10'000u);
  ASSERT_NE(target_word, 0u);
  for (const size_t at : tags) {
    const auto offset = static_cast<int32_t>(target_word) - static_cast<int32_t>(at / 8) - 1;
    const uint64_t word =
        text_words << 32 | (static_cast<uint64_t>(static_cast<uint32_t>(offset) << 2) | 1);
    std::memcpy(frame.data() + at, &word, 8);
  }
  expect_refused(frame, "four gigabytes of tags");
}

TEST(HostileFrames, AnArmOfANewerVersionIsNoBody) {
  const auto with_arm = [](bool done) {
    return made([&](v::Envelope::Builder envelope) {
      envelope.setRequestLow(7);
      if (done)
        envelope.getBody().initDone();
      else
        envelope.getBody().setNone();
    });
  };
  // Where the arm is said: the 16 bits of the root's numbers in which the two frames differ.
  const Bytes none = with_arm(false), done = with_arm(true);
  size_t place = 8;
  while (place + 2 <= none.size() && none.compare(place, 2, done, place, 2) == 0) place += 2;
  ASSERT_LT(place + 2, none.size());
  for (const uint16_t arm :
       {static_cast<uint16_t>(std::variant_size_v<AnyMessage>), uint16_t{999}, uint16_t{0xffff}}) {
    Bytes newer = none;
    std::memcpy(newer.data() + place, &arm, 2);
    const Result<Envelope> envelope = decode(as_bytes(newer));
    ASSERT_TRUE(envelope.ok()) << envelope.error().message;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(envelope->body)) << arm;
    EXPECT_EQ(envelope->request, (RequestId{0, 7}));  // so that it can be answered
  }
}

TEST(HostileFrames, ATextNeedsItsLastByteZero) {
  Bytes frame = made([](v::Envelope::Builder envelope) {
    envelope.getBody().initShowJob().setJob("j1234567890");
  });
  const size_t text = frame.find("j1234567890");
  ASSERT_NE(text, Bytes::npos);
  frame[text + 11] = 'x';
  expect_refused(frame, "a text without its end");
}

}  // namespace
}  // namespace enginery
