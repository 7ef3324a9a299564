// The bulk socket: chunks that are checked, resumed and refused; and frames that nobody should
// send.
#include <gtest/gtest.h>
#include <zmq.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "schemas/codec.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

Bytes large_blob(size_t size) {
  std::mt19937_64 random(size);
  Bytes bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

// One request on a link, and its answer.
Body exchange(Link& link, Body body, Bytes chunk = {}) {
  Message request;
  request.envelope.request = make_request_id();
  request.envelope.body = std::move(body);
  request.chunk = std::move(chunk);
  for (int tries = 0; tries < 100; ++tries) {
    if (!link.send(request).ok()) {
      std::this_thread::sleep_for(milliseconds(20));
      continue;
    }
    const auto reply = link.receive(milliseconds(3000), -1);
    if (reply.ok() && *reply && (*reply)->envelope.request == request.envelope.request)
      return (*reply)->envelope.body;
  }
  ADD_FAILURE() << "no answer";
  return {};
}

std::unique_ptr<Link> bulk_link(const Farm& farm) {
  return std::move(*make_zmq_dial()(farm.options().bulk_listen, kMaxBulkBytes));
}

PutBlob put_of(const Bytes& blob, size_t offset, const Bytes& chunk) {
  return {sha256(blob), blob.size(), offset, sha256(chunk)};
}

TEST(Bulk, CarriesLargeBlobsBothWays) {
  Farm farm;
  const auto client = farm.client();
  const Bytes blob = large_blob(5'000'000);
  uint64_t told = 0;
  const Result<Digest> digest =
      client->put_blob(as_bytes(blob), [&](uint64_t done, uint64_t total) {
        EXPECT_EQ(total, blob.size());
        EXPECT_GE(done, told);
        told = done;
      });
  ASSERT_TRUE(digest.ok()) << digest.error().message;
  EXPECT_EQ(told, blob.size());
  EXPECT_EQ(must(client->get_blob(*digest)), blob);
  EXPECT_EQ(must(client->get_blob(must(client->put_blob({})))), "");
  EXPECT_EQ(client->get_blob(sha256("nothing")).error().code, ErrorCode::not_found);
}

TEST(Bulk, ResumesAnUploadAfterARestart) {
  Farm farm;
  const Bytes blob = large_blob(3'000'000);
  {
    const auto link = bulk_link(farm);
    const Bytes first = blob.substr(0, kChunkBytes);
    const Body reply = exchange(*link, put_of(blob, 0, first), first);
    EXPECT_EQ(std::get<PutReply>(reply).offset, first.size());
    EXPECT_EQ(std::get<PutReply>(exchange(*link, put_of(blob, 0, first), first)).offset,
              first.size());  // again
  }
  farm.stop();
  farm.start();
  const auto client = farm.client();
  EXPECT_EQ(must(client->has_blobs({sha256(blob)})).at(0).received_bytes, kChunkBytes);
  uint64_t first_told = 0;
  ASSERT_TRUE(client
                  ->put_blob(as_bytes(blob),
                             [&](uint64_t done, uint64_t) {
                               if (first_told == 0) first_told = done;
                             })
                  .ok());
  EXPECT_EQ(first_told, 2 * kChunkBytes);  // went on where it had stopped
  EXPECT_EQ(must(client->get_blob(sha256(blob))), blob);
}

TEST(Bulk, RefusesADamagedChunkAndAGap) {
  Farm farm;
  const auto link = bulk_link(farm);
  const Bytes blob = large_blob(2'000'000);
  Bytes chunk = blob.substr(0, kChunkBytes);
  const PutBlob put = put_of(blob, 0, chunk);
  chunk[17] = static_cast<char>(chunk[17] ^ 1);
  EXPECT_EQ(std::get<ErrorReply>(exchange(*link, put, chunk)).fault.code, ErrorCode::corrupt_data);
  const Bytes second = blob.substr(kChunkBytes);
  EXPECT_EQ(std::get<PutReply>(exchange(*link, put_of(blob, kChunkBytes, second), second)).offset,
            0u);  // a gap: from there
}

TEST(Bulk, RefusesABlobWhoseBytesHaveAnotherDigest) {
  Farm farm;
  const auto link = bulk_link(farm);
  const Bytes other = large_blob(1000);
  const PutBlob forged{sha256("claimed"), other.size(), 0, sha256(other)};
  EXPECT_EQ(std::get<ErrorReply>(exchange(*link, forged, other)).fault.code,
            ErrorCode::corrupt_data);
  EXPECT_FALSE(must(farm.client()->has_blobs({sha256("claimed")})).at(0).present);
  const PutBlob beyond{sha256("x"), 10, 5, sha256(other)};
  EXPECT_EQ(std::get<ErrorReply>(exchange(*link, beyond, other)).fault.code,
            ErrorCode::invalid_argument);
}

TEST(Bulk, ADamagedCopyIsFoundByItsReceiverAndSetAside) {
  Farm farm;
  const auto client = farm.client();
  const Bytes blob = large_blob(3'000'000);
  const Digest digest = must(client->put_blob(as_bytes(blob)));
  const auto file =
      farm.options().data / "sha256" / digest.hex().substr(0, 2) / digest.hex().substr(2);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(2'000'000).put('?');
  EXPECT_EQ(client->get_blob(digest).error().code, ErrorCode::corrupt_data);
  EXPECT_EQ(client->get_blob(digest).error().code, ErrorCode::not_found);
  EXPECT_EQ(must(client->put_blob(as_bytes(blob))), digest);
  EXPECT_EQ(must(client->get_blob(digest)), blob);
}

TEST(Bulk, AnswersARequestOfTheOtherSocketWithAnError) {
  Farm farm;
  const auto link = bulk_link(farm);
  EXPECT_EQ(std::get<ErrorReply>(exchange(*link, ListJobs{})).fault.code, ErrorCode::unsupported);
}

TEST(Server, RefusesAClientWithoutACommonVersion) {
  Farm farm;
  const auto link = must(make_zmq_dial()(farm.options().listen, kMaxControlBytes));
  Hello newer;
  newer.least_version = kProtocolVersion + 1;
  newer.greatest_version = kProtocolVersion + 7;
  const Body refusal = exchange(*link, newer);
  EXPECT_EQ(std::get<ErrorReply>(refusal).fault.code, ErrorCode::unsupported);
  Hello wider;
  wider.least_version = 0;
  wider.greatest_version = kProtocolVersion + 7;
  EXPECT_EQ(std::get<Welcome>(exchange(*link, wider)).version, kProtocolVersion);
}

TEST(Server, SurvivesFramesThatNobodyShouldSend) {
  Farm farm;
  const std::shared_ptr<void> context(zmq_ctx_new(), [](void* c) { zmq_ctx_term(c); });
  void* socket = zmq_socket(context.get(), ZMQ_DEALER);
  const int linger_ms = 0;
  zmq_setsockopt(socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
  std::mt19937_64 random(1);
  for (const std::string& address : {farm.options().listen, farm.options().bulk_listen}) {
    ASSERT_EQ(zmq_connect(socket, address.c_str()), 0);
    for (int i = 0; i < 300; ++i) {
      Envelope envelope;
      envelope.body = i % 2 == 0 ? Body(SubmitRequest{}) : Body(SyncRequest{});
      Bytes frame = *encode(envelope);
      if (i % 3 != 0)
        for (int flips = 0; flips < 9; ++flips)
          frame[random() % frame.size()] = static_cast<char>(random());
      if (i % 5 == 0) frame.resize(random() % frame.size());
      const int parts = 1 + static_cast<int>(random() % 4);
      for (int part = 0; part < parts; ++part)
        zmq_send(socket, frame.data(), frame.size(), part + 1 < parts ? ZMQ_SNDMORE : 0);
    }
    zmq_disconnect(socket, address.c_str());
  }
  zmq_close(socket);
  const auto client = farm.client();
  EXPECT_TRUE(must(client->jobs(10)).empty());
  EXPECT_TRUE(client->put_blob(as_bytes("alive")).ok());
}

}  // namespace
}  // namespace enginery
