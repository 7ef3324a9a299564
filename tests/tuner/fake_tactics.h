// Tactics made for the test: some fast, some slow, one wrong, one that writes past its end. Host
// memory serves as the device, so that what runs is exactly known.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "engine/device/measurer.h"
#include "engine/graph/text.h"
#include "engine/plan/plan.h"
#include "tuner/tuner.h"

namespace enginery::test {

class TestStream final : public Stream {
 public:
  TestStream(const bool& lost, const double& wait_us, double& elapsed_us)
      : lost_(lost), wait_us_(wait_us), elapsed_us_(elapsed_us) {}
  Result<std::unique_ptr<Event>> mark() override { return std::make_unique<Event>(); }
  Status wait(const Event&) override {
    elapsed_us_ += wait_us_;
    return {};
  }
  Status synchronize() override {
    return lost_ ? Status(Error{ErrorCode::device_lost, "illegal address"}) : Status();
  }

 private:
  const bool& lost_;
  const double& wait_us_;
  double& elapsed_us_;
};

class TestCommandList final : public CommandList {
 public:
  explicit TestCommandList(Enqueue enqueue) : enqueue_(std::move(enqueue)) {}
  Status launch(Stream& stream) override { return enqueue_(stream); }

 private:
  Enqueue enqueue_;
};

// Time is what the tactics say that they took.
class TestDevice final : public Device, public Measurer {
 public:
  DeviceInfo device_info;
  double elapsed_us = 0;
  int timed = 0;
  bool lost = false;  // until the test says that a new process began
  // What it costs when a tactic is its stream's first or runs after another source's.
  double alternation_us = 0;
  std::map<const Stream*, std::string> last_source;
  int places = 1;  // of small buffers, taken in turn
  int streams_made = 0;
  std::atomic<int> compiled_ahead = 0;
  std::atomic<int> prepared_for_networks = 0;
  int launches = 0;
  std::map<const float*, float> timed_inputs;  // of activations: what was read at each address
  bool is_timing = false;                      // not what the gate launches
  bool races_networks = false;                 // not single tactics
  double reread_us = 0;  // what it costs an activation to read what another just wrote
  const void* last_written = nullptr;
  double wait_us = 0;   // what it costs, or gains, when a stream waits for another
  double scatter = 0;   // times are longer by up to this share
  double slowness = 1;  // of the state that the device is in: all takes so many times as long
  int64_t sweep = 0;    // Measurer::sweep_bytes
  double sweep_us = 30;
  bool is_swept = false;  // nothing ran since the caches were swept

