#include "engine/plan/streams.h"

#include <algorithm>
#include <functional>

namespace enginery {
namespace {

bool launches(const PlanStep& step) {
  return step.tactic.view_of < 0;
}

size_t storage_of(const Plan& plan, int tensor) {
  return static_cast<size_t>(plan.tensors[static_cast<size_t>(tensor)].storage);
}

std::vector<ByteRange> bytes_read(const Plan& plan, const PlanStep& step) {
  std::vector<ByteRange> out;
  for (int t : step.inputs) {
    if (t >= 0) out.push_back(bytes_of_tensor(plan, t));
  }
  return out;
}

}  // namespace

std::set<size_t> storages_read(const Plan& plan, const PlanStep& step) {
  std::set<size_t> out;
  for (int t : step.inputs) {
    if (t >= 0) out.insert(storage_of(plan, t));
  }
  return out;
}

std::set<size_t> storages_written(const Plan& plan, const PlanStep& step) {
  std::set<size_t> out;
  for (int t : step.outputs) out.insert(storage_of(plan, t));
  if (step.workspace >= 0) out.insert(static_cast<size_t>(step.workspace));
  return out;
}

bool ByteRange::meets(const ByteRange& other) const {
  if (storage != other.storage || begin >= other.end || other.begin >= end) return false;
  if (pitch == 0 || pitch != other.pitch) return true;
  const int64_t apart = ((other.begin - begin) % pitch + pitch) % pitch;  // modulo the pitch
  return apart < width || apart + other.width > pitch;
}

bool ByteRange::covers(const ByteRange& other) const {
  if (pitch > 0) return *this == other;
  return storage == other.storage && begin <= other.begin && other.end <= end;
}

ByteRange bytes_of_tensor(const Plan& plan, int tensor) {
  const PlanTensor& t = plan.tensors[static_cast<size_t>(tensor)];
  const int64_t bytes = std::max<int64_t>(physical_bytes(t.type.dims, t.format), 1);
  ByteRange out{static_cast<size_t>(t.storage), t.offset, t.offset + bytes};
  if (!has_pitch(t.format)) return out;
  out.pitch = t.format.layout.pitch * element_bytes(t.format.type);
  out.width = t.type.dims[1] * element_bytes(t.format.type);
  return out;
}

std::vector<ByteRange> bytes_written(const Plan& plan, const PlanStep& step) {
  std::vector<ByteRange> out;
  for (int t : step.outputs) out.push_back(bytes_of_tensor(plan, t));
  if (step.workspace < 0) return out;
  const auto workspace = static_cast<size_t>(step.workspace);
  out.push_back({workspace, 0, std::max<int64_t>(plan.storages[workspace].bytes, 1)});
  return out;
}

int stream_count(const Plan& plan) {
  int most = 0;
  for (const PlanStep& step : plan.steps) most = std::max(most, step.stream);
  return most + 1;
}

StepOrder::StepOrder(const Plan& plan) : StepOrder(plan.storages.size()) {
  for (const PlanStep& step : plan.steps) add(plan, step, dependencies(plan, step));
}

std::vector<int> StepOrder::dependencies(const Plan& plan, const PlanStep& step) const {
  if (!launches(step)) return {};
  std::set<int, std::greater<>> out;
  const auto insert = [&](const std::vector<Access>& accesses, const ByteRange& bytes) {
    for (const Access& access : accesses) {
      if (access.bytes.meets(bytes)) out.insert(access.step);
    }
  };
  for (const ByteRange& bytes : bytes_read(plan, step))
    insert(touched_[bytes.storage].writers, bytes);
  for (const ByteRange& bytes : bytes_written(plan, step)) {
    insert(touched_[bytes.storage].writers, bytes);
    insert(touched_[bytes.storage].readers, bytes);
  }
  return {out.begin(), out.end()};
}

// Notes that `step` has ended, and with it all that it waited for.
void StepOrder::end(Ended& ended, int step) const {
  const Ended& known = ended_[static_cast<size_t>(step)];
  for (size_t s = 0; s < ended.size(); ++s) ended[s] = std::max(ended[s], known[s]);
  int& own = ended[static_cast<size_t>(streams_[static_cast<size_t>(step)])];
  own = std::max(own, step);
}

void StepOrder::add(const Plan& plan, const PlanStep& step, const std::vector<int>& dependencies) {
  const int index = static_cast<int>(streams_.size());
  Ended ended;
  ended.fill(-1);
  streams_.push_back(launches(step) ? step.stream : -1);
  waits_.emplace_back();
  awaited_.push_back(false);
  if (launches(step)) {
    int& last = last_[static_cast<size_t>(step.stream)];
    if (last >= 0) end(ended, last);
    for (int d : dependencies) {
      if (ended[static_cast<size_t>(streams_[static_cast<size_t>(d)])] >= d) continue;
      end(ended, d);
      waits_.back().push_back(d);
      awaited_[static_cast<size_t>(d)] = true;
    }
    for (const ByteRange& bytes : bytes_read(plan, step))
      touched_[bytes.storage].readers.push_back({bytes, index});
    for (const ByteRange& bytes : bytes_written(plan, step)) {
      Touched& touched = touched_[bytes.storage];
      const auto gone = [&](const Access& access) { return bytes.covers(access.bytes); };
      std::erase_if(touched.writers, gone);
      std::erase_if(touched.readers, gone);
      touched.writers.push_back({bytes, index});
    }
    last = index;
  }
  ended_.push_back(ended);
}

bool StepOrder::before(int a, int b) const {
  int stream = streams_[static_cast<size_t>(a)];
  if (a >= b || stream < 0 || streams_[static_cast<size_t>(b)] < 0) return false;
  return ended_[static_cast<size_t>(b)][static_cast<size_t>(stream)] >= a;
}

// Whether all that the stream was given has ended before a step with these dependencies can begin.
bool StepOrder::is_idle(int stream, const std::vector<int>& dependencies) const {
  int last = last_[static_cast<size_t>(stream)];
  return last < 0 || std::any_of(dependencies.begin(), dependencies.end(),
                                 [&](int d) { return d == last || before(last, d); });
}

void assign_streams(Plan& plan, int max_streams) {
  for (PlanStep& step : plan.steps) step.stream = 0;
  max_streams = std::min(max_streams, kMaxStreams);
  if (max_streams < 2 || plan.steps.size() > kMaxStepsSideBySide) return;
  StepOrder order(plan.storages.size());
  for (PlanStep& step : plan.steps) {
    const std::vector<int> dependencies = order.dependencies(plan, step);
    if (launches(step)) {
      auto continues = [&](int stream) {
        return std::find(dependencies.begin(), dependencies.end(),
                         order.last_[static_cast<size_t>(stream)]) != dependencies.end();
      };
      auto first = [&](const std::function<bool(int)>& suits) {
        int stream = 0;
        while (stream < max_streams && !suits(stream)) ++stream;
        return stream;
      };
      step.stream = first(continues);
      if (step.stream == max_streams)
        step.stream = first([&](int stream) { return order.is_idle(stream, dependencies); });
      if (step.stream == max_streams)
        step.stream =
            dependencies.empty() ? 0 : order.streams_[static_cast<size_t>(dependencies.front())];
    }
    order.add(plan, step, dependencies);
  }
}

}  // namespace enginery
