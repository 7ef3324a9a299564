// A runner with one more tactic source, whose tactics for convolutions take the process down as
// ENGINERY_TEST_FAULT says:
//   segv     a launch raises SIGSEGV
//   lost     a launch returns device_lost
//   hang     a launch never returns
//   prepare  of two prepared side by side the second raises SIGSEGV; the first is harmless, but
//   cannot be prepared either
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "worker/steps/runner.h"

namespace enginery {
namespace {

std::string fault() {
  const char* wish = std::getenv("ENGINERY_TEST_FAULT");
  return wish ? wish : "";
}

class FaultyTactic final : public PreparedTactic {
 public:
  Status enqueue(Stream&, const Arguments&) const override {
    while (fault() == "hang") pause();
    if (fault() == "lost") return Error{ErrorCode::device_lost, "the device is lost"};
    std::raise(SIGSEGV);
    return {};
  }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }
};

class FaultySource final : public TacticSource {
 public:
  SourceTraits traits() const override { return {.name = "faulty", .trust = Trust::may_fault}; }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>&) const override {
    if (!std::holds_alternative<Convolution>(problem.op) || fault().empty())
      return Error{ErrorCode::unsupported, "convolutions only"};
    std::vector<Tactic> out;
    if (fault() == "prepare") out.push_back(tactic(problem, "harmless"));
    out.push_back(tactic(problem, "bad"));
    return out;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic& tactic,
                                                        Weights) const override {
    if (fault() != "prepare") return std::shared_ptr<const PreparedTactic>(new FaultyTactic);
    std::this_thread::sleep_for(std::chrono::milliseconds(tactic.id == "bad" ? 100 : 300));
    if (tactic.id == "bad") std::raise(SIGSEGV);
    return Error{ErrorCode::unsupported, "cannot be prepared"};
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
};

Result<Target> open_with_faults(const std::string& sku, const BuildOptions& options) {
  TRY(Target target, open_target(sku, options));
  target.sources.insert(target.sources.begin(), std::make_unique<FaultySource>());
  return target;
}

}  // namespace
}  // namespace enginery

int main() {
  return enginery::run_runner({enginery::open_with_faults});
}