  TestDevice() { device_info.sku = "test"; }
  const DeviceInfo& info() const override { return device_info; }
  Result<DeviceMemory> allocate(size_t bytes) override {
    return DeviceMemory(std::calloc(bytes, 1), bytes, [](void* p) { std::free(p); });
  }
  Result<std::unique_ptr<Stream>> create_stream() override {
    ++streams_made;
    return std::unique_ptr<Stream>(std::make_unique<TestStream>(lost, wait_us, elapsed_us));
  }
  Status copy(Stream&, void* to, const void* from, size_t bytes, CopyKind) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Status fill(Stream&, void* to, uint8_t byte, size_t bytes) override {
    std::memset(to, byte, bytes);
    if (sweep > 0 && bytes >= static_cast<size_t>(sweep)) {
      is_swept = true;
      elapsed_us += sweep_us;
    }
    return {};
  }
  Result<std::unique_ptr<CommandList>> record(Stream&, const Enqueue& enqueue) override {
    return std::unique_ptr<CommandList>(std::make_unique<TestCommandList>(enqueue));
  }
  Measurer* measurer() override { return this; }
  int placements() const override { return places; }
  Result<double> time_us(Stream& stream, CommandList& list) override {
    ++timed;
    elapsed_us = 0;
    is_swept = false;
    last_source.clear();
    is_timing = true;
    const Status launched = list.launch(stream);
    is_timing = false;
    CHECK_OK(launched);
    return elapsed_us * slowness * (1 + timed * 3 % 5 * scatter / 5);
  }
  int64_t sweep_bytes() const override { return sweep; }
  double min_resolvable_us() const override { return 100; }
  DeviceState state() override { return {}; }
};

struct Behaviour {
  std::string id;
  double us;
  enum Sort {
    right,
    wrong,                // its last element is off by one
    wild,                 // it writes one element past its output
    unpreparable,         // it does not compile
    unpreparable_losing,  // preparing it loses the device
    full,                 // preparing it finds no memory
    losing,               // its first launch loses the device
    muddled,              // its first launch loses the device and reports another error
    late,                 // it loses the device in the race
    in_network,           // it loses the device in a whole network
    full_in_network,      // it finds no memory in a whole network
    lucky                 // its first four copies are 6 % faster
  } sort = right;
  double tanh_us = 0;  // where it is not 0: the time of a tanh
  int64_t workspace = 0;
  int64_t weight_bytes = 0;
};

inline constexpr int kLateLaunches = 60;

class TestPrepared final : public PreparedTactic {
 public:
  TestPrepared(TestDevice& device, Problem problem, Behaviour behaviour, std::string source)
      : device_(device),
        problem_(std::move(problem)),
        behaviour_(std::move(behaviour)),
        source_(std::move(source)) {}
  Status enqueue(Stream& stream, const Arguments& a) const override {
    std::string& last_source = device_.last_source[&stream];
    const auto* activation = std::get_if<Activation>(&problem_.op);
    bool tanh = activation && activation->kind == ActivationKind::tanh && behaviour_.tanh_us > 0;
    device_.elapsed_us += (tanh ? behaviour_.tanh_us : behaviour_.us) +
                          (last_source == source_ ? 0 : device_.alternation_us);
    last_source = source_;
    if (activation && a.inputs[0] == device_.last_written) device_.elapsed_us += device_.reread_us;
    device_.last_written = activation ? a.outputs[0] : nullptr;
    ++launches_;
    ++device_.launches;
    if (behaviour_.sort == Behaviour::losing ||
        (behaviour_.sort == Behaviour::late && launches_ > kLateLaunches)) {
      device_.lost = true;
      return Error{ErrorCode::device_lost, "illegal address"};
    }
    if (behaviour_.sort == Behaviour::muddled) {
      device_.lost = true;
      return Error{ErrorCode::internal, "execution failed"};
    }
    int64_t n = volume(problem_.outputs[0].type.dims);
    const float* in = static_cast<const float*>(a.inputs[0]);
    float* out = static_cast<float*>(a.outputs[0]);
    if (activation && device_.is_timing) device_.timed_inputs[in] = in[n - 1];
    compute(activation, in, out, static_cast<size_t>(n));
    if (behaviour_.sort == Behaviour::wrong) out[n - 1] += 1;
    if (behaviour_.sort == Behaviour::wild) out[n] = 1;
    return {};
  }
  int64_t weight_bytes() const override { return behaviour_.weight_bytes; }
  int64_t workspace_bytes() const override { return 0; }

 private:
  // Races launch thousands of times on the same numbers: what was computed for them is copied.
  void compute(const Activation* activation, const float* in, float* out, size_t n) const {
    if (in_.size() != n || std::memcmp(in_.data(), in, n * sizeof(float)) != 0) {
      in_.assign(in, in + n);
      out_ = in_;
      if (activation)
        for (float& value : out_) value = activate(*activation, value);
    }
    std::memcpy(out, out_.data(), n * sizeof(float));
  }

