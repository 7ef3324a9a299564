#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "engine/base/file.h"
#include "engine/data/input_set.h"
#include "engine/data/npy.h"
#include "engine/data/zip.h"
#include "tests/engine/data/picture_files.h"

namespace enginery {
namespace {

std::string number(uint32_t value, int width) {
  std::string out;
  for (int i = 0; i < width; ++i) out += i < 4 ? static_cast<char>(value >> (8 * i)) : '\0';
  return out;
}

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

struct Member {
  std::string name, bytes;
  bool deflate = false;
};

// As Python's zipfile writes it for numpy.savez: the local header has an extra field and no sizes.
std::string archive_of(const std::vector<Member>& members) {
  std::string out, directory;
  for (const Member& m : members) {
    const std::string stored = m.deflate ? deflated(m.bytes) : m.bytes,
                      method = number(m.deflate ? 8 : 0, 2);
    const uint32_t sum = static_cast<uint32_t>(crc32(
        0, reinterpret_cast<const Bytef*>(m.bytes.data()), static_cast<uInt>(m.bytes.size())));
    const uint32_t at = static_cast<uint32_t>(out.size());
    out += "PK\x03\x04" + number(45, 2) + number(0, 2) + method + number(0, 4) + number(sum, 4) +
           number(UINT32_MAX, 4) + number(UINT32_MAX, 4) +
           number(static_cast<uint32_t>(m.name.size()), 2) + number(20, 2) + m.name +
           std::string(20, 'x') + stored;
    directory += "PK\x01\x02" + number(45, 2) + number(45, 2) + number(0, 2) + method +
                 number(0, 4) + number(sum, 4) + number(static_cast<uint32_t>(stored.size()), 4) +
                 number(static_cast<uint32_t>(m.bytes.size()), 4) +
                 number(static_cast<uint32_t>(m.name.size()), 2) + number(0, 12) + number(at, 4) +
                 m.name;
  }
  const uint32_t count = static_cast<uint32_t>(members.size()),
                 start = static_cast<uint32_t>(out.size());
  return out + directory + "PK\x05\x06" + number(0, 4) + number(count, 2) + number(count, 2) +
         number(static_cast<uint32_t>(directory.size()), 4) + number(start, 4) + number(0, 2);
}

std::string npy(std::vector<float> values, Dims dims) {
  return to_npy(Tensor::of<float>(std::move(dims), std::span<const float>(values)));
}

struct Npz : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path write(const std::string& bytes) {
    EXPECT_TRUE(write_file(folder.path / "a.npz", bytes));
    return folder.path / "a.npz";
  }
};

TEST_F(Npz, ReadsStoredAndDeflatedMembers) {
  auto path = write(archive_of({{"a.npy", npy({1, 2}, {2}), false},
                                {"b.npy", npy(std::vector<float>(500, 7), {5, 100}), true}}));
  EXPECT_EQ(*npz_members(path), (std::vector<std::string>{"a", "b"}));
  auto a = NpyFile::open_member(path, "a"), b = NpyFile::open_member(path, "b");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(to_int64s(*a->read_all()), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(b->read_rows(3, 2)->dims(), (Dims{2, 100}));
  EXPECT_EQ(NpyFile::open_member(path, "c").error().code, ErrorCode::not_found);
}

TEST_F(Npz, GivesEveryInputItsArray) {
  InputDescription a{"a", {DataType::float32, {1, 2}}}, b{"b", {DataType::float32, {1, 1}}};
  auto path = write(archive_of({{"b.npy", npy({5, 6}, {2, 1}), true},
                                {"a.npy", npy({1, 2, 3, 4}, {2, 2}), false}}))
                  .string();
  auto set = InputSet::open({path}, {a, b}, {});
  ASSERT_TRUE(set.ok()) << set.error().message;
  auto batch = set->batch(1);
  EXPECT_EQ(to_int64s(batch->tensors.at("a")), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(to_int64s(batch->tensors.at("b")), (std::vector<int64_t>{6}));
  EXPECT_TRUE(InputSet::open({"b=" + path}, {b}, {}).ok());
  EXPECT_EQ(InputSet::open({path}, {{"c", a.type}}, {}).error().code, ErrorCode::not_found);
}

TEST_F(Npz, RefusesDamage) {
  const std::string whole = archive_of({{"a.npy", npy({1, 2}, {2}), true}});
  auto read = [](const std::string& archive) -> Status {
    TRY(auto members, list_zip(archive));
    for (const ZipMember& member : members) {
      TRY(Bytes bytes, read_zip_member(archive, member));
      TRY(Tensor tensor, parse_npy(bytes));
    }
    return members.empty() ? Status(Error{ErrorCode::invalid_argument, "empty"}) : Status();
  };
  ASSERT_TRUE(read(whole).ok());
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(read(whole.substr(0, n)).ok()) << n;
  const unsigned seed = 20261121;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = whole;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    Status status = read(bad);
    EXPECT_TRUE(status.ok() || status.error().code == ErrorCode::invalid_argument ||
                status.error().code == ErrorCode::unsupported);
  }
  ZipMember bomb{"bomb", 8, 0, 4, 4000000000u, 0};
  EXPECT_EQ(read_zip_member(whole, bomb).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace enginery
