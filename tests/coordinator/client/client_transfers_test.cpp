// Blobs and timings in pieces: where an upload goes on, which answers are not believed, and pages.
#include "tests/coordinator/client/client_fixture.h"

namespace enginery {
namespace {

TEST_F(ClientTest, AnUploadGoesOnWhereAnEarlierOneStopped) {
  const Bytes bytes(kChunkBytes + 1000, 'x');
  wire_.answer = [&](const Message& request) {
    if (std::holds_alternative<HasBlobs>(request.envelope.body))
      return FakeLink::body(BlobStates{{{sha256(bytes), false, 5000, 0}}});
    const auto& put = std::get<PutBlob>(request.envelope.body);
    const uint64_t end = put.offset + request.chunk.size();
    return FakeLink::body(PutReply{end, end == bytes.size()});
  };
  const auto stored = client_->put_blob(as_bytes(bytes));
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  ASSERT_EQ(wire_.sent.size(), 2u);
  EXPECT_EQ(std::get<PutBlob>(wire_.sent[1].envelope.body).offset, 5000u);
  EXPECT_EQ(wire_.sent[1].chunk.size(), bytes.size() - 5000);
}

// The receiver hashes the whole; a coordinator that gave out damage is made to look at its copy.
TEST_F(ClientTest, ADamagedDownloadIsRefusedAndTheCopyIsChecked) {
  const Bytes right(1000, 'x'), wrong(1000, 'y');
  std::vector<uint64_t> lengths;
  const auto download = [&](const Bytes& sent, const Body& when_checked) {
    lengths.clear();
    wire_.answer = [&](const Message& request) {
      lengths.push_back(std::get<GetBlob>(request.envelope.body).length);
      if (lengths.back() != kUncheckedBytes) return FakeLink::body(when_checked);
      return FakeLink::body(BlobChunk{sha256(right), 0, sent.size(), {}}, sent);
    };
    return client_->get_blob(sha256(right));
  };
  EXPECT_EQ(*download(right, {}), right);
  EXPECT_EQ(lengths, std::vector<uint64_t>{kUncheckedBytes});
  const auto on_the_way = download(wrong, BlobChunk{});
  ASSERT_FALSE(on_the_way.ok());
  EXPECT_EQ(on_the_way.error().code, ErrorCode::corrupt_data);
  EXPECT_EQ(lengths.size(), 2u);
  const auto stored = download(wrong, ErrorReply{{ErrorCode::not_found, "was set aside"}});
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ(stored.error().code, ErrorCode::not_found);
}

TEST_F(ClientTest, APartOfAnotherPlaceIsRefused) {
  wire_.answer = [](const Message&) {
    return FakeLink::body(BlobChunk{sha256("x"), 7, 8, {}}, Bytes(8, 'x'));
  };
  EXPECT_EQ(client_->get_blob(sha256("x")).error().code, ErrorCode::corrupt_data);
  EXPECT_EQ(wire_.sent.size(), 1u);
}

TEST_F(ClientTest, SeveralChunksAreOnTheirWayAndMayArriveInAnyOrder) {
  Bytes blob;
  for (int i = 0; i < 20; ++i) blob += Bytes(kChunkBytes, static_cast<char>('a' + i));
  blob += "end";
  std::vector<Message> held;
  size_t most = 0;
  wire_.answer = [&](const Message& request) -> std::optional<Message> {
    const auto& get = std::get<GetBlob>(request.envelope.body);
    Message reply = FakeLink::body(BlobChunk{sha256(blob), get.offset, blob.size(), {}},
                                   blob.substr(get.offset, kChunkBytes));
    reply.envelope.request = request.envelope.request;
    if (get.offset == 0) return reply;
    held.push_back(std::move(reply));
    most = std::max(most, held.size());
    if (held.size() < 4 && get.offset + kChunkBytes < blob.size()) return std::nullopt;
    for (auto late = held.rbegin(); late != held.rend(); ++late) wire_.replies.push_back(*late);
    held.clear();
    return std::nullopt;
  };
  EXPECT_EQ(*client_->get_blob(sha256(blob)), blob);
  EXPECT_EQ(most, 4u);
  EXPECT_EQ(wire_.sent.size(), 21u);
}

TEST_F(ClientTest, ALostChunkOfAnUploadIsSentAgainAndThoseBehindItToo) {
  const Bytes blob(12 * kChunkBytes, 'x');
  uint64_t have = 0;
  bool lost = false;
  wire_.answer = [&](const Message& request) -> std::optional<Message> {
    if (std::holds_alternative<HasBlobs>(request.envelope.body))
      return FakeLink::body(BlobStates{{{sha256(blob), false, 0, 0}}});
    const auto& put = std::get<PutBlob>(request.envelope.body);
    if (put.offset == 3 * kChunkBytes && !std::exchange(lost, true)) return std::nullopt;
    if (put.offset == have) have += request.chunk.size();
    return FakeLink::body(PutReply{have, have == blob.size()});
  };
  ASSERT_TRUE(client_->put_blob(as_bytes(blob)).ok());
  EXPECT_EQ(have, blob.size());
  EXPECT_LE(wire_.sent.size(), 30u);
}

TEST_F(ClientTest, AsksForManyBlobsInPages) {
  wire_.answer = [](const Message& request) {
    BlobStates states;
    for (const Digest& digest : std::get<HasBlobs>(request.envelope.body).digests)
      states.blobs.push_back({digest, true, 0, 1});
    return FakeLink::body(states);
  };
  const auto states = client_->has_blobs(std::vector<Digest>(12'000));
  ASSERT_TRUE(states.ok());
  EXPECT_EQ(states->size(), 12'000u);
  EXPECT_EQ(wire_.sent.size(), 3u);
  EXPECT_TRUE(client_->has_blobs({}).ok());
  EXPECT_EQ(wire_.sent.size(), 3u);  // nothing is asked for nothing
}

TEST_F(ClientTest, AnAnswerAboutFewerBlobsIsAnError) {
  wire_.answer = [](const Message&) { return FakeLink::body(BlobStates{}); };
  const auto states = client_->has_blobs({sha256("x")});
  ASSERT_FALSE(states.ok());
  EXPECT_EQ(states.error().code, ErrorCode::internal);
}

TEST_F(ClientTest, WhatIsThereIsNotUploadedAgain) {
  wire_.answer = [](const Message& request) {
    return FakeLink::body(
        BlobStates{{{std::get<HasBlobs>(request.envelope.body).digests.at(0), true, 0, 1}}});
  };
  ASSERT_TRUE(client_->put_blob(as_bytes("x")).ok());
  EXPECT_EQ(wire_.sent.size(), 1u);
}

TEST_F(ClientTest, AnUploadFollowsTheCoordinatorsOffset) {
  const Bytes bytes(2 * kChunkBytes, 'x');
  std::vector<uint64_t> offsets;
  wire_.answer = [&](const Message& request) {
    if (std::holds_alternative<HasBlobs>(request.envelope.body))
      return FakeLink::body(BlobStates{{{sha256(bytes), false, 2 * kChunkBytes, 0}}});
    const auto& put = std::get<PutBlob>(request.envelope.body);
    offsets.push_back(put.offset);
    if (offsets.size() == 1) return FakeLink::body(PutReply{0, false});  // it lost the upload
    const uint64_t end = put.offset + request.chunk.size();
    return FakeLink::body(PutReply{end, end == bytes.size()});
  };
  ASSERT_TRUE(client_->put_blob(as_bytes(bytes)).ok());
  EXPECT_EQ(offsets, (std::vector<uint64_t>{2 * kChunkBytes, 0, kChunkBytes}));
}

TEST_F(ClientTest, AnOffsetBehindTheEndIsAnError) {
  wire_.answer = [&](const Message& request) {
    if (std::holds_alternative<HasBlobs>(request.envelope.body))
      return FakeLink::body(BlobStates{{{sha256("x"), false, 0, 0}}});
    return FakeLink::body(PutReply{99, false});
  };
  const auto stored = client_->put_blob(as_bytes("x"));
  ASSERT_FALSE(stored.ok());
  EXPECT_EQ(stored.error().code, ErrorCode::internal);
}

TEST_F(ClientTest, ADownloadThatEndsEarlyIsDamaged) {
  wire_.answer = [](const Message& request) {
    const auto& get = std::get<GetBlob>(request.envelope.body);
    const Bytes part = get.offset == 0 ? "half" : "";
    return FakeLink::body(BlobChunk{sha256("x"), get.offset, 8, sha256(part)}, part);
  };
  const auto blob = client_->get_blob(sha256("x"));
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.error().code, ErrorCode::corrupt_data);
  EXPECT_NE(blob.error().message.find("ends early"), std::string::npos);
}

TEST_F(ClientTest, ReadsTimingsPageByPageToTheirEnd) {
  wire_.answer = [](const Message& request) {
    const uint64_t from = std::get<GetTimings>(request.envelope.body).from_row;
    TimingList page;
    page.entries.resize(2);
    page.next_row = from + 2;
    page.complete = page.next_row == 6;
    return FakeLink::body(page);
  };
  EXPECT_EQ(client_->get_timings({}, {})->size(), 6u);
  EXPECT_EQ(wire_.sent.size(), 3u);
}

TEST_F(ClientTest, APageThatDoesNotGoOnIsAnError) {
  wire_.answer = [](const Message&) { return FakeLink::body(TimingList{{}, 0, false}); };
  const auto timings = client_->get_timings({}, {});
  ASSERT_FALSE(timings.ok());
  EXPECT_EQ(timings.error().code, ErrorCode::internal);
}

TEST_F(ClientTest, StoresTimingsInPagesWithTheKeysBeforeTheFirst) {
  wire_.answer = [](const Message& request) {
    return FakeLink::body(
        PutTimingsReply{std::get<PutTimings>(request.envelope.body).entries.size()});
  };
  EXPECT_EQ(*client_->put_timings({"key"}, std::vector<TimingEntry>(1001)), 1001u);
  ASSERT_EQ(wire_.sent.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const auto& put = std::get<PutTimings>(wire_.sent[i].envelope.body);
    EXPECT_EQ(put.keys.size(), i == 0 ? 1u : 0u);
    EXPECT_EQ(put.entries.size(), i < 2 ? 500u : 1u);
  }
  EXPECT_EQ(*client_->put_timings({"key"}, {}), 0u);  // the keys alone
  EXPECT_EQ(wire_.sent.size(), 4u);
}

}  // namespace
}  // namespace enginery
