// What holds for every operator of the variant.
#include "engine/ops/op.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

// Gives every field a value that is not its default.
struct Disturb {
  void operator()(std::string_view, int64_t& v) const { v = v > 0 ? v - 1 : v + 7; }
  void operator()(std::string_view, bool& v) const { v = !v; }
  void operator()(std::string_view, float& v) const { v = v / 3 + 0.1f; }
  void operator()(std::string_view, DataType& v) const { v = DataType::uint16; }
  void operator()(std::string_view, std::string& v) const { v += "text"; }
  void operator()(std::string_view, std::vector<int64_t>& v) const { v = {-1, INT64_MAX, 3}; }
  template <typename E>
    requires std::is_enum_v<E>
  void operator()(std::string_view, E& v) const {
    v = static_cast<E>((static_cast<size_t>(v) + 1) % enum_names(v).size());
  }
};

std::map<std::string, std::string> as_map(const std::string& text) {
  std::map<std::string, std::string> map;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find(' ', at), text.size()), equal = text.find('=', at);
    map[text.substr(at, equal - at)] = text.substr(equal + 1, end - equal - 1);
    at = end + 1;
  }
  return map;
}

template <size_t I = 0, typename F>
void for_each_op(F&& f) {
  if constexpr (I < std::variant_size_v<AnyOperator>) {
    f(std::variant_alternative_t<I, AnyOperator>{});
    for_each_op<I + 1>(f);
  }
}

TEST(Op, EveryAttributeSurvivesItsText) {
  for_each_op([](auto op) {
    using T = decltype(op);
    std::string before = attributes_text(op);
    T::fields(op, Disturb{});
    std::string text = attributes_text(op);
    EXPECT_TRUE(text.empty() || text != before) << T::kName;
    auto parsed = parse_op(T::kName, as_map(text));
    ASSERT_TRUE(parsed) << T::kName << ": " << parsed.error().message;
    EXPECT_EQ(parsed->index(), Op(op).index()) << T::kName;
    EXPECT_EQ(attributes_text(*parsed), text);
  });
}

TEST(Op, NamesAreUniqueAndParseToTheirDefaults) {
  std::set<std::string_view> names;
  for_each_op([&](auto op) {
    EXPECT_TRUE(names.insert(op_name(op)).second) << op_name(op);
    auto parsed = parse_op(op_name(op), {});
    ASSERT_TRUE(parsed);
    EXPECT_EQ(attributes_text(*parsed), attributes_text(op));
  });
}

TEST(Op, TypesForStorageAreMovedAndConvertedOnly) {
  const TensorType x{DataType::float8e4m3fn, {2, 3}}, small{DataType::int4, {2, 3}};
  const std::string sum = refusal(infer_of(Binary{BinaryKind::add}, {x, x}));
  EXPECT_TRUE(sum.starts_with("unsupported: binary does not compute in float8e4m3fn")) << sum;
  const std::string product = refusal(infer_of(MatMul{}, {f32({2, 2}), small}));
  EXPECT_TRUE(product.starts_with("unsupported: matmul does not compute in int4")) << product;
  EXPECT_TRUE(infer_of(Transpose{}, {x}).ok());
  EXPECT_TRUE(infer_of(Cast{}, {small}).ok());
  EXPECT_TRUE(infer_of(Dequantize{}, {small, f32({})}).ok());
}

TEST(Op, RefusesToRunWithoutInputs) {
  for_each_op([](auto op) { EXPECT_REFUSED(infer_of(op, {}), "inputs"); });
}

TEST(Op, SurvivesAnyShapeOfInput) {
  // Whatever the answer is, it comes as a value; sizes that multiply past 2^63 are among the
  // questions.
  const int64_t huge = int64_t{1} << 39;
  const std::vector<Dims> shapes = {
      {},     {0},       {1},          {huge, huge, huge}, {-1},        {-2, -3, -1, 5},
      {1, 0}, {0, huge}, {1, 3, 4, 4}, {2, 2, 2},          {1, 1, 0, 1}};
  for_each_op([&](auto op) {
    for (size_t count = 1; count <= 5; ++count) {
      for (const Dims& first : shapes) {
        for (const Dims& rest : shapes) {
          for (DataType type : {DataType::float32, DataType::int64, DataType::boolean}) {
            std::vector<Operand> in(count, Operand{true, {type, rest}, nullptr});
            in[0].type = {DataType::float32, first};
            (void)infer_types(op, in);
          }
        }
      }
    }
  });
}

TEST(ParseOp, NamesWhatIsWrong) {
  EXPECT_NE(parse_op("convolve", {}).error().message.find("convolve"), std::string::npos);
  EXPECT_EQ(parse_op("softmax", {{"axis", "x"}}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parse_op("softmax", {{"axes", "1"}}).error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(parse_op("act", {{"kind", "reluu"}}));
  EXPECT_FALSE(parse_op("conv", {{"strides", "1,2"}}));
  EXPECT_FALSE(parse_op("gemm", {{"transpose_a", "1"}}));
}

TEST(RunReference, RoundsHalvesOnceAtTheEnd) {
  // 2048 + 1 + 1 in halves is 2048 when every step is rounded, 2050 when only the end is.
  Tensor x = convert(floats({3}, {2048, 1, 1}), DataType::float16);
  Tensor y = run(Reduce{.kind = ReduceKind::sum}, {x});
  EXPECT_EQ(y.type(), DataType::float16);
  EXPECT_EQ(values(convert(y, DataType::float32)), Floats{2050});
}

TEST(RunReference, MovesDoublesWithoutRounding) {
  double third = 1.0 / 3;
  Tensor y = run(Transpose{}, {Tensor::of<double>({1, 2}, {third, 2})});
  EXPECT_EQ(values<double>(y), (std::vector<double>{third, 2}));
}

TEST(Broadcast, FollowsNumpy) {
  EXPECT_EQ(*broadcast({2, 1, 3}, {4, 1}), (Dims{2, 4, 3}));
  EXPECT_EQ(*broadcast({}, {5}), Dims{5});
  EXPECT_EQ(*broadcast({0}, {1}), Dims{0});
  EXPECT_EQ(broadcast({2}, {3}).error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(broadcast({0}, {3}));
}

TEST(Broadcast, KeepsSymbolsAndLetsKnownSizesWin) {
  EXPECT_EQ(*broadcast({-2, 3}, {1, 3}), (Dims{-2, 3}));
  EXPECT_EQ(*broadcast({-2}, {-2}), Dims{-2});
  EXPECT_EQ(*broadcast({-2}, {-3}), Dims{kDynamic});
  EXPECT_EQ(*broadcast({-2}, {4}), Dims{4});
}

TEST(NormalizeAxis, CountsFromTheEnd) {
  EXPECT_EQ(*normalize_axis("softmax", -1, 3), 2);
  EXPECT_EQ(*normalize_axis("softmax", 0, 3), 0);
  EXPECT_FALSE(normalize_axis("softmax", 3, 3));
  EXPECT_FALSE(normalize_axis("softmax", -4, 3));
  EXPECT_FALSE(normalize_axis("softmax", 0, 0));
}

}  // namespace
}  // namespace enginery
