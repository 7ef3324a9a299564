// The frame of an engine file: its bytes are pinned, and every section's hash counts.
#include "engine/format/sections.h"

#include <gtest/gtest.h>

#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}

constexpr char kZeros16[] = "00000000000000000000000000000000";

// "ENGINERY", version 1, target, 48 zeros. Files of this version are in catalogs.
TEST(EngineHeader, HasTheseBytes) {
  const std::string zeros = std::string(kZeros16) + kZeros16 + kZeros16;
  EXPECT_EQ(hex(file_header(DeviceKind::cpu)), "454e47494e4552590100000001000000" + zeros);
  EXPECT_EQ(hex(file_header(DeviceKind::cuda)), "454e47494e4552590100000002000000" + zeros);
}

// Kind 4, zero, size 3, the payload's SHA-256, 16 zeros, the payload and zeros up to 64 bytes.
TEST(Section, HasTheseBytes) {
  Bytes section;
  append_section(section, SectionKind::weights, as_bytes(Bytes("abc")));
  EXPECT_EQ(hex(section),
            "04000000000000000300000000000000"
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" +
                std::string(kZeros16) + "616263" + std::string(2 * 61, '0'));
}

// Where each section stands: what a tool may count on that reads the grammar in README.md.
TEST(EngineFile, HasItsSectionsInOrderAtMultiplesOf64) {
  const Bytes file = test::unsigned_engine();
  const auto sections = parse_sections(as_bytes(file), HashCheck::all);
  ASSERT_TRUE(sections.ok()) << sections.error().message;
  std::vector<uint32_t> kinds;
  const std::byte* last = nullptr;
  for (const auto& [kind, payload] : sections->payloads) {
    kinds.push_back(static_cast<uint32_t>(kind));
    EXPECT_EQ((payload.data() - as_bytes(file).data()) % 64, 0);
    EXPECT_GT(payload.data(), last);
    last = payload.data();
  }
  EXPECT_EQ(kinds, (std::vector<uint32_t>{1, 2, 3, 4, 9}));
  EXPECT_EQ(file.size() % 64, 0u);
}

// Within a build nothing is signed yet: the sections' own hashes are all that protects them.
TEST(EngineFile, RefusesAFlippedByteInEverySectionOfAnUnsignedFile) {
  const Bytes file = test::unsigned_engine();
  const auto sections = parse_sections(as_bytes(file), HashCheck::all);
  ASSERT_TRUE(sections.ok());
  ASSERT_TRUE(read_unsigned_engine(std::make_shared<const Bytes>(file)).ok());
  ASSERT_EQ(sections->payloads.size(), 5u);
  for (const auto& [kind, payload] : sections->payloads) {
    SCOPED_TRACE("section " + std::to_string(static_cast<uint32_t>(kind)));
    ASSERT_FALSE(payload.empty());
    const auto begin = static_cast<size_t>(payload.data() - as_bytes(file).data());
    for (const size_t at : {size_t{0}, payload.size() / 2, payload.size() - 1}) {
      Bytes bad = file;
      bad[begin + at] = static_cast<char>(bad[begin + at] ^ 1);
      const auto engine = read_unsigned_engine(std::make_shared<const Bytes>(bad));
      ASSERT_FALSE(engine.ok()) << "byte " << at;
      EXPECT_EQ(engine.error().code, ErrorCode::untrusted);
      EXPECT_EQ(engine.error().message, "engine file: section " +
                                            std::to_string(static_cast<uint32_t>(kind)) +
                                            " does not match its SHA-256");
    }
  }
}

TEST(Sections, RefuseAWrongOrderAndARepeatedKind) {
  const Bytes weights = "weights", manifest = "manifest";
  for (const SectionKind second : {SectionKind::manifest, SectionKind::weights}) {
    Bytes file = file_header(DeviceKind::cpu);
    append_section(file, SectionKind::weights, as_bytes(weights));
    append_section(file, second, as_bytes(manifest));
    const auto sections = parse_sections(as_bytes(file), HashCheck::all);
    ASSERT_FALSE(sections.ok());
    EXPECT_EQ(sections.error().code, ErrorCode::untrusted);
  }
}

TEST(Sections, RefusePaddingThatIsNotZero) {
  Bytes file = file_header(DeviceKind::cpu);
  append_section(file, SectionKind::weights, as_bytes(Bytes("abc")));
  file.back() = 1;
  const auto sections = parse_sections(as_bytes(file), HashCheck::all);
  ASSERT_FALSE(sections.ok());
  EXPECT_EQ(sections.error().message, "engine file: padding is not zero");
}

}  // namespace
}  // namespace enginery
