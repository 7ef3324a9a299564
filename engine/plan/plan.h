// Plan: what an engine executes: steps over planned storage. Made from a network and an assignment;
// stored in the engine.
//
// Every tensor lies in a storage: an offset in the arena, or memory of the caller for inputs and
// outputs. A view shares its source's storage. No two storages that live at the same time overlap
// (plan_memory, checked by check_memory).
#pragma once

#include <string>
#include <vector>

#include "engine/plan/assignment.h"

namespace enginery {

enum class StorageKind : uint8_t { arena, input, output };

struct Storage {
  StorageKind kind = StorageKind::arena;
  int64_t bytes = 0;
  int64_t offset =
      0;  // arena: bytes from its start; input, output: index into Plan::inputs or outputs
  int first_step = 0, last_step = 0;  // steps during which it must keep its bytes
};

struct PlanTensor {
  std::string name;
  TensorType type;
  Format format;
  int storage = 0;
};

// One launch. `inputs` and `outputs` index Plan::tensors, `constants` Plan::constants; both run
// parallel to the problem's inputs, -1 where that input is of the other sort or absent.
struct PlanStep {
  std::string name;
  Problem problem;
  Tactic tactic;
  std::vector<int> inputs, constants, outputs;
  int workspace = -1;      // storage of the workspace, or -1
  int stream = 0;          // which of the streams that run side by side (streams.h)
  double measured_us = 0;  // when tuned; goes to provenance only
};

struct PlanConstant {
  std::string name;
  Tensor tensor;
};

struct Plan {
  std::vector<PlanTensor> tensors;
  std::vector<Storage> storages;
  std::vector<PlanStep> steps;
  std::vector<PlanConstant> constants;
  // Tensors, in the model's order. An output whose storage is not an output storage of that index
  // (it is a view of an input, say) is copied by the runtime after the last step.
  std::vector<int> inputs, outputs;
  int64_t arena_bytes = 0;

  int64_t weights_bytes() const;
};

// Inserts the reformats, shares storage for views and in-place operands, spreads branches over
// streams, plans the memory.
Result<Plan> make_plan(const Network& network, const Assignment& assignment);

}  // namespace enginery
