// Plan: what an engine executes: steps over planned storage. Made from a network and a tactic
// selection; stored in the engine.
//
// Every tensor lies in a storage: an offset in the arena, or memory of the caller for inputs and
// outputs. A view shares its source's storage, and so do the parts of a whole that is joined or cut
// for nothing (slices.h). No two storages that live at the same time overlap
// (plan_memory, checked by check_memory). Plain values: const ones may be shared between threads.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/tactic_selection.h"

namespace enginery {

// The numbers are in engine files: add at the end.
enum class StorageKind : uint8_t { arena, input, output };

struct Storage {
  StorageKind kind = StorageKind::arena;
  int64_t bytes = 0;
  int64_t offset = 0;  // arena: bytes from its start; else: index into Plan::inputs or outputs
  int first_step = 0, last_step = 0;  // steps during which it must keep its bytes
};

// A value in one format. Several tensors may share a storage: views, and formats that place the
// elements alike.
struct PlanTensor {
  std::string name;
  TensorType type;
  Format format;
  int storage = 0;  // index into Plan::storages
  // Bytes from the storage's start, a multiple of kArenaAlignment (memory.h); of 16 with a pitch.
  int64_t offset = 0;
};

// One launch. `inputs` and `outputs` index Plan::tensors, `constants` Plan::constants; both run
// parallel to the problem's inputs, -1 where that input is of the other sort or absent.
struct PlanStep {
  std::string name;
  Problem problem;
  Tactic tactic;
  std::vector<int> inputs, constants, outputs;
  int workspace = -1;      // storage of the workspace, or -1
  int stream = 0;          // streams run in parallel (streams.h); 0 is the main one
  double measured_us = 0;  // when tuned; goes to provenance only
};

// The tactic's key as it was selected, under which timings know it: what a step reads or writes
// with a pitch was chosen without one.
std::string selected_key(const PlanStep& step);

struct PlanConstant {
  std::string name;
  Tensor tensor;
};

struct Plan {
  std::vector<PlanTensor> tensors;
  std::vector<Storage> storages;
  std::vector<PlanStep> steps;  // producers before consumers
  std::vector<PlanConstant> constants;
  // Tensors, in the model's order. An output whose storage is not an output storage of that index
  // (it is a view of an input, say) is copied by the runtime after the last step.
  std::vector<int> inputs, outputs;
  int64_t arena_bytes = 0;

  int64_t weights_bytes() const;  // of all constants
};

// Inserts the reformats, shares storage for views and in-place operands, spreads branches over
// streams, plans the memory. Errors: internal (a reformat without a tactic; the memory plan breaks
// its promise).
Result<Plan> make_plan(const Network& network, const TacticSelection& selection);

}  // namespace enginery
