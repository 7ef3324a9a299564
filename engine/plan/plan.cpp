#include "engine/plan/plan.h"

#include <algorithm>
#include <map>

#include "engine/plan/memory.h"
#include "engine/plan/streams.h"

namespace enginery {
namespace {

// Builds a plan step by step; keeps where each value lies, in every format that was made of it.
class Planner {
 public:
  Planner(const Network& network, const TacticSelection& selection)
      : network_(network), selection_(selection) {}

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

  const Value& value(ValueId v) const { return network_.graph.value(v); }

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

  int new_tensor(ValueId v, const Format& format, int storage) {
    plan_.tensors.push_back({value(v).name, value(v).type, format, storage});
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
    plan_.inputs.push_back(new_tensor(v, format, storage));
  }

  // The tensor that holds `v` in `format`: as it is, as a view, or through a reformat step.
  Result<int> tensor_in(ValueId v, const Format& format) {
    if (auto found = places_.find({v, format}); found != places_.end()) return found->second;
    Format from = made_[v];
    int source = places_.at({v, from});
    if (same_placement(value(v).type.dims, from, format)) {
      return new_tensor(v, format, plan_.tensors[static_cast<size_t>(source)].storage);
    }
    auto chosen = selection_.reformats.find({v, from, format});
    if (chosen == selection_.reformats.end()) {
      return Error{ErrorCode::internal,
                   "no tactic was chosen for the reformat of '" + value(v).name + "'"};
    }
    int storage = new_storage(StorageKind::arena, physical_bytes(value(v).type.dims, format));
    int target = new_tensor(v, format, storage);
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

  Status add_node(const NetworkNode& node, const Tactic& tactic) {
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
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      ValueId v = node.outputs[i];
      made_[v] = tactic.outputs[i];
      int storage = -1;
      if (i == 0) storage = shared_storage(node, tactic, step, reader);
      if (storage < 0)
        storage =
            new_storage(StorageKind::arena, physical_bytes(value(v).type.dims, tactic.outputs[i]));
      step.outputs.push_back(new_tensor(v, tactic.outputs[i], storage));
    }
    add_step(std::move(step));
    return {};
  }

  // The storage that the first output shares with an input: a view's source or an in-place operand;
  // -1 for none.
  int shared_storage(const NetworkNode& node, const Tactic& tactic, const PlanStep& step,
                     size_t reader) {
    if (tactic.view_of >= 0) {
      return plan_.tensors[static_cast<size_t>(step.inputs[static_cast<size_t>(tactic.view_of)])]
          .storage;
    }
    if (tactic.in_place_operand < 0) return -1;
    size_t operand = static_cast<size_t>(tactic.in_place_operand);
    int tensor = step.inputs[operand];
    if (tensor < 0 || !may_overwrite(node.inputs[operand], tensor, reader)) return -1;
    // The same storage must not be read as another input of the step.
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      bool other = i != operand && step.inputs[i] >= 0;
      if (other && plan_.tensors[static_cast<size_t>(step.inputs[i])].storage ==
                       plan_.tensors[static_cast<size_t>(tensor)].storage)
        return -1;
    }
    return plan_.tensors[static_cast<size_t>(tensor)].storage;
  }

  // The output's storage becomes the caller's memory. Where it cannot (it is an input's, another
  // output's, or larger), the runtime copies the output at the end.
  Status add_output(ValueId v) {
    Format format = boundary_format(value(v));
    TRY(int tensor, tensor_in(v, format));
    Storage& storage =
        plan_.storages[static_cast<size_t>(plan_.tensors[static_cast<size_t>(tensor)].storage)];
    if (storage.kind == StorageKind::arena &&
        storage.bytes == physical_bytes(value(v).type.dims, format)) {
      storage.kind = StorageKind::output;
      storage.offset = static_cast<int64_t>(plan_.outputs.size());
    }
    plan_.outputs.push_back(tensor);
    return {};
  }

  const Network& network_;
  const TacticSelection& selection_;
  Plan plan_;
  std::map<Place, int> places_;
  std::vector<std::vector<ValueId>> values_in_;  // by storage
  std::map<ValueId, Format> made_;
  std::map<ValueId, int> constants_;
  std::map<ValueId, size_t> last_reader_;
};

}  // namespace

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
