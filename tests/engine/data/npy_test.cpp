#include "engine/data/npy.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/engine/data/picture_files.h"

namespace enginery {
namespace {

std::string file_of(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  out += static_cast<char>(dictionary.size() & 0xff);
  out += static_cast<char>(dictionary.size() >> 8);
  if (version > 1) out += std::string(2, '\0');
  return out + dictionary + data;
}

std::string bytes_of(std::initializer_list<int> values) {
  std::string out;
  for (int v : values) out += static_cast<char>(v);
  return out;
}

Tensor counting(DataType type, Dims dims) {
  Tensor values(DataType::float32, std::move(dims));
  for (int64_t i = 0; i < values.size(); ++i)
    values.mutable_data<float>()[static_cast<size_t>(i)] = static_cast<float>(i % 100);
  return convert(values, type);
}

TEST(Npy, EveryTypeComesBackAsItWas) {
  for (int i = 0; i < kDataTypeCount; ++i) {
    for (const Dims& dims : {Dims{}, Dims{5}, Dims{2, 3, 4}, Dims{0, 7}}) {
      Tensor tensor = counting(static_cast<DataType>(i), dims);
      Bytes bytes = to_npy(tensor);
      auto back = parse_npy(bytes);
      ASSERT_TRUE(back.ok()) << back.error().message;
      // Types that NumPy has no name for come back as wider ones.
      if (!is_storage_only(tensor.type())) {
        EXPECT_EQ(back->type(), tensor.type());
      }
      EXPECT_EQ(back->dims(), tensor.dims());
      const Tensor same = convert(*back, tensor.type());
      EXPECT_EQ(as_text(same.byte_span()), as_text(tensor.byte_span()));
      EXPECT_EQ((bytes.size() - static_cast<size_t>(back->bytes())) % 64, 0u);
    }
  }
}

TEST(
    Npy,
    ReadsWhatNumPyWrites) {  // numpy.save(f, numpy.array([[1, 2, 3], [4, 5, 6]], '<i2', order='F'))
  std::string text = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }          \n";
  auto tensor = parse_npy(file_of(text, bytes_of({1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 0})));
  ASSERT_TRUE(tensor.ok()) << tensor.error().message;
  EXPECT_EQ(tensor->dims(), (Dims{2, 3}));
  EXPECT_EQ(to_int64s(*tensor), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, ReadsVersionsTwoAndThreeAndBigEndian) {
  std::string text = "{'shape': (3,), 'fortran_order': False, 'descr': '>u4'}\n";
  for (int version : {1, 2, 3}) {
    auto tensor = parse_npy(file_of(text, bytes_of({0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0}), version));
    ASSERT_TRUE(tensor.ok()) << tensor.error().message;
    EXPECT_EQ(to_int64s(*tensor), (std::vector<int64_t>{1, 256, 1 << 24}));
  }
}

TEST(Npy, MakesBooleansZeroOrOne) {
  auto tensor = parse_npy(
      file_of("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n", bytes_of({0, 7, 1})));
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(to_int64s(*tensor), (std::vector<int64_t>{0, 1, 1}));
}

TEST(Npy, RefusesHostileHeaders) {
  const std::string data(64, '\0');
  for (const char* text : {
           "",
           "{}",
           "{",
           "{'descr': '<f4'",
           "[1, 2]",
           "{'descr': '<f4', 'fortran_order': False}",
           "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
           "{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}",
           "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (17,)}",  // 68 bytes of the 64
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, "
           "4294967296)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} and more",
       }) {
    auto tensor = parse_npy(file_of(text, data));
    ASSERT_FALSE(tensor.ok()) << text;
    EXPECT_EQ(tensor.error().code, ErrorCode::invalid_argument) << text;
  }
  std::string deep = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 100; ++i) deep += "1,";
  EXPECT_FALSE(parse_npy(file_of(deep + ")}", data)).ok());
}

TEST(Npy, RefusesEveryTruncation) {
  Bytes bytes = to_npy(counting(DataType::float32, {2, 3}));
  for (size_t n = 0; n < bytes.size(); ++n) {
    auto tensor = parse_npy(bytes.substr(0, n));
    ASSERT_FALSE(tensor.ok()) << n;
    EXPECT_EQ(tensor.error().code, ErrorCode::invalid_argument);
  }
}

TEST(NpyFile, ReadsRowsOfBothOrders) {
  TemporaryFolder folder;
  ASSERT_TRUE(write_npy(folder.path / "c.npy", counting(DataType::float32, {4, 2})));
  std::string text = "{'descr': '|u1', 'fortran_order': True, 'shape': (4, 2), }\n";
  ASSERT_TRUE(write_file(folder.path / "f.npy", file_of(text, bytes_of({0, 2, 4, 6, 1, 3, 5, 7}))));
  for (const char* name : {"c.npy", "f.npy"}) {
    auto file = NpyFile::open(folder.path / name);
    ASSERT_TRUE(file.ok()) << file.error().message;
    auto rows = file->read_rows(1, 2);
    ASSERT_TRUE(rows.ok());
    EXPECT_EQ(rows->dims(), (Dims{2, 2}));
    EXPECT_EQ(to_int64s(*rows), (std::vector<int64_t>{2, 3, 4, 5})) << name;
    EXPECT_EQ(to_int64s(*file->read_all()).size(), 8u);
  }
}

TEST(NpyFile, SaysWhatIsMissing) {
  TemporaryFolder folder;
  EXPECT_EQ(NpyFile::open(folder.path / "none.npy").error().code, ErrorCode::not_found);
  EXPECT_EQ(NpyFile::open(folder.path).error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(write_file(folder.path / "empty.npy", ""));
  EXPECT_EQ(NpyFile::open(folder.path / "empty.npy").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace enginery
