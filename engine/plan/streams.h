// Streams: which steps of a plan run in parallel, and what each of them waits for.
//
// Two steps depend on each other when one writes bytes of a storage that the other touches. The
// steps of one stream run in the plan's order; before a step its stream may wait for steps of the
// others. Views launch nothing and take no part. The memory planner and the runtime both go by
// StepOrder, so storages share bytes only where the waits allow it. A StepOrder is immutable: any
// thread may ask.
#pragma once

#include <array>
#include <set>
#include <vector>

#include "engine/plan/plan.h"

namespace enginery {

inline constexpr int kMaxStreams = 8;
// Longer plans stay on one stream, because with several the memory planner compares all pairs of
// storages.
inline constexpr size_t kMaxStepsSideBySide = 10'000;

// Gives every step one of `max_streams` streams: a chain stays on its stream, a branch goes to one
// that is idle then.
void assign_streams(Plan& plan, int max_streams);

// The storages that a step reads; those that it writes, its workspace among them.
std::set<size_t> storages_read(const Plan& plan, const PlanStep& step);
std::set<size_t> storages_written(const Plan& plan, const PlanStep& step);

// Bytes of one storage. A tensor without elements counts as one byte.
struct ByteRange {
  size_t storage = 0;
  int64_t begin = 0, end = 0;
  // Of a tensor with a pitch: from the start of each pixel to the next, and how many of these bytes
  // are its own; 0: all.
  int64_t pitch = 0, width = 0;
  auto operator<=>(const ByteRange&) const = default;
  // Whether they have a byte in common. Ranges of two pitches count as whole ones.
  bool meets(const ByteRange& other) const;
  // Whether all of the other's bytes are its own, too.
  bool covers(const ByteRange& other) const;
};
ByteRange bytes_of_tensor(const Plan& plan, int tensor);
// The bytes that a step writes, its whole workspace among them.
std::vector<ByteRange> bytes_written(const Plan& plan, const PlanStep& step);

// How many streams the steps name; 1 where nothing runs in parallel.
int stream_count(const Plan& plan);

// What is certain of the order in which steps run, whatever the speed of each stream.
class StepOrder {
 public:
  // Steps must name streams below kMaxStreams.
  explicit StepOrder(const Plan& plan);

  // Whether step `a` has ended when step `b` begins.
  bool before(int a, int b) const;
  // Earlier steps of other streams that the step's stream waits for first.
  const std::vector<int>& waits(size_t step) const { return waits_[step]; }
  // Whether another stream waits for the step's end.
  bool is_awaited(size_t step) const { return awaited_[step]; }

 private:
  friend void assign_streams(Plan& plan, int max_streams);
  explicit StepOrder(size_t storages) : touched_(storages) { last_.fill(-1); }

  // For every stream, the last step that has certainly ended; -1: none.
  using Ended = std::array<int, kMaxStreams>;
  struct Access {
    ByteRange bytes;
    int step;
  };
  struct Touched {
    std::vector<Access> writers, readers;  // but those whose bytes were all written again since
  };

  std::vector<int> dependencies(const Plan& plan,
                                const PlanStep& step) const;  // earlier steps, the latest first
  void add(const Plan& plan, const PlanStep& step, const std::vector<int>& dependencies);
  void end(Ended& ended, int step) const;
  bool is_idle(int stream, const std::vector<int>& dependencies) const;

  std::vector<Touched> touched_;  // by storage
  std::vector<int> streams_;      // by step; -1 for views
  std::vector<Ended> ended_;      // when the step begins
  std::vector<std::vector<int>> waits_;
  std::vector<bool> awaited_;
  std::array<int, kMaxStreams> last_{};  // step given to each stream; -1: none
};

}  // namespace enginery