  TestDevice& device_;
  Problem problem_;
  Behaviour behaviour_;
  std::string source_;
  mutable int launches_ = 0;
  mutable std::vector<float> in_, out_;  // of the launch before
};

class TestSource final : public TacticSource {
 public:
  TestSource(TestDevice& device, std::vector<Behaviour> behaviours, std::string name = "test")
      : device_(device), behaviours_(std::move(behaviours)), name_(std::move(name)) {}
  SourceTraits traits() const override { return {name_, Trust::may_fault, false}; }
  Result<std::vector<Tactic>> offer(const Problem& p, const std::set<Precision>&) const override {
    std::vector<Tactic> out;
    for (const Behaviour& b : behaviours_) {
      Tactic t;
      t.source = name_;
      t.id = b.id;
      t.workspace_bytes = b.workspace;
      t.inputs.resize(p.inputs.size());
      t.outputs.resize(p.outputs.size());
      out.push_back(t);
    }
    return out;
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& p, const Tactic& t,
                                                        Weights) const override {
    device_.prepared_for_networks += device_.races_networks;
    for (const Behaviour& b : behaviours_) {
      if (b.id != t.id) continue;
      if (b.sort == Behaviour::unpreparable_losing) {
        device_.lost = true;
        return Error{ErrorCode::device_lost, "illegal address"};
      }
      if (b.sort == Behaviour::full) return Error{ErrorCode::out_of_memory, "the memory is full"};
      if (b.sort == Behaviour::unpreparable) return Error{ErrorCode::internal, "does not compile"};
      Behaviour behaviour = b;
      if (b.sort == Behaviour::in_network || b.sort == Behaviour::full_in_network) {
        if (device_.races_networks && b.sort == Behaviour::full_in_network)
          return Error{ErrorCode::out_of_memory, "the memory is full"};
        behaviour.sort = device_.races_networks ? Behaviour::losing : Behaviour::right;
      }
      if (b.sort == Behaviour::lucky) {
        std::lock_guard lock(mutex_);
        if (++lucky_[p.key()] > 4) behaviour.us *= 1.06;
      }
      return std::shared_ptr<const PreparedTactic>(
          std::make_shared<TestPrepared>(device_, p, behaviour, name_));
    }
    return Error{ErrorCode::incompatible, "unknown"};
  }
  void compile_ahead(const Problem&, const Tactic&) const override { ++device_.compiled_ahead; }

 private:
  TestDevice& device_;
  std::vector<Behaviour> behaviours_;
  std::string name_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, int> lucky_;
};

struct Tuning {
  TestDevice device;
  TacticSources sources;
  MemoryTimingStore store;
  Network network;
  explicit Tuning(std::vector<Behaviour> behaviours, std::vector<Behaviour> of_a_rival = {}) {
    sources.push_back(std::make_unique<TestSource>(device, std::move(behaviours)));
    if (!of_a_rival.empty())
      sources.push_back(std::make_unique<TestSource>(device, std::move(of_a_rival), "rival"));
    auto graph = parse_graph(
        "graph t { input %x : float32[1x4x8x8]\n %a = act(%x) kind=relu\n %b = act(%a) kind=tanh\n "
        "%c = act(%b) kind=relu\n output %c }");
    network = *lower(*graph, sources, {Precision::fp32});
  }
  Result<TacticSelection> select(TunerCounts* counts = nullptr, TunerOptions options = {}) {
    options.progress = [this](const TunerProgress& p) {
      device.races_networks = p.phase == "network";
    };
    Tuner tuner(device, sources, store, options);
    auto out = tuner.select(network);
    if (counts) *counts = tuner.counts();
    return out;
  }
  // Selects again and again, each time as a new process would; how often the device was lost.
  int select_until_it_holds(TunerOptions options = {}) {
    for (int lost = 0; lost < 10; ++lost) {
      device.lost = false;
      auto chosen = select(nullptr, options);
      if (chosen) {
        for (const Tactic& t : chosen->tactics) EXPECT_EQ(t.id, "fast");
        return lost;
      }
      EXPECT_EQ(chosen.error().code, ErrorCode::device_lost) << chosen.error().message;
    }
    return 10;
  }
  // Failures of the first layer's problem by tactic id.
  std::map<std::string, std::string> failures() {
    std::map<std::string, std::string> out;
    const auto timings = store.find(device_key(device.info()), network.nodes[0].problem.key());
    for (const Timing& t : *timings) {
      if (!t.failure.empty()) out[t.tactic.substr(5, t.tactic.find('(') - 5)] = t.failure;
    }
    return out;
  }
};

}  // namespace enginery::test
