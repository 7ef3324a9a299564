#include "tests/sim/sim_tuning.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

uint64_t problems_of(const RunStep& run) {
  return 1 + static_cast<uint8_t>(run.key.bytes[1]) % 12;
}

Digest digest_of(uint64_t problem) {
  return sha256(std::to_string(problem));
}

}  // namespace

void SimTuning::later(Nanoseconds delay, std::function<void()> action) {
  worker_.later(delay, [self = weak_from_this(), action = std::move(action)] {
    if (self.lock()) action();
  });
}

std::vector<uint64_t> SimTuning::lacking() const {
  std::vector<uint64_t> out;
  const uint64_t count = problems_of(run_), first = run_.assistant * count / 3;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t problem = (first + i) % count;
    if (!world_.measured(run_.key).count(problem)) out.push_back(problem);
  }
  return out;
}

void SimTuning::go_on() {
  const std::vector<uint64_t> left = lacking();
  for (const uint64_t problem : left)
    if (!refused_.count(problem)) return ask(problem, left.size());
  refused_.clear();
  if (left.empty() || run_.assistant > 0)
    return later(world_.between(milliseconds(20), seconds(1)), worker_.finish);
  later(milliseconds(200), [this] { go_on(); });
}

void SimTuning::ask(uint64_t problem, size_t left) {
  problem_ = problem;
  waiting_for_ = world_.request_id();
  answered_ = false;
  transmit(waiting_for_, left);
  // A farm that does not answer holds up no measurement.
  later(seconds(5), [this, request = waiting_for_] {
    if (!answered_ && request == waiting_for_) hear(request, {true, 1});
  });
}

void SimTuning::transmit(RequestId request, size_t left) {
  if (answered_ || request != waiting_for_) return;
  TakeProblem wish{worker_.name, worker_.incarnation, run_.ref, digest_of(problem_),
                   static_cast<uint32_t>(left)};
  world_.send_to_coordinator(worker_.peer, request, std::move(wish), worker_.name);
  later(seconds(2), [this, request, left] { transmit(request, left); });
}

void SimTuning::hear(RequestId request, const ProblemTaken& answer) {
  if (answered_ || request != waiting_for_) return;
  answered_ = true;
  if (answer.sharers > 1) ++world_.report().shared_problems;
  if (answer.taken)
    return later(world_.between(milliseconds(10), milliseconds(400)), [this] { measure(); });
  refused_.insert(problem_);
  later(milliseconds(1), [this] { go_on(); });
}

void SimTuning::measure() {
  if (!world_.measured(run_.key).insert(problem_).second) ++world_.report().measured_twice;
  go_on();
}

}  // namespace enginery
