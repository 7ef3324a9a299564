// The bytes of every message on the wire, pinned: frames.golden was written by the codec of
// 2026-11-22 and is only ever added to.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "schemas/codec.h"
#include "tests/schemas/made_message.h"

namespace enginery {
namespace {

constexpr size_t kChoices = 6;  // alternatives of the largest variant inside of a message

std::string hex(const Bytes& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

Bytes unhex(const std::string& text) {
  Bytes out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}

// "index/choice" -> frame, of every message and every alternative of a variant inside of it.
std::map<std::string, Envelope> fixed_envelopes() {
  std::map<std::string, Envelope> all;
  for (size_t index = 0; index < std::variant_size_v<Body>; ++index) {
    for (size_t choice = 0; choice < kChoices; ++choice) {
      Envelope envelope = fixed_envelope(index, choice);
      if (choice > 0 && envelope == fixed_envelope(index, 0)) break;
      all[std::to_string(index) + "/" + std::to_string(choice)] = std::move(envelope);
    }
  }
  return all;
}

std::map<std::string, Bytes> golden_frames() {
  std::map<std::string, Bytes> frames;
  std::ifstream file(ENGINERY_SOURCE_DIR "/tests/schemas/frames.golden");
  for (std::string name, frame; file >> name >> frame;) frames[name] = unhex(frame);
  return frames;
}

// ENGINERY_WRITE_GOLDEN=file writes the frames as they are now: for rows of new messages only.
TEST(GoldenFrames, EveryMessageHasTheBytesItAlwaysHad) {
  const std::map<std::string, Envelope> envelopes = fixed_envelopes();
  if (const char* path = std::getenv("ENGINERY_WRITE_GOLDEN")) {
    std::ofstream file(path);
    for (const auto& [name, envelope] : envelopes)
      file << name << ' ' << hex(*encode(envelope)) << '\n';
  }
  const std::map<std::string, Bytes> golden = golden_frames();
  for (const auto& [name, envelope] : envelopes) {
    ASSERT_TRUE(golden.contains(name)) << "no golden frame for message " << name;
    const Result<Bytes> frame = encode(envelope);
    ASSERT_TRUE(frame.ok()) << frame.error().message;
    EXPECT_EQ(hex(*frame), hex(golden.at(name))) << "message " << name;
  }
}

TEST(GoldenFrames, EveryFrameOfThatTimeIsReadAsItWasMeant) {
  const std::map<std::string, Envelope> envelopes = fixed_envelopes();
  const std::map<std::string, Bytes> golden = golden_frames();
  ASSERT_GE(golden.size(), std::variant_size_v<Body>);
  for (const auto& [name, frame] : golden) {
    ASSERT_TRUE(envelopes.contains(name)) << "message " << name << " is gone";
    const Result<Envelope> read = decode(as_bytes(frame));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_TRUE(*read == envelopes.at(name)) << "message " << name;
  }
}

}  // namespace
}  // namespace enginery
