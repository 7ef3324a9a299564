// Planted faults: each fast tactic is wrong in one way; it is rejected for what it is, and the
// right one wins.
#include <cmath>

#include "tests/tuner/planted_tactics.h"

namespace enginery {
namespace {

using test::Planted;
using test::PlantedLaunch;
using test::PlantedProblem;

void add_to_last(Tensor& t, double difference) {
  const DataType type = t.type();
  Tensor wide = convert(t, DataType::float64);
  wide.mutable_data<double>().back() += difference;
  t = convert(wide, type);
}

// Of a product [M, K] x [K, N].
void drop_one_term(PlantedLaunch& launch) {
  const int64_t k = launch.inputs[0].dims()[1], n = launch.inputs[1].dims()[1];
  const auto a = launch.inputs[0].data<float>(), b = launch.inputs[1].data<float>();
  auto y = launch.outputs[0].mutable_data<float>();
  const int64_t dropped = k / 2;
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i)
    y[static_cast<size_t>(i)] -=
        a[static_cast<size_t>(i / n * k + dropped)] * b[static_cast<size_t>(dropped * n + i % n)];
}

void sum_in_half(PlantedLaunch& launch) {
  const int64_t k = launch.inputs[0].dims()[1], n = launch.inputs[1].dims()[1];
  const auto a = launch.inputs[0].data<float>(), b = launch.inputs[1].data<float>();
  auto y = launch.outputs[0].mutable_data<float>();
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
    float sum = 0;
    for (int64_t j = 0; j < k; ++j)
      sum = half_to_float(float_to_half(sum + a[static_cast<size_t>(i / n * k + j)] *
                                                  b[static_cast<size_t>(j * n + i % n)]));
    y[static_cast<size_t>(i)] = sum;
  }
}

void write_input(PlantedLaunch& launch) {
  auto* x = static_cast<float*>(const_cast<void*>(launch.arguments.inputs[0]));
  x[volume(launch.problem.inputs[0].type.dims) - 1] += 1;
}

void write_nothing(PlantedLaunch& launch) {
  launch.writes = false;
}

struct Fault {
  const char* name;
  const char* problem;
  std::function<void(PlantedLaunch&)> fault;
  const char* reason;  // part of what the tuner says
  Precision compute = Precision::fp32;
};

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, IsRejectedAndTheNextBestWins) {
  const Fault& p = GetParam();
  PlantedProblem tuning(p.problem, {{"faulty", 1, p.fault, p.compute}, {"slow", 20}});
  EXPECT_EQ(tuning.winner(), "right");
  EXPECT_EQ(tuning.timing("faulty").failure_kind, FailureKind::wrong_result);
  EXPECT_NE(tuning.timing("faulty").failure.find(p.reason), std::string::npos)
      << tuning.timing("faulty").failure;
  EXPECT_EQ(tuning.timing("slow").failure, "");
}

const Fault kFaults[] = {
    {"WrongOnceInThreeRuns", "act kind=tanh | float32[1x4x8x8]",
     [](PlantedLaunch& l) {
       if (l.of_prepared % 3 == 0) add_to_last(l.outputs[0], 1);
     },
     "output 0: element 255 is"},
    {"DiffersInTheLastBitFromRunToRun", "act kind=tanh | float32[1x4x8x8]",
     [](PlantedLaunch& l) {
       if (l.of_prepared % 2 == 0) add_to_last(l.outputs[0], 0x1p-22);
     },
     "two launches differ"},
    {"WrongInItsSecondOutput", "split axis=1 sizes=[2,3,4] | float32[2x9x4]",
     [](PlantedLaunch& l) { add_to_last(l.outputs[1], 1e-6); }, "output 1: element 23 is"},
    {"DropsATermOf9216", "matmul | float32[4x9216] float32[9216x8]", drop_one_term, "expected"},
    {"DropsATermOf9216InHalf", "matmul | float32[4x9216] float32[9216x8]", drop_one_term,
     "expected", Precision::fp16},
    {"WritesItsInput", "act kind=tanh | float32[1x4x8x8]", write_input, "it changed its input 0"},
    {"WritesNothingOnAcosh", "unary kind=acosh | float32[64]", write_nothing, "expected"},
    {"WritesNothingOnIsNan", "unary kind=is_nan | float32[64]", write_nothing, "expected"},
    {"OffByOneInInt64", "gather axis=0 | int64[500] int64[64]",
     [](PlantedLaunch& l) { add_to_last(l.outputs[0], 1); }, "element 63 is"},
    {"SumsInHalf", "matmul | float32[4x1024] float32[1024x8]", sum_in_half, "expected",
     Precision::fp16},
    {"WrongWhereResultsAreSmall", "binary kind=div | float32[64] float32[64]",
     [](PlantedLaunch& l) {
       for (float& y : l.outputs[0].mutable_data<float>()) y += std::abs(y) < 0.5f ? 1e-4f : 0;
     },
     "expected"},
};

