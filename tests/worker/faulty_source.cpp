#include "tests/worker/faulty_source.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/worker/small_models.h"

namespace enginery::test {
namespace {

constexpr int kLate = 100, kMany = 20;
// More than a loaded machine adds to a convolution that a sanitizer watches.
constexpr std::chrono::milliseconds kSlower{5};

std::string fault() {
  const char* wish = std::getenv("ENGINERY_TEST_FAULT");
  return wish ? wish : "";
}

bool is_of_numbers() {
  return fault() == "wrong" || fault() == "hopeless";
}

// Faults for which a tactic must stay in a race, or win it: it is as fast as the reference.
bool needs_slow_rivals() {
  return is_of_numbers() || fault() == "late";
}

// Dies of the signal itself, also where a sanitizer has put its own handler in its place.
void die() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

// A convolution of small_models.h; the tuner's own probe is none.
bool is_of_small_model(const Problem& problem) {
  const Dims& dims = output_dims(problem);
  return std::holds_alternative<Convolution>(problem.op) && dims.size() == 4 && dims[2] == 12;
}

class FaultyTactic final : public PreparedTactic {
 public:
  FaultyTactic(std::string id, int64_t elements, bool is_first_layer,
               std::shared_ptr<const PreparedTactic> right)
      : id_(std::move(id)),
        elements_(elements),
        is_first_layer_(is_first_layer),
        right_(std::move(right)) {}

  Status enqueue(Stream& stream, const Arguments& arguments) const override {
    if (is_of_numbers()) return compute(stream, arguments);
    if (fault() == "late") return launch_late(stream, arguments);
    while (fault() == "hang") pause();
    if (fault() == "lost") return Error{ErrorCode::device_lost, "the device is lost"};
    if (fault() == "error") return Error{ErrorCode::internal, "this one does not run"};
    die();
    return {};
  }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }

 private:
  Status compute(Stream& stream, const Arguments& arguments) const {
    CHECK_OK(right_->enqueue(stream, arguments));
    if (id_ == "good") std::this_thread::sleep_for(kSlower);
    if (id_ == "good" || !is_first_layer_) return {};
    auto* values = static_cast<float*>(arguments.outputs[0]);
    for (int64_t i = 0; i < elements_; i += 3) values[i] += 5;
    return {};
  }

  Status launch_late(Stream& stream, const Arguments& arguments) const {
    static std::atomic<int> launches = 0;
    if (++launches == kLate) die();
    return right_->enqueue(stream, arguments);
  }

  const std::string id_;
  const int64_t elements_;
  const bool is_first_layer_;
  const std::shared_ptr<const PreparedTactic> right_;
};

class FaultySource final : public TacticSource {
 public:
  explicit FaultySource(std::unique_ptr<TacticSource> reference)
      : reference_(std::move(reference)) {}
  SourceTraits traits() const override { return {.name = "faulty", .trust = Trust::may_fault}; }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>&) const override {
    if (!is_of_small_model(problem) || fault().empty())
      return Error{ErrorCode::unsupported, "convolutions of small models only"};
    std::vector<Tactic> out;
    if (fault() == "prepare") out.push_back(tactic(problem, "harmless"));
    if (fault() == "hopeless") {
      for (int i = 0; i < kMany; ++i) out.push_back(tactic(problem, "bad" + std::to_string(i)));
    } else {
      out.push_back(tactic(problem, "bad"));
    }
    if (fault() == "wrong") out.push_back(tactic(problem, "good"));
    return out;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    if (fault() == "prepare") {
      std::this_thread::sleep_for(std::chrono::milliseconds(tactic.id == "bad" ? 100 : 300));
      if (tactic.id == "bad") die();
      return Error{ErrorCode::unsupported, "cannot be prepared"};
    }
    TRY(const Tactic same, reference_tactic(problem, "host"));
    TRY(auto right, reference_->prepare(problem, same, weights));
    const bool first_layer = weights[1]->data<float>()[0] == first_weight(1);
    return std::shared_ptr<const PreparedTactic>(std::make_shared<FaultyTactic>(
        tactic.id, volume(output_dims(problem)), first_layer, std::move(right)));
  }

 private:
  static Tactic tactic(const Problem& problem, const std::string& id) {
    Tactic t;
    t.source = "faulty";
    t.id = id;
    for (const TensorDesc& d : problem.inputs) t.inputs.push_back({d.type.type, {}});
    for (const TensorDesc& d : problem.outputs) t.outputs.push_back({d.type.type, {}});
    return t;
  }

  const std::unique_ptr<TacticSource> reference_;
};

// A source that leaves the convolutions of small models to others.
class Elsewhere final : public TacticSource {
 public:
  explicit Elsewhere(std::unique_ptr<TacticSource> source) : source_(std::move(source)) {}
  SourceTraits traits() const override { return source_->traits(); }
  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    if (is_of_small_model(problem)) return Error{ErrorCode::unsupported, "not in this test"};
    return source_->offer(problem, allowed);
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    return source_->prepare(problem, tactic, weights);
  }

 private:
  const std::unique_ptr<TacticSource> source_;
};

}  // namespace

Result<Target> open_with_faults(const std::string& sku, const BuildOptions& options) {
  TRY(Target target, open_target(sku, options));
  for (auto& source : target.sources) {
    if (needs_slow_rivals() && source->name() != "reference")
      source = std::make_unique<Elsewhere>(std::move(source));
  }
  TRY(auto reference, make_reference_source(target.device->info()));
  target.sources.insert(target.sources.begin(),
                        std::make_unique<FaultySource>(std::move(reference)));
  return target;
}

}  // namespace enginery::test
