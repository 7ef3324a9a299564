// Tactics that compute what the reference does, with one planted fault each; the tuner must find
// it.
#pragma once

#include <functional>

#include "engine/device/format_convert.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/support/problem_text.h"
#include "tests/tuner/fake_tactics.h"
#include "tuner/problem_tuner.h"

namespace enginery::test {

// One launch that is checked, after the reference has computed.
struct PlantedLaunch {
  const Problem& problem;
  int number;       // of the tactic's launches, whatever was prepared for them; from 1
  int of_prepared;  // of this prepared tactic's launches; from 1
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  const Arguments& arguments;
  bool writes = true;  // its outputs
};

struct Planted {
  std::string id;
  double us;
  std::function<void(PlantedLaunch&)> fault = [](PlantedLaunch&) {};
  Precision compute = Precision::fp32;  // fp16: it reads and writes float16
  Algorithm algorithm = Algorithm::direct;
  double cold_us = 0;                                          // behind a sweep; 0: as ever
  std::function<Status()> launched = [] { return Status(); };  // what a launch ends with
};

class PreparedPlanted final : public PreparedTactic {
 public:
  PreparedPlanted(TestDevice& device, Problem problem, Tactic tactic, const Planted& planted,
                  int& launches, Weights weights)
      : device_(device),
        problem_(std::move(problem)),
        tactic_(std::move(tactic)),
        planted_(planted),
        launches_(launches) {
    for (const Tensor* w : weights) weights_.push_back(w ? *w : Tensor());
  }

  Status enqueue(Stream&, const Arguments& arguments) const override {
    device_.elapsed_us += device_.is_swept && planted_.cold_us > 0 ? planted_.cold_us : planted_.us;
    device_.is_swept = false;
    CHECK_OK(planted_.launched());
    if (device_.is_timing) return {};
    PlantedLaunch launch{problem_, ++launches_, ++own_launches_, {}, {}, arguments};
    std::vector<const Tensor*> inputs;
    for (size_t i = 0; i < problem_.inputs.size(); ++i) {
      const TensorDesc& desc = problem_.inputs[i];
      launch.inputs.push_back(
          desc.constant
              ? weights_[i]
              : convert(from_physical(arguments.inputs[i], desc.type.dims, tactic_.inputs[i]),
                        desc.type.type));
    }
    for (const Tensor& t : launch.inputs) inputs.push_back(&t);
    TRY(launch.outputs, run_problem_reference(problem_, inputs));
    planted_.fault(launch);
    for (size_t i = 0; launch.writes && i < launch.outputs.size(); ++i)
      to_physical(launch.outputs[i], tactic_.outputs[i], arguments.outputs[i]);
    return {};
  }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }

 private:
  TestDevice& device_;
  const Problem problem_;
  const Tactic tactic_;
  const Planted& planted_;
  int& launches_;
  mutable int own_launches_ = 0;
  std::vector<Tensor> weights_;
};

class PlantedSource final : public TacticSource {
 public:
  PlantedSource(TestDevice& device, std::vector<Planted> planted)
      : device_(device), planted_(std::move(planted)), launches_(planted_.size()) {}
  SourceTraits traits() const override {
    return {.name = "planted", .trust = Trust::may_be_wrong, .compiles_beside_timing = false};
  }
  Result<std::vector<Tactic>> offer(const Problem& p, const std::set<Precision>&) const override {
    std::vector<Tactic> out;
    for (const Planted& planted : planted_) {
      Tactic t;
      t.source = "planted";
      t.id = planted.id;
      t.compute = planted.compute;
      t.algorithm = planted.algorithm;
      auto format = [&](const TensorDesc& d) {
        const bool half = planted.compute == Precision::fp16 && is_floating(d.type.type);
        return Format{half ? DataType::float16 : d.type.type, {}};
      };
      for (const TensorDesc& d : p.inputs) t.inputs.push_back(format(d));
      for (const TensorDesc& d : p.outputs) t.outputs.push_back(format(d));
      out.push_back(std::move(t));
    }
    return out;
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& p, const Tactic& t,
                                                        Weights weights) const override {
    for (size_t i = 0; i < planted_.size(); ++i) {
      if (planted_[i].id != t.id) continue;
      return std::shared_ptr<const PreparedTactic>(
          std::make_shared<PreparedPlanted>(device_, p, t, planted_[i], launches_[i], weights));
    }
    return Error{ErrorCode::incompatible, "unknown"};
  }

 private:
  TestDevice& device_;
  const std::vector<Planted> planted_;
  mutable std::vector<int> launches_;
};

// One problem whose tactics are timed: the planted ones and "right", slower than any of them.
struct PlantedProblem {
  TestDevice device;
  TacticSources sources;
  MemoryTimingStore store;
  Problem problem;
  TunerCounts counts;

  PlantedProblem(const std::string& text, std::vector<Planted> planted) {
    planted.push_back({"right", 10});
    offer(std::move(planted));
    const auto parsed = parse_problem(text);
    EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.error().message;
    if (parsed.ok()) problem = *parsed;
  }
  // From now on these are offered, as after an upgrade that knows more.
  void offer(std::vector<Planted> planted) {
    sources.clear();
    sources.push_back(std::make_unique<PlantedSource>(device, std::move(planted)));
  }
  // The fastest tactic's id.
  std::string winner(TunerOptions options = {}) {
    MeasuringContext context(device, sources, store, options, counts);
    const auto tactics = sources[0]->offer(problem, {});
    const auto times = ProblemTuner(context).time(problem, *tactics);
    EXPECT_TRUE(times.ok()) << times.error().message;
    if (!times.ok()) return "";
    const auto best = std::min_element(times->us.begin(), times->us.end());
    return (*tactics)[static_cast<size_t>(best - times->us.begin())].id;
  }
  Timing timing(const std::string& id) {
    const auto timings = store.find(device_key(device.info()), problem.key());
    for (const Timing& t : *timings) {
      if (t.tactic.starts_with("planted:" + id + "(")) return t;
    }
    return {};
  }
};

}  // namespace enginery::test
