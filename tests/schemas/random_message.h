// Random messages for property tests: every field filled, every optional sometimes empty.
#pragma once

#include <random>

#include "schemas/messages.h"

namespace enginery {

// Makes values from one seed; the same seed makes the same values.
class RandomMessages {
 public:
  explicit RandomMessages(uint64_t seed) : random_(seed) {}

  // A body of the arm `index` of Body.
  Body body(size_t index);
  Envelope envelope(size_t index);

  uint64_t number() { return random_(); }
  uint64_t below(uint64_t n) { return random_() % n; }

 private:
  std::string text();
  Digest digest();
  std::vector<NamedText> texts();
  Fault fault();
  StepRef ref();
  Progress progress();
  Outcome outcome();
  std::vector<NamedBlob> blobs();
  std::vector<Digest> digests();
  std::vector<std::string> strings();
  JobView job();
  StepView step();
  TargetView target();
  SubmitRequest submit();
  SyncRequest sync();
  RunStep run();
  WorkerState state();
  Desired desired();
  bool coin() { return below(2) == 1; }

  std::mt19937_64 random_;
};

}  // namespace enginery
