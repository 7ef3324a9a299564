#include "engine/plan/plan.h"

#include <algorithm>
#include <map>

#include "engine/plan/memory.h"
#include "engine/plan/slices.h"
#include "engine/plan/streams.h"
#include "engine/tactics/shapes/parts.h"

namespace enginery {
namespace {

// Builds a plan step by step; keeps where each value lies, in every format that was made of it.
class Planner {
 public:
  Planner(const Network& network, const TacticSelection& selection)
      : network_(network), selection_(selection), homes_(network, selection.tactics) {}

  Result<Plan> run() {
    count_readers();
    for (ValueId v : network_.graph.inputs()) add_input(v);
    for (size_t n = 0; n < network_.nodes.size(); ++n)
      CHECK_OK(add_node(network_.nodes[n], selection_.tactics[n]));
    for (ValueId v : network_.graph.outputs()) CHECK_OK(add_output(v));
    assign_streams(plan_, selection_.streams);
    plan_memory(plan_);
    CHECK_OK(check_arena());
    CHECK_OK(check_memory(plan_));
    return std::move(plan_);
  }

 private:
  struct Place {
    ValueId value;
    Format format;
    auto operator<=>(const Place&) const = default;
  };

  // Where a tensor lies.
  struct Location {
    int storage = -1;
    int64_t offset = 0;
    bool operator==(const Location&) const = default;
  };

  const Value& value(ValueId v) const { return network_.graph.value(v); }

  Location location_of(int tensor) const {
    const PlanTensor& t = plan_.tensors[static_cast<size_t>(tensor)];
    return {t.storage, t.offset};
  }

  void count_readers() {
    for (size_t n = 0; n < network_.nodes.size(); ++n) {
      for (ValueId v : network_.nodes[n].inputs) {
        if (v != kNoValue) last_reader_[v] = n;
      }
    }
  }

  int new_storage(StorageKind kind, int64_t bytes, int64_t offset = 0) {
    plan_.storages.push_back({kind, bytes, offset, 0, 0});
    return static_cast<int>(plan_.storages.size()) - 1;
  }

  // The value's part of the whole that it belongs to; a storage of its own for every other.
  Location new_location(ValueId v, const Format& format) {
    const Dims& dims = value(v).type.dims;
    const SliceHome* home = homes_.find(v, dims, format);
    if (!home) return {new_storage(StorageKind::arena, physical_bytes(dims, format))};
    const auto [whole, fresh] = wholes_.emplace(home->whole, -1);
    if (fresh) whole->second = new_storage(StorageKind::arena, home->whole_bytes);
    return {whole->second, home->offset};
  }

  int new_tensor(ValueId v, const Format& format, const Location& at) {
    const auto [storage, offset] = at;
    plan_.tensors.push_back({value(v).name, value(v).type, format, storage, offset});
    int index = static_cast<int>(plan_.tensors.size()) - 1;
    places_[{v, format}] = index;
    if (static_cast<size_t>(storage) >= values_in_.size())
      values_in_.resize(static_cast<size_t>(storage) + 1);
    values_in_[static_cast<size_t>(storage)].push_back(v);
    return index;
  }

  void add_input(ValueId v) {
    Format format = boundary_format(value(v));
    int64_t bytes = physical_bytes(value(v).type.dims, format);
    int storage = new_storage(StorageKind::input, bytes, static_cast<int64_t>(plan_.inputs.size()));
    made_[v] = format;
    plan_.inputs.push_back(new_tensor(v, format, {storage}));
  }

  // The tensor that holds `v` in `format`: as it is, as a view, or through a reformat step.
  Result<int> tensor_in(ValueId v, const Format& format) {
    if (auto found = places_.find({v, format}); found != places_.end()) return found->second;
    Format from = made_[v];
    int source = places_.at({v, from});
    if (same_placement(value(v).type.dims, from, format))
      return new_tensor(v, format, location_of(source));
    auto chosen = selection_.reformats.find({v, from, format});
    if (chosen == selection_.reformats.end()) {
      return Error{ErrorCode::internal,
                   "no tactic was chosen for the reformat of '" + value(v).name + "'"};
    }
    int target = new_tensor(v, format, new_location(v, format));
    PlanStep step;
    step.name = "reformat " + value(v).name;
    step.problem = reformat_problem(value(v).type, from, format);
    step.tactic = chosen->second;
    step.inputs = {source};
    step.constants = {-1};
    step.outputs = {target};
    add_step(std::move(step));
    return target;
  }

