#include "tuner/gate/problem_buffers.h"

#include <algorithm>
#include <cstring>

#include "engine/device/format_convert.h"

namespace enginery {
namespace {

constexpr int64_t kRedZoneBytes = 256;
constexpr uint8_t kRedZoneByte = 0xa5;
constexpr uint8_t kWorkspacePoison = 0xff;  // NaN
// How much further into its allocation each placement puts a buffer. Not a multiple of a page,
// since allocations begin at pages.
constexpr int64_t kPlacementStep = 37 * 256;
// Of a large input this many chunks are looked at, evenly spread: copying all of it after every
// launch would take longer than all else.
constexpr int64_t kMaxChunks = 32, kChunkBytes = 1 << 20;
constexpr int64_t kMaxPlacedWorkspace = 1 << 20;  // larger ones have one placement

// A checksum that any change of a few bytes changes: words times odd constants, eight sums.
uint64_t checksum(const std::vector<uint8_t>& bytes) {
  constexpr size_t kLanes = 8, kBlock = kLanes * sizeof(uint64_t);
  uint64_t lanes[kLanes] = {};
  uint64_t words[kLanes];
  for (size_t at = 0; at < bytes.size(); at += kBlock) {
    std::memset(words, 0, kBlock);
    std::memcpy(words, bytes.data() + at, std::min(kBlock, bytes.size() - at));
    for (size_t i = 0; i < kLanes; ++i) {
      lanes[i] = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15;
      lanes[i] ^= lanes[i] >> 29;
    }
  }
  uint64_t out = bytes.size();
  for (const uint64_t lane : lanes) out = (out ^ lane) * 0xbf58476d1ce4e5b9 + (out >> 31);
  return out;
}

}  // namespace

int64_t max_bytes(const TensorType& type) {
  const Format widest{element_bytes(type.type) > 4 ? type.type : DataType::float32,
                      {LayoutKind::blocked, 16}};
  return std::max<int64_t>({physical_bytes(type.dims, widest), bytes_of(type), 1});
}

int64_t activation_bytes(const Problem& problem) {
  int64_t bytes = 0;
  for (const TensorDesc& d : problem.inputs)
    bytes += d.present && !d.constant ? max_bytes(d.type) : 0;
  for (const TensorDesc& d : problem.outputs) bytes += max_bytes(d.type);
  return bytes;
}

int64_t workspace_of(const Tactic& tactic, const PreparedTactic& prepared) {
  return std::max<int64_t>({tactic.workspace_bytes, prepared.workspace_bytes(), 1});
}

void* ProblemBuffers::Guarded::data() const {
  return static_cast<char*>(begin()) + kRedZoneBytes;
}

ProblemBuffers::ProblemBuffers(const Problem& problem, const ProbeData& data, Device& device,
                               int placements)
    : problem_(problem), data_(data), device_(device), placements_(placements) {}

Result<std::unique_ptr<ProblemBuffers>> ProblemBuffers::make(const Problem& problem,
                                                             const ProbeData& data, Device& device,
                                                             int placements) {
  auto out = std::make_unique<ProblemBuffers>(problem, data, device, placements);
  TRY(out->stream_, device.create_stream());
  return out;
}

Result<std::vector<uint8_t>> ProblemBuffers::download(const void* from, int64_t bytes) {
  std::vector<uint8_t> host(static_cast<size_t>(bytes));
  CHECK_OK(device_.copy(*stream_, host.data(), from, host.size(), CopyKind::to_host));
  CHECK_OK(stream_->synchronize());
  return host;
}

bool ProblemBuffers::is_fed(size_t index) const {
  return problem_.inputs[index].present && !problem_.inputs[index].constant;
}

ProblemBuffers::InputKey ProblemBuffers::key_of(const Tactic& tactic, size_t index,
                                                int placement) const {
  return {index, tactic.inputs[index], resolution_of(problem_, tactic), placement};
}

Result<uint64_t> ProblemBuffers::stored_checksum(const Placed& placed) {
  const int64_t chunks = std::min(kMaxChunks, (placed.bytes + kChunkBytes - 1) / kChunkBytes);
  const int64_t last = std::max<int64_t>(placed.bytes - kChunkBytes, 0);
  uint64_t sum = 0;
  for (int64_t i = 0; i < chunks; ++i) {
    const int64_t at = chunks > 1 ? last * i / (chunks - 1) : 0;
    const int64_t end = std::min(placed.bytes, at + kChunkBytes);
    TRY(const auto bytes, download(static_cast<const char*>(placed.data()) + at, end - at));
    sum = sum * 31 + checksum(bytes);
  }
  return sum;
}

Status ProblemBuffers::fill_input(const InputKey& key, Placed& placed) {
  const auto& [index, format, resolution, placement] = key;
  // What lies between the pixels of one with a pitch is somebody else's.
  std::vector<uint8_t> host(static_cast<size_t>(placed.bytes),
                            has_pitch(format) ? kWorkspacePoison : 0);
  to_physical(data_.inputs(resolution)[index], format, host.data());
  CHECK_OK(device_.copy(*stream_, placed.data(), host.data(), host.size(), CopyKind::to_device));
  CHECK_OK(stream_->synchronize());
  TRY(placed.checksum, stored_checksum(placed));
  return {};
}

Result<const ProblemBuffers::Placed*> ProblemBuffers::input(size_t index, const Format& format,
                                                            Resolution resolution, int placement) {
  const InputKey key{index, format, resolution, placement};
  if (const auto found = inputs_.find(key); found != inputs_.end()) return &found->second;
  Placed placed;
  placed.offset = placement * kPlacementStep;
  placed.bytes = std::max<int64_t>(physical_bytes(problem_.inputs[index].type.dims, format), 1);
  TRY(placed.memory, device_.allocate(static_cast<size_t>(placed.bytes + placed.offset)));
  if (placement == 0) {
    CHECK_OK(fill_input(key, placed));
  } else {  // converting is slow: once is enough
    TRY(const Placed* first, input(index, format, resolution, 0));
    placed.checksum = first->checksum;
    CHECK_OK(device_.copy(*stream_, placed.data(), first->data(), static_cast<size_t>(placed.bytes),
                          CopyKind::on_device));
  }
  return &inputs_.emplace(key, std::move(placed)).first->second;
}

Result<DeviceMemory> ProblemBuffers::allocate_guarded(int64_t bytes, int placement) {
  return device_.allocate(
      static_cast<size_t>(bytes + 2 * kRedZoneBytes + placement * kPlacementStep));
}

Result<ProblemBuffers::Guarded> ProblemBuffers::output_memory(const Tactic& tactic, size_t index,
                                                              int placement) {
  const TensorType& type = problem_.outputs[index].type;
  const int64_t bytes = std::max<int64_t>(physical_bytes(type.dims, tactic.outputs[index]), 1);
  const int64_t room = std::max(max_bytes(type), bytes);  // a pitch may want more than the rest
  DeviceMemory& memory = outputs_[{index, placement, room}];
  if (!memory.data()) {
    TRY(memory, allocate_guarded(room, placement));
  }
  return Guarded{memory, bytes, placement * kPlacementStep};
}

Result<ProblemBuffers::Guarded> ProblemBuffers::workspace(int64_t bytes, int placement) {
  if (bytes > kMaxPlacedWorkspace) placement = 0;
  DeviceMemory& largest = workspaces_[placement];
  const auto wanted = static_cast<size_t>(bytes + 2 * kRedZoneBytes + placement * kPlacementStep);
  if (wanted > largest.bytes()) {
    outgrown_.push_back(largest);
    TRY(largest, allocate_guarded(bytes, placement));
  }
  return Guarded{largest, bytes, placement * kPlacementStep};
}

Result<LaunchPlace> ProblemBuffers::place(const Tactic& tactic, const PreparedTactic& prepared,
                                          int placement) {
  LaunchPlace out;
  for (size_t i = 0; i < problem_.inputs.size(); ++i) {
    out.inputs.push_back(nullptr);
    if (!is_fed(i)) continue;
    TRY(const Placed* placed,
        input(i, tactic.inputs[i], resolution_of(problem_, tactic), placement));
    out.inputs.back() = placed->data();
  }
  for (size_t i = 0; i < problem_.outputs.size(); ++i) {
    TRY(const Guarded output, output_memory(tactic, i, placement));
    out.outputs.push_back(output.data());
  }
  TRY(const Guarded space, workspace(workspace_of(tactic, prepared), placement));
  out.workspace = space.data();
  if (tactic.in_place_operand >= 0)
    out.inputs[static_cast<size_t>(tactic.in_place_operand)] = out.outputs[0];
  return out;
}

Status ProblemBuffers::guard(const Guarded& g, uint8_t poison) {
  CHECK_OK(device_.fill(*stream_, g.begin(), kRedZoneByte, kRedZoneBytes));
  CHECK_OK(device_.fill(*stream_, g.data(), poison, static_cast<size_t>(g.bytes)));
  return device_.fill(*stream_, g.end(), kRedZoneByte, kRedZoneBytes);
}

Status ProblemBuffers::launch(const Tactic& tactic, const PreparedTactic& prepared, int placement,
                              const std::vector<uint8_t>& poison) {
  TRY(const LaunchPlace at, place(tactic, prepared, placement));
  for (size_t i = 0; i < problem_.outputs.size(); ++i) {
    TRY(const Guarded output, output_memory(tactic, i, placement));
    CHECK_OK(guard(output, poison[i]));
  }
  TRY(const Guarded space, workspace(workspace_of(tactic, prepared), placement));
  CHECK_OK(guard(space, kWorkspacePoison));
  if (const int operand = tactic.in_place_operand; operand >= 0) {
    const auto index = static_cast<size_t>(operand);
    TRY(const Placed* fresh,
        input(index, tactic.inputs[index], resolution_of(problem_, tactic), placement));
    CHECK_OK(device_.copy(*stream_, at.outputs[0], fresh->data(), static_cast<size_t>(fresh->bytes),
                          CopyKind::on_device));
  }
  CHECK_OK(prepared.enqueue(*stream_, {at.inputs, at.outputs, at.workspace}));
  return stream_->synchronize();
}

Result<bool> ProblemBuffers::intact(const Guarded& g) {
  for (const void* zone :
       {static_cast<const void*>(g.begin()), static_cast<const void*>(g.end())}) {
    TRY(const auto bytes, download(zone, kRedZoneBytes));
    if (!std::all_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b == kRedZoneByte; }))
      return false;
  }
  return true;
}

