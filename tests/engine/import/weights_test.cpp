// Every way that ONNX stores a tensor's elements.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "engine/import/onnx/weights.h"
#include "tests/engine/import/model_builder.h"

namespace enginery::test {
namespace {

using onnx::TensorProto;

// TensorProto.DataType of ONNX 1.16; the headers may be of an older one.
constexpr int kE4M3Fn = 17, kE4M3FnUz = 18, kE5M2 = 19, kE5M2FnUz = 20, kUInt4 = 21, kInt4 = 22;

struct Stored {
  const char* name;
  int type;
  DataType expected;
  void (*add)(TensorProto&, int value);  // appends to the field that the type is stored in
};

void as_int32(TensorProto& t, int v) {
  t.add_int32_data(v);
}
void as_int64(TensorProto& t, int v) {
  t.add_int64_data(v);
}
void as_uint64(TensorProto& t, int v) {
  t.add_uint64_data(static_cast<uint64_t>(v));
}
void as_float(TensorProto& t, int v) {
  t.add_float_data(static_cast<float>(v));
}
void as_double(TensorProto& t, int v) {
  t.add_double_data(v);
}
void as_half_bits(TensorProto& t, int v) {
  t.add_int32_data(float_to_half(static_cast<float>(v)));
}
void as_bfloat_bits(TensorProto& t, int v) {
  t.add_int32_data(float_to_bfloat16(static_cast<float>(v)));
}

const Stored kStored[] = {
    {"float", TensorProto::FLOAT, DataType::float32, as_float},
    {"double", TensorProto::DOUBLE, DataType::float64, as_double},
    {"float16", TensorProto::FLOAT16, DataType::float16, as_half_bits},
    {"bfloat16", TensorProto::BFLOAT16, DataType::bfloat16, as_bfloat_bits},
    {"int8", TensorProto::INT8, DataType::int8, as_int32},
    {"uint8", TensorProto::UINT8, DataType::uint8, as_int32},
    {"int16", TensorProto::INT16, DataType::int16, as_int32},
    {"uint16", TensorProto::UINT16, DataType::uint16, as_int32},
    {"int32", TensorProto::INT32, DataType::int32, as_int32},
    {"uint32", TensorProto::UINT32, DataType::uint32, as_uint64},
    {"int64", TensorProto::INT64, DataType::int64, as_int64},
    {"uint64", TensorProto::UINT64, DataType::uint64, as_uint64},
    {"bool", TensorProto::BOOL, DataType::boolean, as_int32},
};

class EveryType : public testing::TestWithParam<Stored> {};

TEST_P(EveryType, ReadsTheSameFromItsFieldAndFromRawBytes) {
  const Stored& stored = GetParam();
  TensorProto typed;
  typed.set_data_type(stored.type);
  typed.add_dims(4);
  bool truth = stored.type == TensorProto::BOOL;
  const int values[4] = {0, 1, truth ? 1 : 100, truth ? 0 : 7};
  for (int v : values) stored.add(typed, v);
  auto from_field = WeightReader(std::nullopt).read(typed);
  ASSERT_TRUE(from_field.ok()) << from_field.error().message;
  EXPECT_EQ(from_field->type(), stored.expected);
  EXPECT_EQ(to_int64s(*from_field), (std::vector<int64_t>(values, values + 4)));

  TensorProto raw;
  raw.set_data_type(stored.type);
  raw.add_dims(4);
  raw.set_raw_data(from_field->raw(), static_cast<size_t>(from_field->bytes()));
  auto from_raw = WeightReader(std::nullopt).read(raw);
  ASSERT_TRUE(from_raw.ok()) << from_raw.error().message;
  EXPECT_EQ(to_int64s(*from_raw), to_int64s(*from_field));

  raw.set_raw_data(raw.raw_data().substr(1));
  EXPECT_FALSE(WeightReader(std::nullopt).read(raw).ok()) << "a byte is missing";
}

INSTANTIATE_TEST_SUITE_P(Weights, EveryType, testing::ValuesIn(kStored),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Weights, NegativeNumbersKeepTheirSign) {
  TensorProto proto;
  proto.set_data_type(TensorProto::INT8);
  proto.add_dims(2);
  proto.add_int32_data(-1);
  proto.add_int32_data(-128);
  auto tensor = WeightReader(std::nullopt).read(proto);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(to_int64s(*tensor), (std::vector<int64_t>{-1, -128}));
}

TEST(Weights, RawBooleansAreZeroOrOne) {
  TensorProto proto;
  proto.set_data_type(TensorProto::BOOL);
  proto.add_dims(3);
  proto.set_raw_data("\x00\x02\xff", 3);
  auto tensor = WeightReader(std::nullopt).read(proto);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(std::memcmp(tensor->raw(), "\x00\x01\x01", 3), 0);
}

TEST(Weights, EightBitFloatsAreTheirCodes) {
  const std::pair<int, float> types[] = {
      {kE4M3Fn, 1.5f}, {kE4M3FnUz, 0.75f}, {kE5M2, 1}, {kE5M2FnUz, 0.5f}};
  for (const auto& [type, expected] : types) {
    TensorProto typed;
    typed.set_data_type(type);
    TensorProto raw = typed;
    typed.add_int32_data(0x3c);
    raw.set_raw_data("\x3c", 1);
    for (const TensorProto& proto : {typed, raw}) {
      auto tensor = WeightReader(std::nullopt).read(proto);
      ASSERT_TRUE(tensor.ok()) << tensor.error().message;
      EXPECT_EQ(convert(*tensor, DataType::float32).data<float>()[0], expected) << type;
      EXPECT_EQ(raw_data_of(*tensor), raw.raw_data());
    }
  }
}

// Two in a byte, the first one in the low bits; an odd one has a byte to itself.
TEST(Weights, FourBitIntegersComeInPairs) {
  for (const bool is_signed : {true, false}) {
    TensorProto raw;
    raw.set_data_type(is_signed ? kInt4 : kUInt4);
    raw.add_dims(5);
    TensorProto typed = raw;
    raw.set_raw_data("\x21\xf8\x07", 3);
    for (const int pair : {0x21, 0xf8, 0x07}) typed.add_int32_data(pair);
    for (const TensorProto& proto : {typed, raw}) {
      auto tensor = WeightReader(std::nullopt).read(proto);
      ASSERT_TRUE(tensor.ok()) << tensor.error().message;
      EXPECT_EQ(tensor->type(), is_signed ? DataType::int4 : DataType::uint4);
      EXPECT_EQ(to_int64s(*tensor), is_signed ? (std::vector<int64_t>{1, 2, -8, -1, 7})
                                              : (std::vector<int64_t>{1, 2, 8, 15, 7}));
      EXPECT_EQ(raw_data_of(*tensor), raw.raw_data());
    }
    raw.set_raw_data("\x21\xf8", 2);
    EXPECT_FALSE(WeightReader(std::nullopt).read(raw).ok()) << "a byte is missing";
    typed.add_int32_data(1);
    EXPECT_FALSE(WeightReader(std::nullopt).read(typed).ok()) << "a byte too many";
  }
}

TEST(Weights, ScalarsAndEmptyTensors) {
  TensorProto scalar;
  scalar.set_data_type(TensorProto::FLOAT);
  scalar.add_float_data(2.5f);
  auto one = WeightReader(std::nullopt).read(scalar);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->rank(), 0);
  TensorProto empty;
  empty.set_data_type(TensorProto::INT64);
  empty.add_dims(0);
  auto none = WeightReader(std::nullopt).read(empty);
  ASSERT_TRUE(none.ok()) << none.error().message;
  EXPECT_EQ(none->size(), 0);
}

TEST(Weights, TypesThatWeDoNotHaveAreUnsupported) {
  for (int type : {8, 14, 15, 23, 24, 25, 26}) {
    TensorProto proto;
    proto.set_data_type(type);
    auto tensor = WeightReader(std::nullopt).read(proto);
    ASSERT_FALSE(tensor.ok());
    EXPECT_EQ(tensor.error().code, ErrorCode::unsupported) << type;
  }
  TensorProto undefined;
  auto tensor = WeightReader(std::nullopt).read(undefined);
  ASSERT_FALSE(tensor.ok());
  EXPECT_EQ(tensor.error().code, ErrorCode::invalid_argument);
}

onnx::SparseTensorProto sparse(std::vector<int64_t> index_dims, std::vector<int64_t> indices) {
  onnx::SparseTensorProto proto;
  auto* values = proto.mutable_values();
  values->set_data_type(TensorProto::FLOAT);
  values->add_dims(2);
  values->add_float_data(5);
  values->add_float_data(6);
  auto* where = proto.mutable_indices();
  where->set_data_type(TensorProto::INT64);
  for (int64_t d : index_dims) where->add_dims(d);
  for (int64_t i : indices) where->add_int64_data(i);
  proto.add_dims(2);
  proto.add_dims(3);
  return proto;
}

TEST(Weights, SparseTensorsBecomeDense) {
  const std::vector<int64_t> expected{0, 5, 0, 0, 0, 6};
  for (const auto& proto : {sparse({2}, {1, 5}), sparse({2, 2}, {0, 1, 1, 2})}) {
    auto tensor = WeightReader(std::nullopt).read(proto);
    ASSERT_TRUE(tensor.ok()) << tensor.error().message;
    EXPECT_EQ(tensor->dims(), (Dims{2, 3}));
    EXPECT_EQ(to_int64s(*tensor), expected);
  }
}

TEST(Weights, SparseIndicesOutOfRangeAreRefused) {
  for (const auto& proto :
       {sparse({2}, {1, 6}), sparse({2}, {-1, 5}), sparse({2, 2}, {0, 1, 1, 3}),
        sparse({2, 2}, {0, 1, INT64_MAX, 2}), sparse({1}, {1}), sparse({2, 1}, {1, 2})}) {
    EXPECT_FALSE(WeightReader(std::nullopt).read(proto).ok());
  }
  auto huge = sparse({2}, {1, 5});
  huge.set_dims(0, 1 << 30);
  EXPECT_FALSE(WeightReader(std::nullopt).read(huge).ok())
      << "a few bytes must not become gigabytes";
  huge.set_dims(0, -1);
  EXPECT_FALSE(WeightReader(std::nullopt).read(huge).ok());
}

TEST(Weights, SparseInitialisersAreRead) {
  ModelBuilder m;
  m.input("x", {2, 3}).output("y").node("Add", {"x", "w"}, {"y"});
  *m.graph().add_sparse_initializer() = sparse({2}, {1, 5});
  m.graph().mutable_sparse_initializer(0)->mutable_values()->set_name("w");
  auto imported = m.import();
  EXPECT_TRUE(imported.ok()) << imported.error().message;
}

}  // namespace
}  // namespace enginery::test