  void add_step(PlanStep step) {
    if (step.tactic.workspace_bytes > 0)
      step.workspace = new_storage(StorageKind::arena, step.tactic.workspace_bytes);
    plan_.steps.push_back(std::move(step));
  }

  int constant_index(ValueId v) {
    auto [found, fresh] = constants_.emplace(v, static_cast<int>(plan_.constants.size()));
    if (fresh) plan_.constants.push_back({value(v).name, *value(v).constant});
    return found->second;
  }

  // The output may take over the operand's storage when nothing reads the operand afterwards.
  bool may_overwrite(ValueId operand, int tensor, size_t reader) {
    if (network_.graph.is_output(operand) || last_reader_[operand] != reader) return false;
    int storage = plan_.tensors[static_cast<size_t>(tensor)].storage;
    if (plan_.storages[static_cast<size_t>(storage)].kind != StorageKind::arena) return false;
    // Views of other values share the storage: they must be dead too.
    for (const ValueId other : values_in_[static_cast<size_t>(storage)]) {
      if (other == operand) continue;
      if (network_.graph.is_output(other) || last_reader_[other] >= reader) return false;
    }
    return true;
  }

  // The limit on the arena; the message names the layer at which most is live.
  Status check_arena() const {
    const int64_t mib = plan_.arena_bytes >> 20, most = network_.graph.limits.arena_mib;
    if (mib <= most) return {};
    std::vector<int64_t> change(plan_.steps.size() + 2, 0);
    for (const Storage& s : plan_.storages) {
      if (s.kind != StorageKind::arena || s.last_step < 0) continue;
      change[static_cast<size_t>(s.first_step)] += s.bytes;
      change[static_cast<size_t>(s.last_step) + 1] -= s.bytes;
    }
    int64_t live = 0, largest = -1;
    size_t at = 0;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      live += change[i];
      if (live <= largest) continue;
      largest = live;
      at = i;
    }
    return Error{ErrorCode::unsupported, "layer '" + plan_.steps[at].name +
                                             "': the values that live at the same time take " +
                                             std::to_string(mib) + " MiB, more than " +
                                             std::to_string(most) +
                                             limit_advice(&Limits::arena_mib, mib + 1)};
  }

