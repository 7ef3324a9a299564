// Tactic selections as data: what one machine chose, another follows, or says why it cannot.
#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

using test::Build;

TEST(SelectionRecord, IsFollowedToTheSameContent) {
  const Build build(test::small_convolution());
  const SelectionRecord record = to_record(build.network, build.selection, {1.5});
  const auto read = parse_selection(to_json(record));
  ASSERT_TRUE(read.ok()) << read.error().message;
  const auto followed = follow(build.network, build.target.sources, *read);
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  EXPECT_EQ(followed->streams, build.selection.streams);
  const auto content =
      assemble(build.model, build.network, *followed, build.target, test::one_thread());
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(*content, *build.content());
}

// The blob "choices" lies in catalogs: its bytes are pinned.
TEST(SelectionRecord, HasOneJson) {
  const SelectionRecord record{
      {"onednn:a(x->y)", "kernel:b(y->y)"}, {"kernel:copy(x->y)"}, {2.5}, 2};
  const std::string json =
      "{\"node_us\":[2.5],\"reformats\":[\"kernel:copy(x->y)\"],"
      "\"schema\":\"enginery.choices/1\",\"streams\":2,"
      "\"tactics\":[\"onednn:a(x->y)\",\"kernel:b(y->y)\"]}";
  EXPECT_EQ(to_json(record), json);
  const auto back = parse_selection(json);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->tactics, record.tactics);
  EXPECT_EQ(back->reformats, record.reformats);
  EXPECT_EQ(back->node_us, record.node_us);
  EXPECT_EQ(back->streams, 2);
}

TEST(SelectionRecord, KeepsTheMeasuredCeilings) {
  SelectionRecord record;
  record.ceilings = {{"bytes_per_second", 4.3e12}};
  EXPECT_EQ(parse_selection(to_json(record))->ceilings, record.ceilings);
}

TEST(SelectionRecord, KeepsTheCover) {
  SelectionRecord record;
  record.cover = {1, 4};
  EXPECT_EQ(parse_selection(to_json(record))->cover, record.cover);
}

// Two convolutions of one value, as one.
TEST(SelectionRecord, IsFollowedToMergedSiblings) {
  const std::string pointwise =
      "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1";
  Build build(test::loaded_from(
      "input %x : float32[1x8x6x6]\n %v = constant float32[8x8x1x1] random(1)\n %w = constant "
      "float32[4x8x1x1] random(2)\n %a = conv(%x, %v) " +
          pointwise + "\n %b = conv(%x, %w) " + pointwise +
          "\n %ra = act(%a) kind=relu\n %rb = act(%b) kind=relu\n %c = concat(%rb, %ra) axis=1\n "
          "%y = act(%c) kind=tanh\n output %y",
      {}));
  const Network& network = build.network;
  ASSERT_FALSE(network.alternatives.empty());
  const Cover cover{network.alternatives.size() - 1};
  ASSERT_TRUE(network.alternatives.back().leads);
  const auto cut = network.cut(cover);
  ASSERT_TRUE(cut.ok());
  build.selection = analytic_choice(*cut, build.target.sources).value();
  build.selection.cover = cover;
  const auto record = parse_selection(to_json(to_record(network, build.selection, {})));
  ASSERT_TRUE(record.ok()) << record.error().message;
  const auto followed = follow(network, build.target.sources, *record);
  ASSERT_TRUE(followed.ok()) << followed.error().message;
  const auto content = assemble(build.model, network, *followed, build.target, test::one_thread());
  ASSERT_TRUE(content.ok()) << content.error().message;
  EXPECT_EQ(*content, *build.content());
  const auto accuracy = build.verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->wrong, "");
}

TEST(Follow, RefusesACoverThatTheNetworkLacks) {
  const Build build(test::small_convolution());
  SelectionRecord record = to_record(build.network, build.selection, {});
  record.cover = {7};
  EXPECT_EQ(follow(build.network, build.target.sources, record).error().code,
            ErrorCode::incompatible);
}

// Records from before streams existed.
TEST(SelectionRecord, HasOneStreamWhereItNamesNone) {
  const auto record = parse_selection(
      R"({"schema":"enginery.choices/1","tactics":[],"reformats":[],"node_us":[]})");
  ASSERT_TRUE(record.ok());
  EXPECT_EQ(record->streams, 1);
}

TEST(SelectionRecord, RefusesEveryOtherDocument) {
  for (const char* text :
       {"", "[]", "{}",
        R"({"schema":"enginery.choices/2","tactics":[],"reformats":[],"node_us":[]})",
        R"({"schema":"enginery.choices/1","tactics":[1],"reformats":[],"node_us":[]})",
        R"({"schema":"enginery.choices/1","tactics":[],"node_us":[]})"}) {
    const auto record = parse_selection(text);
    ASSERT_FALSE(record.ok()) << text;
    EXPECT_EQ(record.error().code, ErrorCode::corrupt_data) << text;
  }
}

TEST(Follow, RefusesTheRecordOfAnotherNetwork) {
  const Build build(test::small_convolution()), other(test::two_outputs());
  const auto followed =
      follow(other.network, other.target.sources, to_record(build.network, build.selection, {}));
  ASSERT_FALSE(followed.ok());
  EXPECT_EQ(followed.error().code, ErrorCode::incompatible);
}

TEST(Follow, NamesTheLayerAndTheTacticThatIsNotOffered) {
  const Build build(test::small_convolution());
  SelectionRecord record = to_record(build.network, build.selection, {});
  record.tactics[0] = "onednn:of_another_version";
  const auto followed = follow(build.network, build.target.sources, record);
  ASSERT_FALSE(followed.ok());
  EXPECT_EQ(followed.error().code, ErrorCode::incompatible);
  EXPECT_NE(followed.error().message.find("'onednn:of_another_version' is not offered here"),
            std::string::npos)
      << followed.error().message;
  EXPECT_NE(followed.error().message.find("layer '" + build.network.nodes[0].name + "'"),
            std::string::npos);
}

TEST(Follow, RefusesAMissingReformat) {
  const Build build(test::small_convolution());
  SelectionRecord record = to_record(build.network, build.selection, {});
  record.reformats.push_back("kernel:copy");
  const auto followed = follow(build.network, build.target.sources, record);
  ASSERT_FALSE(followed.ok());
  EXPECT_EQ(followed.error().code, ErrorCode::incompatible);
}

}  // namespace
}  // namespace enginery
