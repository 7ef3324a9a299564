// The bytes of every message on the wire, pinned. frames.golden has those of today, with every
// field filled; whoever adds a field writes it anew and keeps what it was as frames_N.golden, whose
// frames must be read for ever.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "schemas/codec.h"
#include "tests/schemas/made_message.h"

namespace enginery {
namespace {

constexpr size_t kChoices = 8;  // alternatives of the largest variant inside of a message

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
  for (size_t index = 0; index < std::variant_size_v<AnyMessage>; ++index) {
    for (size_t choice = 0; choice < kChoices; ++choice) {
      Envelope envelope = fixed_envelope(index, choice);
      if (choice > 0 && envelope == fixed_envelope(index, 0)) break;
      all[std::to_string(index) + "/" + std::to_string(choice)] = std::move(envelope);
    }
  }
  return all;
}

std::map<std::string, Bytes> golden_frames(const std::string& file_name = "frames.golden") {
  std::map<std::string, Bytes> frames;
  std::ifstream file(ENGINERY_SOURCE_DIR "/tests/schemas/" + file_name);
  for (std::string name, frame; file >> name >> frame;) frames[name] = unhex(frame);
  return frames;
}

// ENGINERY_WRITE_GOLDEN=file writes the frames as they are now.
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

// What an earlier program sent: the same message, and the fields that it did not know are as if
// nobody had filled them.
TEST(GoldenFrames, FramesOfEarlierProgramsAreRead) {
  const std::map<std::string, Envelope> envelopes = fixed_envelopes();
  for (const char* file : {"frames_1.golden", "frames_2.golden", "frames_3.golden"}) {
    const std::map<std::string, Bytes> earlier = golden_frames(file);
    ASSERT_GE(earlier.size(), 39u) << file;
    for (const auto& [name, frame] : earlier) {
      const Result<Envelope> read = decode(as_bytes(frame));
      ASSERT_TRUE(read.ok()) << file << ": " << read.error().message;
      EXPECT_EQ(read->body.index(), envelopes.at(name).body.index()) << file << " " << name;
    }
  }
}

TEST(GoldenFrames, EveryFrameOfThatTimeIsReadAsItWasMeant) {
  const std::map<std::string, Envelope> envelopes = fixed_envelopes();
  const std::map<std::string, Bytes> golden = golden_frames();
  ASSERT_GE(golden.size(), std::variant_size_v<AnyMessage>);
  for (const auto& [name, frame] : golden) {
    ASSERT_TRUE(envelopes.contains(name)) << "message " << name << " is gone";
    const Result<Envelope> read = decode(as_bytes(frame));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_TRUE(*read == envelopes.at(name)) << "message " << name;
  }
}

}  // namespace
}  // namespace enginery