  Status add_node(const NetworkNode& node, const Tactic& chosen) {
    const Tactic tactic = homes_.placed(node, chosen);
    PlanStep step;
    step.name = node.name;
    step.problem = node.problem;
    step.tactic = tactic;
    size_t reader = static_cast<size_t>(&node - network_.nodes.data());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      bool absent = node.inputs[i] == kNoValue,
           constant = !absent && node.problem.inputs[i].constant;
      step.constants.push_back(constant ? constant_index(node.inputs[i]) : -1);
      step.inputs.push_back(-1);
      if (!absent && !constant) {
        TRY(step.inputs.back(), tensor_in(node.inputs[i], tactic.inputs[i]));
      }
    }
    TRY(const std::vector<Location> places, output_places(node, tactic, step, reader));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      ValueId v = node.outputs[i];
      made_[v] = tactic.outputs[i];
      step.outputs.push_back(new_tensor(v, tactic.outputs[i], places[i]));
    }
    add_step(std::move(step));
    return {};
  }

  Result<std::vector<Location>> output_places(const NetworkNode& node, const Tactic& tactic,
                                              const PlanStep& step, size_t reader) {
    if (is_slice(node.problem, tactic)) return places_of_slices(node, tactic, step);
    if (tactic.view_of >= 0)
      return std::vector{location_of(step.inputs[static_cast<size_t>(tactic.view_of)])};
    std::vector<Location> out;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Location shared = i == 0 ? place_taken_over(node, tactic, step, reader) : Location();
      out.push_back(shared.storage >= 0 ? shared
                                        : new_location(node.outputs[i], tactic.outputs[i]));
    }
    return out;
  }

  // Of the whole, around its parts, which must lie there already; or of the parts, in the whole.
  Result<std::vector<Location>> places_of_slices(const NetworkNode& node, const Tactic& tactic,
                                                 const PlanStep& step) {
    const auto offsets = part_offsets(node.problem, tactic);
    const Error apart{ErrorCode::internal,
                      "the parts of '" + node.name + "' do not lie side by side"};
    if (!offsets) return apart;
    const bool joins = joins_parts(node.problem);
    const Location whole =
        joins ? new_location(node.outputs[0], tactic.outputs[0]) : location_of(step.inputs[0]);
    std::vector<Location> parts;
    for (const int64_t offset : *offsets) parts.push_back({whole.storage, whole.offset + offset});
    if (!joins) return parts;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (location_of(step.inputs[i]) != parts[i]) return apart;
    }
    return std::vector{whole};
  }

  // Of the operand that the first output overwrites; storage -1 for none. What belongs into a whole
  // is written there.
  Location place_taken_over(const NetworkNode& node, const Tactic& tactic, const PlanStep& step,
                            size_t reader) {
    if (tactic.in_place_operand < 0) return {};
    if (homes_.find(node.outputs[0], output_dims(node.problem), tactic.outputs[0])) return {};
    size_t operand = static_cast<size_t>(tactic.in_place_operand);
    int tensor = step.inputs[operand];
    if (tensor < 0 || !may_overwrite(node.inputs[operand], tensor, reader)) return {};
    // The same storage must not be read as another input of the step.
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      bool other = i != operand && step.inputs[i] >= 0;
      if (other && location_of(step.inputs[i]).storage == location_of(tensor).storage) return {};
    }
    return location_of(tensor);
  }

  // The output's storage becomes the caller's memory. Where it cannot (it is an input's, another
  // output's, or larger), the runtime copies the output at the end.
  Status add_output(ValueId v) {
    Format format = boundary_format(value(v));
    TRY(int tensor, tensor_in(v, format));
    const Location at = location_of(tensor);
    Storage& storage = plan_.storages[static_cast<size_t>(at.storage)];
    if (at.offset == 0 && storage.kind == StorageKind::arena &&
        storage.bytes == physical_bytes(value(v).type.dims, format)) {
      storage.kind = StorageKind::output;
      storage.offset = static_cast<int64_t>(plan_.outputs.size());
    }
    plan_.outputs.push_back(tensor);
    return {};
  }

  const Network& network_;
  const TacticSelection& selection_;
  const SliceHomes homes_;
  std::map<ValueId, int> wholes_;  // storages of those that have parts
  Plan plan_;
  std::map<Place, int> places_;
  std::vector<std::vector<ValueId>> values_in_;  // by storage
  std::map<ValueId, Format> made_;
  std::map<ValueId, int> constants_;
  std::map<ValueId, size_t> last_reader_;
};

}  // namespace

std::string selected_key(const PlanStep& step) {
  Tactic tactic = step.tactic;
  if (is_reformat(step.problem) || tactic.view_of >= 0) return tactic_key(tactic);
  if (!tactic.inputs.empty()) tactic.inputs[0] = without_pitch(tactic.inputs[0]);
  if (!tactic.outputs.empty()) tactic.outputs[0] = without_pitch(tactic.outputs[0]);
  return tactic_key(tactic);
}

int64_t Plan::weights_bytes() const {
  int64_t bytes = 0;
  for (const PlanConstant& c : constants) bytes += c.tensor.bytes();
  return bytes;
}

Result<Plan> make_plan(const Network& network, const TacticSelection& selection) {
  if (selection.cover.empty()) return Planner(network, selection).run();
  TRY(const Network cut, network.cut(selection.cover));
  return Planner(cut, selection).run();
}

}  // namespace enginery
