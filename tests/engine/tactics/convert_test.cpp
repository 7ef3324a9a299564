// The conversion kernel gives the bytes that tensor.h's convert gives, for every pair of types that
// it takes, in every layout, on every instruction set of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/device/cpu/cpu_device.h"
#include "engine/device/format_convert.h"
#include "engine/device/sku_table.h"
#include "engine/kernels/cpu/dispatch.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_source.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Ends of types, ties of roundings, what has no value in another type.
constexpr float kEdges[] = {0,          -0.0f,        1,          -1,        0.5f,       -0.5f,
                            0.1f,       127.5f,       128,        -128.9f,   255.9f,     256,
                            32767.5f,   -32769,       65504,      65519.9f,  65520,      -65520,
                            65535.9f,   2147483520,   2147483648, -3e9f,     4294967296, 9.2e18f,
                            9.3e18f,    -9.3e18f,     1.9e19f,    1e30f,     3.4e38f,    0x1.002p0f,
                            0x1.006p0f, 0x1.01p0f,    0x1.03p0f,  0x1p-14f,  0x1.8p-24f, 0x1p-25f,
                            0x1.8p-25f, 0x1.ffcp-15f, 6e-8f,      kInfinity, -kInfinity, NAN};

Tensor edges(DataType type, const Dims& dims) {
  Tensor values(DataType::float32, dims);
  auto data = values.mutable_data<float>();
  for (size_t i = 0; i < data.size(); ++i) {
    const bool edge = i % 3 == 0 || data.size() < 100;
    data[i] = edge ? kEdges[i / 3 % std::size(kEdges)] : static_cast<float>(i) / 7 - 60;
  }
  return convert(values, type);
}

bool same_value(const Tensor& a, const Tensor& b, int64_t i) {
  if (is_floating(a.type())) {
    const double x = convert(a, DataType::float64).data<double>()[static_cast<size_t>(i)],
                 y = convert(b, DataType::float64).data<double>()[static_cast<size_t>(i)];
    return std::isnan(x) && std::isnan(y);
  }
  return false;
}

void expect_same(const Tensor& actual, const Tensor& expected, const Tensor& from) {
  ASSERT_EQ(actual.bytes(), expected.bytes());
  const auto size = static_cast<size_t>(element_bytes(actual.type()));
  const auto *a = static_cast<const char*>(actual.raw()),
             *b = static_cast<const char*>(expected.raw());
  for (int64_t i = 0; i < actual.size(); ++i) {
    const auto at = static_cast<size_t>(i) * size;
    if (std::memcmp(a + at, b + at, size) == 0 || same_value(actual, expected, i)) continue;
    ADD_FAILURE() << "element " << i << " of "
                  << convert(from, DataType::float64).data<double>()[static_cast<size_t>(i)]
                  << " is "
                  << convert(actual, DataType::float64).data<double>()[static_cast<size_t>(i)]
                  << ", expected "
                  << convert(expected, DataType::float64).data<double>()[static_cast<size_t>(i)];
    return;
  }
}

struct Cpu {
  std::unique_ptr<Device> device;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<TacticSource> source;
  explicit Cpu(const std::string& sku)
      : device(open_device(sku, {}).value()),
        stream(device->create_stream().value()),
        source(make_cpu_kernel_source(device->info()).value()) {}
};

std::vector<std::string> local_cpus() {
  std::vector<std::string> out;
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind == DeviceKind::cpu) out.push_back(sku.name);
  }
  return out;
}

// Every tactic that runs something; how many there were.
size_t expect_conversions(Cpu& cpu, const Problem& problem, const Tensor& input) {
  ProblemData data;
  data.tensors = {input};
  data.inputs = {&data.tensors[0]};
  data.weights = {nullptr};
  const auto tactics = cpu.source->offer(problem, {Precision::fp32});
  if (!tactics.ok()) return 0;
  size_t count = 0;
  for (const Tactic& tactic : *tactics) {
    if (tactic.view_of >= 0) continue;
    SCOPED_TRACE(tactic_key(tactic));
    TacticRun run(*cpu.device, *cpu.stream);
    EXPECT_TRUE(run.prepare(*cpu.source, problem, tactic, data, OperandPlace::separate).ok());
    EXPECT_TRUE(run.launch().ok());
    const auto outputs = run.collect();
    if (!outputs.ok()) {
      ADD_FAILURE() << outputs.error().message;
      return count;
    }
    const Tensor stored = convert(input, tactic.inputs[0].type);
    expect_same((*outputs)[0], convert(stored, tactic.outputs[0].type), input);
    ++count;
  }
  return count;
}

Problem cast_problem(DataType from, DataType to, const Dims& dims) {
  Problem p;
  p.op = Cast{to};
  p.anchor_inputs = 1;
  p.inputs.push_back({.type = {from, dims}});
  p.outputs.push_back({.type = {to, dims}});
  return p;
}

constexpr DataType kTypes[] = {
    DataType::float64, DataType::float32, DataType::float16, DataType::bfloat16, DataType::int8,
    DataType::uint8,   DataType::int16,   DataType::uint16,  DataType::int32,    DataType::uint32,
    DataType::int64,   DataType::uint64,  DataType::boolean};

