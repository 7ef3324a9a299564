// The file of histograms: one set, one encoding; shards merge to the bytes of one pass; damage
// shows.
#include "tuner/calibrate/histogram_set.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/tuner/calibrate/samples.h"

namespace enginery {
namespace {

using test::normal_sample;

HistogramSet set_of(std::span<const float> x, std::span<const float> y, uint64_t samples) {
  HistogramSet out;
  out.model = sha256("model");
  out.samples = samples;
  EXPECT_TRUE(out.observe("x", x).ok());
  EXPECT_TRUE(out.observe("conv/y:0", y).ok());
  EXPECT_TRUE(out.observe("zero", std::vector<float>(3, 0.0f)).ok());
  return out;
}

TEST(HistogramSet, RoundTripsThroughItsFile) {
  const HistogramSet set = set_of(normal_sample(3000, 2, 1), std::vector<float>{5e-39f, 1}, 3);
  const auto back = decode_histogram_set(encode(set));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, set);
  EXPECT_EQ(back->digest(), set.digest());
}

TEST(HistogramSet, ShardsMergeToTheBytesOfOnePass) {
  const std::vector<float> x = normal_sample(1000, 1, 1), y = normal_sample(1000, 9, 2);
  const std::span<const float> all_x(x), all_y(y);
  HistogramSet one = set_of(all_x, all_y, 5);
  // `zero` has three elements in each shard.
  ASSERT_TRUE(one.observe("zero", std::vector<float>(3, 0.0f)).ok());
  const HistogramSet a = set_of(all_x.first(10), all_y.first(700), 2);
  const HistogramSet b = set_of(all_x.subspan(10), all_y.subspan(700), 3);
  HistogramSet ab, ba;
  for (const HistogramSet* shard : {&a, &b}) ASSERT_TRUE(ab.merge(*shard).ok());
  for (const HistogramSet* shard : {&b, &a}) ASSERT_TRUE(ba.merge(*shard).ok());
  EXPECT_EQ(encode(ab), encode(one));
  EXPECT_EQ(encode(ba), encode(one));
}

// Two channels of x, so many rows of 1 and -2.
void add_channels(HistogramSet& set, size_t rows) {
  std::vector<float> elements;
  for (size_t i = 0; i < rows; ++i) elements.insert(elements.end(), {1, -2});
  set.channels["x"].observe(elements, 2, 1);
}

TEST(HistogramSet, SumsOfChannelsGoThroughItsFileAndMerge) {
  HistogramSet set = set_of(std::vector<float>{1}, std::vector<float>{2}, 1);
  EXPECT_TRUE(encode(set).starts_with("ENGHIST1"));
  const HistogramSet without = set;
  add_channels(set, 3);
  const Bytes bytes = encode(set);
  EXPECT_TRUE(bytes.starts_with("ENGHIST2"));
  const auto back = decode_histogram_set(bytes);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, set);
  for (size_t i = 0; i < bytes.size(); ++i)
    ASSERT_FALSE(decode_histogram_set(bytes.substr(0, i)).ok()) << "cut at " << i;
  ASSERT_TRUE(set.merge(set).ok());
  EXPECT_EQ(set.channels.at("x").rows, 6u);
  EXPECT_EQ(set.channels.at("x").means(), (std::vector<float>{1, -2}));
  const Status refused = set.merge(without);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("channels of tensor 'x'"), std::string::npos);
}

TEST(HistogramSet, DoesNotMergeWhatIsOfAnotherModelOrHasOtherTensors) {
  HistogramSet set = set_of(std::vector<float>{1}, std::vector<float>{2}, 1);
  const HistogramSet before = set;
  HistogramSet other = set;
  other.model = sha256("another");
  const Status model = set.merge(other);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().message.find("two models"), std::string::npos);
  other = set;
  ASSERT_TRUE(other.observe("more", std::vector<float>{1}).ok());
  const Status tensors = set.merge(other);
  ASSERT_FALSE(tensors.ok());
  EXPECT_NE(tensors.error().message.find("'more'"), std::string::npos);
  EXPECT_EQ(set, before);
}