Result<std::string> ProblemBuffers::written_around(const Tactic& tactic,
                                                   const PreparedTactic& prepared, int placement) {
  for (size_t i = 0; i < problem_.outputs.size(); ++i) {
    TRY(const Guarded g, output_memory(tactic, i, placement));
    TRY(const bool ok, intact(g));
    if (!ok) return "output " + std::to_string(i);
  }
  TRY(const Guarded space, workspace(workspace_of(tactic, prepared), placement));
  TRY(const bool ok, intact(space));
  return std::string(ok ? "" : "workspace");
}

Result<int> ProblemBuffers::changed_input(const Tactic& tactic, int placement) {
  int changed = -1;
  for (size_t i = 0; i < problem_.inputs.size(); ++i) {
    if (!is_fed(i)) continue;
    const auto found = inputs_.find(key_of(tactic, i, placement));
    if (found == inputs_.end()) continue;
    Placed& placed = found->second;
    TRY(const uint64_t found_sum, stored_checksum(placed));
    if (found_sum == placed.checksum) continue;
    changed = changed < 0 ? static_cast<int>(i) : changed;
    CHECK_OK(fill_input(found->first, placed));
  }
  return changed;
}

Result<std::vector<uint8_t>> ProblemBuffers::output(const Tactic& tactic, size_t index,
                                                    int placement) {
  TRY(const Guarded g, output_memory(tactic, index, placement));
  return download(g.data(), g.bytes);
}

}  // namespace enginery
