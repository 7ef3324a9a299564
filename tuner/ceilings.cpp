#include "tuner/ceilings.h"

#include <algorithm>

#include "tuner/measuring_context.h"

namespace enginery {
namespace {

constexpr size_t kMaxTried = 3;
constexpr int kRuns = 9;

// A ceiling's name, a problem that reaches it, and what one run of that does: operations or bytes.
struct Work {
  std::string name;
  Problem problem;
  Precision precision;
  double amount;
};

// Twice the cache goes in, twice the cache comes out.
Work streaming(const DeviceInfo& info) {
  constexpr int64_t kRow = 1024, kLeastRows = 1024;
  const int64_t floats = 2 * info.cache_bytes / static_cast<int64_t>(sizeof(float));
  Problem p;
  Activation relu;
  relu.kind = ActivationKind::relu;
  p.op = relu;
  p.anchor_inputs = 1;
  p.inputs.resize(1);
  p.inputs[0].type = {DataType::float32, {1, 1, std::max(kLeastRows, floats / kRow), kRow}};
  p.outputs = p.inputs;
  const auto bytes = static_cast<double>(bytes_of(p.inputs[0].type));
  return {"bytes_per_second", p, Precision::fp32, 2 * bytes};
}

// A convolution of one point is a product, and all sources have it: of 4,096 by 4,096 numbers, or
// of fewer that fill a smaller device.
Work product(const DeviceInfo& info, Precision precision) {
  const int units = info.compute_units;
  const int64_t side = units >= 16 ? 64 : units >= 4 ? 32 : 16, size = side * side;
  Problem p;
  Convolution conv;
  conv.strides = conv.dilations = {1, 1};
  conv.pads_begin = conv.pads_end = {0, 0};
  p.op = conv;
  p.anchor_inputs = 2;
  p.inputs.resize(2);
  p.inputs[0].type = {DataType::float32, {1, size, side, side}};
  p.inputs[1].type = {DataType::float32, {size, size, 1, 1}};
  p.inputs[1].constant = true;
  p.outputs.resize(1);
  p.outputs[0].type = p.inputs[0].type;
  return {std::string(to_string(precision)) + "_flops", p, precision, flop_count(p)};
}

// The first few by their estimates.
std::vector<Tactic> likely_fastest(std::vector<Tactic> offered, Precision precision) {
  std::erase_if(offered, [&](const Tactic& t) {
    return t.compute != precision || t.trust == Trust::reference;
  });
  std::stable_sort(offered.begin(), offered.end(), [](const Tactic& a, const Tactic& b) {
    return a.estimated_us < b.estimated_us;
  });
  offered.resize(std::min(offered.size(), kMaxTried));
  return offered;
}

class Measuring {
 public:
  Measuring(MeasuringContext& context, const Work& work)
      : context_(context), work_(work), key_("ceiling " + work.name + " " + work.problem.key()) {}

  // Of the fastest; infinite where none runs, or nothing may be measured.
  Result<double> fastest_us() {
    TRY(std::vector<Timing> known, context_.find(key_));
    const auto offered = offer_all(context_.sources(), work_.problem, {work_.precision});
    if (known.empty() && offered.ok()) {
      const std::vector<Tactic> tried = likely_fastest(*offered, work_.precision);
      if (!tried.empty() && context_.admit_miss(key_, tactic_key(tried[0])).ok())
        CHECK_OK(measure(tried));
      TRY(known, context_.find(key_));
    }
    const std::vector<double> us = comparable_us(known);
    return us.empty() ? kInfinity : *std::min_element(us.begin(), us.end());
  }

 private:
  Status measure(const std::vector<Tactic>& tactics) {
    TRY(const auto fixture,
        MeasurementFixture::make(work_.problem, context_.device(), context_.seed()));
    std::vector<Timing> results;
    for (const Tactic& tactic : tactics) {
      if (context_.options().cancelled())
        return Error{ErrorCode::cancelled, "measuring was cancelled"};
      Timing& result = results.emplace_back();
      result.tactic = tactic_key(tactic);
      const Status tried = context_.attempt(key_, tactic, FailureKind::launch, result,
                                            [&] { return time(tactic, *fixture, result); });
      if (!tried.ok()) return context_.give_up(key_, results, tried.error());
    }
    return context_.store(key_, std::move(results));
  }

  Status time(const Tactic& tactic, MeasurementFixture& fixture, Timing& result) const {
    TRY(const PreparedCandidate prepared,
        fixture.prepare(*find_source(context_.sources(), tactic.source), tactic));
    TRY(const CheckedResult checked, fixture.check(prepared));
    result.error = checked.relative_error;
    result.failure_kind = checked.kind;
    if (!checked.rejected.empty()) return Error{ErrorCode::internal, checked.rejected};
    TRY(const Candidate candidate, fixture.candidate(prepared));
    std::vector<double> samples;
    for (int i = 0; i < kRuns; ++i) {
      TRY(samples.emplace_back(), candidate.time_us());
    }
    result.statistics = summarize(std::move(samples));
    return {};
  }

  MeasuringContext& context_;
  const Work& work_;
  const std::string key_;
};

}  // namespace

Result<std::map<std::string, double>> measured_ceilings(Device& device,
                                                        const TacticSources& sources,
                                                        TimingStore& store,
                                                        const TunerOptions& options) {
  std::map<std::string, double> out;
  if (device.info().kind != DeviceKind::cuda) return out;
  TunerCounts counts;
  MeasuringContext context(device, sources, store, options, counts);
  std::vector<Work> works = {streaming(device.info())};
  for (const Precision precision : options.allowed)
    works.push_back(product(device.info(), precision));
  for (const Work& work : works) {
    TRY(const double us, Measuring(context, work).fastest_us());
    if (us > 0 && us < kInfinity) out[work.name] = 1e6 * work.amount / us;
  }
  return out;
}

}  // namespace enginery