bool rounds_twice(DataType from, DataType to) {
  return to == DataType::bfloat16 && is_integer(from) && element_bytes(from) >= 4;
}

TEST(ConvertKernel, CastsEveryPairOfTypesAsTheReferenceDoes) {
  for (const std::string& sku : local_cpus()) {
    SCOPED_TRACE(sku);
    Cpu cpu(sku);
    for (const DataType from : kTypes) {
      for (const DataType to : kTypes) {
        if (from == to) continue;
        SCOPED_TRACE(std::string(to_string(from)) + " to " + std::string(to_string(to)));
        const size_t run =
            expect_conversions(cpu, cast_problem(from, to, {17, 59}), edges(from, {17, 59}));
        EXPECT_EQ(run > 0, !rounds_twice(from, to));
      }
    }
  }
}

// What another type between would round twice, or make infinite.
TEST(ConvertKernel, RoundsFloat64Once) {
  constexpr double kFine[] = {1 + 0x1p-11 + 0x1p-40,
                              1 + 0x3p-11 - 0x1p-40,
                              -1 - 0x1p-8 - 0x1p-40,
                              1 + 0x1p-24 + 0x1p-50,
                              16777217,
                              2147483647.75,
                              9007199254740993.0,
                              1e300,
                              -1e300,
                              0x1p-25 + 0x1p-60,
                              -0x1p-120,
                              255.999999999};
  Tensor x(DataType::float64, {static_cast<int64_t>(std::size(kFine))});
  std::ranges::copy(kFine, x.mutable_data<double>().begin());
  for (const std::string& sku : local_cpus()) {
    SCOPED_TRACE(sku);
    Cpu cpu(sku);
    for (const DataType to : kTypes) {
      if (to == DataType::float64) continue;
      SCOPED_TRACE(to_string(to));
      EXPECT_EQ(expect_conversions(cpu, cast_problem(DataType::float64, to, x.dims()), x), 1u);
    }
  }
}

// Casts keep the layout; of a narrow float they also read what is kept in float32.
TEST(ConvertKernel, CastsInEveryLayout) {
  const Dims dims{2, 24, 5, 7};
  for (const std::string& sku : local_cpus()) {
    SCOPED_TRACE(sku);
    Cpu cpu(sku);
    for (const auto& [from, to] : {std::pair{DataType::float32, DataType::float16},
                                   std::pair{DataType::uint8, DataType::float32},
                                   std::pair{DataType::float16, DataType::int8}})
      EXPECT_GE(expect_conversions(cpu, cast_problem(from, to, dims), edges(from, dims)), 2u);
  }
}

TEST(ConvertKernel, ReadsANarrowValueThatIsKeptInFloat32) {
  Cpu cpu(local_cpus().front());
  const auto tactics =
      cpu.source->offer(cast_problem(DataType::float16, DataType::float32, {3}), {Precision::fp32});
  ASSERT_TRUE(tactics.ok());
  EXPECT_TRUE(std::ranges::any_of(*tactics, [](const Tactic& t) {
    return t.view_of == 0 && t.inputs[0].type == DataType::float32;
  })) << "nothing is left to do";
  const auto rounding =
      cpu.source->offer(cast_problem(DataType::float32, DataType::float16, {3}), {Precision::fp32});
  ASSERT_TRUE(rounding.ok());
  for (const Tactic& t : *rounding)
    EXPECT_EQ(t.outputs[0].type, DataType::float16) << "a cast to a type rounds to it";
}

TEST(ConvertKernel, ChangesTypeAndLayoutAtOnce) {
  const Layout linear{}, last{LayoutKind::channels_last, 0};
  for (const std::string& sku : local_cpus()) {
    SCOPED_TRACE(sku);
    Cpu cpu(sku);
    const Layout blocked{LayoutKind::blocked,
                         cpu_kernels_for(cpu_isa_of(cpu.device->info())).width == 16 ? 16 : 8};
    for (const Dims& dims : {Dims{2, 16, 5, 7}, Dims{1, 32, 9, 33}, Dims{2, 48, 1, 70}}) {
      for (const auto& [from, to] :
           {std::pair{linear, last}, std::pair{last, linear}, std::pair{linear, blocked},
            std::pair{blocked, last}, std::pair{linear, linear}}) {
        for (const DataType narrow : {DataType::float16, DataType::bfloat16}) {
          const Tensor x = edges(narrow, dims);
          const TensorType type{narrow, dims};
          EXPECT_EQ(expect_conversions(
                        cpu, reformat_problem(type, {narrow, from}, {DataType::float32, to}), x),
                    1u);
          EXPECT_EQ(expect_conversions(
                        cpu, reformat_problem(type, {DataType::float32, from}, {narrow, to}), x),
                    1u);
        }
      }
    }
    const Dims picture{1, 3, 9, 31};  // few channels
    EXPECT_EQ(
        expect_conversions(cpu,
                           reformat_problem({DataType::float16, picture},
                                            {DataType::float16, linear}, {DataType::float32, last}),
                           edges(DataType::float16, picture)),
        1u);
  }
}

}  // namespace
}  // namespace enginery