TEST(HistogramSet, NamesTheTensorThatIsNotFinite) {
  HistogramSet set;
  const Status seen = set.observe("fire2/out", std::vector<float>{1, std::nanf("")});
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(seen.error().message.find("tensor 'fire2/out': NaN"), std::string::npos);
}

TEST(HistogramSet, RefusesADamagedFile) {
  const Bytes good = encode(set_of(normal_sample(50, 2, 1), std::vector<float>{1}, 1));
  for (size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    ASSERT_FALSE(decode_histogram_set(bad).ok()) << "byte " << i;
    ASSERT_FALSE(decode_histogram_set(good.substr(0, i)).ok()) << "cut at " << i;
  }
  const auto later = decode_histogram_set("ENGHIST3" + good.substr(8));
  ASSERT_FALSE(later.ok());
  EXPECT_NE(later.error().message.find("version"), std::string::npos);
}

// Behind a digest that is right, as somebody could write it.
Bytes sealed(Bytes content) {
  const Digest digest = sha256(content);
  content.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
  return content;
}

TEST(HistogramSet, RefusesWhatContradictsItself) {
  const std::string head = "ENGHIST1" + std::string(32, 'm') + "\x01\x01\x01x";
  const std::string one("\0\0\x80\x3f", 4);  // 1.0f, of which bin 4096 is the last one
  struct Case {
    const char* what;
    std::string tensor;
  };
  const std::string zeros("\0\0\0\0", 4), none("\0", 1);
  const Case cases[] = {
      {"bins without a range", zeros + zeros + none + "\x01" + none + "\x01"},
      {"a range without bins", zeros + one + none + none},
      {"a bin beyond the range", zeros + one + none + "\x01\x81\x20\x01"},
      {"no element in the last bin", zeros + one + none + "\x01\xff\x1f\x01"},
      {"an empty bin", zeros + one + none + "\x01\x80\x20" + none},
      {"least above largest", one + zeros + none + "\x01\x80\x20\x01"},
      {"a number with zeros before it",
       zeros + one + std::string("\x80\0", 2) + "\x01\x80\x20\x01"},
      {"a number of more than 64 bits",
       zeros + one + std::string(9, '\xff') + "\x02\x01\x80\x20\x01"},
      {"bytes after the end", zeros + one + none + "\x01\x80\x20\x01" + none},
  };
  for (const Case& c : cases)
    EXPECT_FALSE(decode_histogram_set(sealed(head + c.tensor)).ok()) << c.what;
  const auto good = decode_histogram_set(sealed(head + zeros + one + none + "\x01\x80\x20\x01"));
  ASSERT_TRUE(good.ok()) << good.error().message;
  EXPECT_EQ(good->tensors.at("x").bins[4096], 1u);
}

TEST(HistogramSet, RefusesSumsThatNoRowsHave) {
  const std::string none("\0", 1), head = "ENGHIST2" + std::string(32, 'm') + "\x01" + none;
  const std::string one_row = "\x01\x01x\x01" + none;
  EXPECT_TRUE(decode_histogram_set(sealed(head + one_row + "\x02\x01\x02")).ok());
  EXPECT_FALSE(decode_histogram_set(sealed(head + none)).ok()) << "no sums at all";
  EXPECT_FALSE(decode_histogram_set(sealed(head + one_row + "\x01")).ok()) << "a sum is missing";
  const std::string beyond = "\x80\x80\x80\x80\x80\x80\x01";  // 2^41: more than 2^39 of a row
  EXPECT_FALSE(decode_histogram_set(sealed(head + one_row + "\x01" + beyond)).ok());
  const std::string unknown = "\x01\x01x\x01\x01\x01";
  EXPECT_TRUE(decode_histogram_set(sealed(head + unknown + none)).ok());
  EXPECT_FALSE(decode_histogram_set(sealed(head + unknown + "\x02")).ok())
      << "a sum that is not known";
}

}  // namespace
}  // namespace enginery
