#include "engine/ops/elementwise.h"

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

float apply(BinaryKind kind, float a, float b) {
  return values(run(Binary{kind}, {floats({}, {a}), floats({}, {b})}))[0];
}

template <typename T>
T apply_integer(BinaryKind kind, T a, T b) {
  return values<T>(run(Binary{kind}, {Tensor::scalar<T>(a), Tensor::scalar<T>(b)}))[0];
}

bool holds(BinaryKind kind, float a, float b) {
  return bits(run(Binary{kind}, {floats({}, {a}), floats({}, {b})}))[0];
}

TEST(Binary, FloatArithmetic) {
  EXPECT_EQ(apply(BinaryKind::add, 2, 3), 5);
  EXPECT_EQ(apply(BinaryKind::sub, 2, 3), -1);
  EXPECT_EQ(apply(BinaryKind::mul, 2, 3), 6);
  EXPECT_EQ(apply(BinaryKind::div, 3, 2), 1.5f);
  EXPECT_EQ(apply(BinaryKind::pow, 2, 10), 1024);
  EXPECT_EQ(apply(BinaryKind::min, 2, 3), 2);
  EXPECT_EQ(apply(BinaryKind::max, 2, 3), 3);
  EXPECT_EQ(apply(BinaryKind::fmod, -5, 3), -2);
  EXPECT_EQ(apply(BinaryKind::mod, -5, 3), 1);
  EXPECT_EQ(apply(BinaryKind::mod, 5, -3), -1);
  EXPECT_TRUE(std::isinf(apply(BinaryKind::div, 1, 0)));
}

TEST(Binary, MinAndMaxPassNanOn) {
  for (BinaryKind kind : {BinaryKind::min, BinaryKind::max}) {
    EXPECT_TRUE(std::isnan(apply(kind, NAN, 1)));
    EXPECT_TRUE(std::isnan(apply(kind, 1, NAN)));
  }
}