INSTANTIATE_TEST_SUITE_P(Gate, PlantedFault, testing::ValuesIn(kFaults),
                         [](const auto& test) { return std::string(test.param.name); });

// A racy kernel that is wrong in one fixture and right in all others stays out.
TEST(Gate, NeverClearsAFailure) {
  constexpr int kInSecondFixture = 4;  // after the first one's and two more probes
  PlantedProblem tuning("act kind=relu | float32[1x4x8x8]", {{"faulty", 9.9, [](PlantedLaunch& l) {
                                                                if (l.number == kInSecondFixture)
                                                                  add_to_last(l.outputs[0], 1);
                                                              }}});
  tuning.device.places = 4;
  tuning.device.device_info.cache_bytes = 1 << 20;
  EXPECT_EQ(tuning.winner(), "right");
  EXPECT_EQ(tuning.timing("faulty").failure_kind, FailureKind::wrong_result);
}

TEST(Gate, LetsHalfPrecisionWithFloatSumsPass) {
  PlantedProblem tuning("matmul | float32[4x9216] float32[9216x8]",
                        {{"half", 1, [](PlantedLaunch&) {}, Precision::fp16}});
  EXPECT_EQ(tuning.winner(), "half") << tuning.timing("half").failure;
}

// Of a sum through transforms every element has the error of the largest, but whole numbers come
// out within less than half.
TEST(Gate, HoldsTransformsToTheLargestElementAndToWholeNumbers) {
  const char* const conv =
      "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x64x8x8] "
      "w:float32[16x64x3x3]";
  const auto off_by = [](double difference) {
    return [difference](PlantedLaunch& l) { add_to_last(l.outputs[0], difference); };
  };
  const auto winner = [&](double difference, Algorithm algorithm) {
    PlantedProblem tuning(conv, {{"other", 1, off_by(difference), Precision::fp32, algorithm}});
    return tuning.winner();
  };
  EXPECT_EQ(winner(3e-4, Algorithm::winograd), "other");
  EXPECT_EQ(winner(3e-4, Algorithm::direct), "right");
  EXPECT_EQ(winner(1, Algorithm::winograd), "right");
}

TEST(Gate, DrawsFreshNumbersForEachTuningAndKeepsTheirSeed) {
  const auto seed_of = [](std::optional<uint64_t> seed) {
    PlantedProblem tuning("act kind=tanh | float32[64]", {});
    TunerOptions options;
    options.seed = seed;
    EXPECT_EQ(tuning.winner(options), "right");
    return tuning.timing("right").seed;
  };
  EXPECT_EQ(seed_of(77), 77u);
  EXPECT_NE(seed_of({}), seed_of({}));
}

TEST(Gate, SaysHowLongItTook) {
  struct TickingClock final : Clock {
    mutable int ticks = 0;
    Nanoseconds monotonic() const override { return std::chrono::seconds(++ticks); }
    Nanoseconds wall_time() const override { return Nanoseconds{0}; }
  } clock;
  PlantedProblem tuning("act kind=tanh | float32[64]", {});
  TunerOptions options;
  options.clock = &clock;
  tuning.winner(options);
  EXPECT_EQ(tuning.counts.checking_s, 3) << "the first check, the probes, the winners";
}

}  // namespace
}  // namespace enginery