TEST(Binary, IntegersTruncateAndWrap) {
  EXPECT_EQ(apply_integer<int32_t>(BinaryKind::div, -7, 2), -3);
  EXPECT_EQ(apply_integer<int32_t>(BinaryKind::mod, -7, 3), 2);
  EXPECT_EQ(apply_integer<int32_t>(BinaryKind::mod, 7, -3), -2);
  EXPECT_EQ(apply_integer<int32_t>(BinaryKind::fmod, -7, 3), -1);
  EXPECT_EQ(apply_integer<int64_t>(BinaryKind::div, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(apply_integer<int64_t>(BinaryKind::mod, INT64_MIN, -1), 0);
  EXPECT_EQ(apply_integer<int64_t>(BinaryKind::add, INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(apply_integer<uint16_t>(BinaryKind::mul, 65535, 65535), 1);
  EXPECT_EQ(apply_integer<uint8_t>(BinaryKind::sub, 1, 2), 255);
  EXPECT_EQ(apply_integer<int64_t>(BinaryKind::max, INT64_MAX, INT64_MAX - 1), INT64_MAX);
}

TEST(Binary, BitsAndShifts) {
  EXPECT_EQ(apply_integer<uint8_t>(BinaryKind::bitwise_and, 12, 10), 8);
  EXPECT_EQ(apply_integer<uint8_t>(BinaryKind::bitwise_or, 12, 10), 14);
  EXPECT_EQ(apply_integer<uint8_t>(BinaryKind::bitwise_xor, 12, 10), 6);
  EXPECT_EQ(apply_integer<uint8_t>(BinaryKind::shift_left, 129, 1), 2);
  EXPECT_EQ(apply_integer<uint8_t>(BinaryKind::shift_right, 129, 1), 64);
  EXPECT_EQ(apply_integer<uint32_t>(BinaryKind::shift_left, 1, 32), 0u);
  EXPECT_EQ(apply_integer<uint64_t>(BinaryKind::shift_right, 1, 200), 0u);
}

TEST(Binary, AnIntegerDividedByZeroIsAnError) {
  for (BinaryKind kind : {BinaryKind::div, BinaryKind::mod, BinaryKind::fmod}) {
    EXPECT_REFUSED(try_run(Binary{kind}, {ints({1}), ints({0})}), "divided by zero");
  }
}

TEST(Binary, PowTakesAnExponentOfAnotherType) {
  Tensor cubes = run(Binary{BinaryKind::pow}, {ints({2, -3}), floats({}, {3})});
  EXPECT_EQ(values<int64_t>(cubes), (std::vector<int64_t>{8, -27}));
  EXPECT_EQ(values(run(Binary{BinaryKind::pow}, {floats({2}, {2, 3}), ints({2, -1})})),
            (Floats{4, 1.0f / 3}));
  EXPECT_EQ(apply_integer<int64_t>(BinaryKind::pow, 3, 39), 4052555153018976267);
  EXPECT_EQ(apply_integer<int64_t>(BinaryKind::pow, -1, -3), -1);
  EXPECT_EQ(apply_integer<int64_t>(BinaryKind::pow, 0, -1), 0);
}

TEST(Binary, ComparisonsAreBoolean) {
  EXPECT_TRUE(holds(BinaryKind::equal, 1, 1) && !holds(BinaryKind::equal, 1, 2));
  EXPECT_TRUE(holds(BinaryKind::greater, 2, 1) && !holds(BinaryKind::greater, 1, 1));
  EXPECT_TRUE(holds(BinaryKind::greater_equal, 1, 1) && !holds(BinaryKind::greater_equal, 0, 1));
  EXPECT_TRUE(holds(BinaryKind::less, 0, 1) && !holds(BinaryKind::less, 1, 1));
  EXPECT_TRUE(holds(BinaryKind::less_equal, 1, 1) && !holds(BinaryKind::less_equal, 2, 1));
  EXPECT_EQ(run(Binary{BinaryKind::equal}, {ints({1}), ints({1})}).type(), DataType::boolean);
}

TEST(Binary, LogicOfBooleans) {
  Tensor a = booleans({4}, {0, 0, 1, 1}), b = booleans({4}, {0, 1, 0, 1});
  EXPECT_EQ(bits(run(Binary{BinaryKind::logical_and}, {a, b})), (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(bits(run(Binary{BinaryKind::logical_or}, {a, b})), (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(bits(run(Binary{BinaryKind::logical_xor}, {a, b})), (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(bits(run(Binary{BinaryKind::equal}, {a, b})), (std::vector<int>{1, 0, 0, 1}));
}

TEST(Binary, Broadcasts) {
  EXPECT_EQ(
      values(run(Binary{BinaryKind::add}, {floats({2, 1}, {10, 20}), floats({3}, {1, 2, 3})})),
      (Floats{11, 12, 13, 21, 22, 23}));
  EXPECT_EQ(dims_of(Binary{}, {{-2, 1, 4}, {3, 1}}), (Dims{-2, 3, 4}));
  EXPECT_EQ(run(Binary{}, {Tensor(DataType::float32, {0, 3}), floats({1}, {1})}).dims(),
            (Dims{0, 3}));
}

TEST(Binary, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(Binary{}, {f32({2}), f32({3})}), "do not broadcast");
  EXPECT_REFUSED(infer_of(Binary{}, {f32({2}), i64({2})}), "one type");
  EXPECT_REFUSED(infer_of(Binary{BinaryKind::logical_and}, {f32({2}), f32({2})}),
                 "logical_and of float32");
  EXPECT_REFUSED(infer_of(Binary{BinaryKind::shift_left}, {f32({2}), f32({2})}),
                 "shift_left of float32");
}

TEST(Where, ChoosesElementByElement) {
  Tensor c = booleans({2, 1}, {1, 0});
  EXPECT_EQ(values(run(Where{}, {c, floats({2}, {1, 2}), floats({}, {9})})), (Floats{1, 2, 9, 9}));
  EXPECT_EQ(values<int64_t>(run(Where{}, {booleans({2}, {0, 1}), ints({1, 2}), ints({3, 4})})),
            (std::vector<int64_t>{3, 2}));
  EXPECT_REFUSED(infer_of(Where{}, {f32({2}), f32({2}), f32({2})}), "boolean condition");
  EXPECT_REFUSED(infer_of(Where{}, {TensorType{DataType::boolean, {2}}, f32({2}), i64({2})}),
                 "one type");
}

TEST(Cast, ConvertsToEveryType) {
  Tensor x = floats({3}, {0, 1.75f, 3});
  for (int i = 0; i < kDataTypeCount; ++i) {
    auto type = static_cast<DataType>(i);
    Tensor y = run(Cast{type}, {x});
    EXPECT_EQ(y.type(), type);
    const bool four_bits = type == DataType::int4 || type == DataType::uint4;
    bool whole = is_integer(type) || type == DataType::boolean;
    float middle = four_bits ? 2 : whole ? 1 : 1.75f;
    EXPECT_EQ(values(run(Cast{}, {y})),
              (Floats{0, middle, type == DataType::boolean ? 1.0f : 3.0f}))
        << to_string(type);
  }
}

TEST(Cast, SaturatesUnlessToldOtherwise) {
  const Tensor x = floats({2}, {1000, -kInfinity});
  EXPECT_EQ(values(run(Cast{}, {run(Cast{DataType::float8e4m3fn}, {x})})), (Floats{448, -448}));
  const Tensor plain = run(Cast{}, {run(Cast{DataType::float8e5m2, false}, {x})});
  EXPECT_EQ(values(plain), (Floats{1024, -kInfinity}));
  // Texts of casts were the same before there was such an attribute.
  EXPECT_EQ(attributes_text(Cast{DataType::int8}), "to=int8");
  EXPECT_EQ(attributes_text(Cast{DataType::float8e5m2, false}), "to=float8e5m2 saturate=false");
}

TEST(Cast, KeepsDoublesThatFloatCannotHold) {
  Tensor x = Tensor::of<double>({1}, {9007199254740991.0});
  EXPECT_EQ(values<int64_t>(run(Cast{DataType::int64}, {x})),
            std::vector<int64_t>{9007199254740991});
}

TEST(Binary, EveryComparisonWithNanIsFalse) {
  for (const BinaryKind kind : {BinaryKind::equal, BinaryKind::greater, BinaryKind::greater_equal,
                                BinaryKind::less, BinaryKind::less_equal}) {
    EXPECT_FALSE(holds(kind, NAN, 1)) << attributes_text(Binary{kind});
    EXPECT_FALSE(holds(kind, 1, NAN)) << attributes_text(Binary{kind});
    EXPECT_FALSE(holds(kind, NAN, NAN)) << attributes_text(Binary{kind});
  }
}

TEST(Binary, ComparesIntegersThatNoFloatTellsApart) {
  const Tensor a = ints({INT64_MAX}), b = ints({INT64_MAX - 1});
  EXPECT_EQ(bits(run(Binary{BinaryKind::equal}, {a, b})), std::vector<int>{0});
  EXPECT_EQ(bits(run(Binary{BinaryKind::greater}, {a, b})), std::vector<int>{1});
}

TEST(Binary, RemaindersTakeTheSignOfTheirOperand) {
  struct Case {
    float a, b, mod, fmod;
  };
  for (const Case& c : {Case{5.5f, 2, 1.5f, 1.5f},
                        {-5.5f, 2, 0.5f, -1.5f},
                        {5.5f, -2, -0.5f, 1.5f},
                        {-5.5f, -2, -1.5f, -1.5f},
                        {4, 2, 0, 0},
                        {-4, 2, 0, 0}}) {
    EXPECT_EQ(apply(BinaryKind::mod, c.a, c.b), c.mod) << c.a << " mod " << c.b;
    EXPECT_EQ(apply(BinaryKind::fmod, c.a, c.b), c.fmod) << c.a << " fmod " << c.b;
  }
  EXPECT_TRUE(std::isnan(apply(BinaryKind::mod, 1, 0)));
}

TEST(Binary, ASignedShiftToTheRightKeepsTheSign) {
  EXPECT_EQ(apply_integer<int8_t>(BinaryKind::shift_right, -128, 1), -64);
  EXPECT_EQ(apply_integer<int8_t>(BinaryKind::shift_right, -1, 100), -1);
  EXPECT_EQ(apply_integer<int32_t>(BinaryKind::shift_right, 5, 64), 0);
}

TEST(Binary, PowFollowsIeeeAtItsCorners) {
  EXPECT_EQ(apply(BinaryKind::pow, 0, 0), 1);
  EXPECT_EQ(apply(BinaryKind::pow, 1, NAN), 1);
  EXPECT_EQ(apply(BinaryKind::pow, 0, -1), kInfinity);
  EXPECT_TRUE(std::isnan(apply(BinaryKind::pow, -8, 1.0f / 3)));
  EXPECT_EQ(apply_integer<int64_t>(BinaryKind::pow, 0, 0), 1);
  EXPECT_EQ(apply_integer<int64_t>(BinaryKind::pow, -1, INT64_MAX), -1);
}

TEST(Binary, AnIntegerRaisedToAFractionTruncatesAndSaturates) {
  const auto power = [](int32_t base, float exponent) {
    return values<int32_t>(
        run(Binary{BinaryKind::pow}, {Tensor::scalar(base), floats({}, {exponent})}))[0];
  };
  EXPECT_EQ(power(10, 0.5f), 3);
  EXPECT_EQ(power(10, 20), INT32_MAX);
  EXPECT_EQ(power(2, -1), 0);
}

TEST(Binary, HalvesAreRoundedOnce) {
  // 2048 + 1 lies halfway between two halves: to even; 2048 + 3 rounds up.
  const auto half = [](float v) { return convert(floats({}, {v}), DataType::float16); };
  const auto sum = [&](float a, float b) {
    return values(convert(run(Binary{}, {half(a), half(b)}), DataType::float32))[0];
  };
  EXPECT_EQ(sum(2048, 1), 2048);
  EXPECT_EQ(sum(2048, 3), 2052);
  EXPECT_EQ(sum(65504, 65504), kInfinity);
}

TEST(Where, BroadcastsAllThreeAndKeepsEveryBit) {
  const Tensor y = run(Where{}, {booleans({2, 1, 1}, {0, 1}), ints({INT64_MAX, 2}),
                                 Tensor::of<int64_t>({2, 1}, {-3, -4})});
  EXPECT_EQ(y.dims(), (Dims{2, 2, 2}));
  EXPECT_EQ(values<int64_t>(y), (std::vector<int64_t>{-3, -3, -4, -4, INT64_MAX, 2, INT64_MAX, 2}));
  EXPECT_EQ(
      run(Where{}, {booleans({1}, {1}), Tensor(DataType::float32, {0}), floats({}, {1})}).dims(),
      Dims{0});
}

TEST(Cast, SaturatesFloatsAndWrapsIntegers) {
  EXPECT_EQ(values<int8_t>(run(Cast{DataType::int8}, {floats({3}, {-129, 127.9f, NAN})})),
            (std::vector<int8_t>{-128, 127, 0}));
  EXPECT_EQ(values<int8_t>(run(Cast{DataType::int8}, {ints({128, -129})})),
            (std::vector<int8_t>{-128, 127}));
}

}  // namespace
}  // namespace enginery
