// Runs one tactic of one problem on a device and compares it with the reference: shared by the
// conformance suite and the benchmark.
#pragma once

#include <random>

#include "engine/tactics/tactic.h"

namespace enginery {

// Inputs and weights of a problem with random values that keep results near 1. Integer constants
// keep their values.
struct ProblemData {
  std::vector<Tensor> tensors;         // parallel to the problem's inputs
  std::vector<const Tensor*> inputs;   // null where absent
  std::vector<const Tensor*> weights;  // null where not constant
};
// Not copyable in effect: `inputs` and `weights` point into `tensors`. Fills `data`.
void fill_random(const Problem& problem, std::mt19937_64& random, ProblemData& data);

// Puts a NaN into every float input that is no weight, each at another place.
void plant_nan(const Problem& problem, ProblemData& data);

// Tactics with a pitch: for every `each`-th tactic that can, the same one writing its output as
// channels of a wider tensor, and likewise reading its first input.
std::vector<Tactic> pitched_twins(const Problem& problem, const std::vector<Tactic>& tactics,
                                  size_t each = 1);

// Device memory between two red zones.
struct GuardedMemory {
  DeviceMemory memory;
  size_t bytes = 0;
  void* address() const;
};

enum class OperandPlace { separate, in_place };

// A tactic prepared for a problem, with its memory.
class TacticRun {
 public:
  TacticRun(Device& device, Stream& stream) : device_(device), stream_(stream) {}

  // Places the inputs and poisons the outputs.
  Status prepare(const TacticSource& source, const Problem& problem, const Tactic& tactic,
                 const ProblemData& data, OperandPlace operand);
  // The same with the tactic that `other` prepared: two contexts of one engine.
  Status share(const TacticRun& other, const Problem& problem, const Tactic& tactic,
               const ProblemData& data);
  // From here on runs a copy of what was prepared, which goes; nothing where the tactic has none.
  Status take_copy();
  Status launch();
  // The outputs; an error where a red zone, an input or what lies between an output's pixels
  // changed.
  Result<std::vector<Tensor>> collect();
  const PreparedTactic& prepared() const { return *prepared_; }
  Enqueue enqueue() const;
  // NaN in every output byte.
  Status poison();

 private:
  Result<GuardedMemory> allocate(size_t bytes);
  Status place_all();
  Status check_between_pixels(const std::vector<uint8_t>& bytes, size_t output) const;
  Status check_red_zones(const GuardedMemory& memory, const std::string& what);
  std::vector<uint8_t> bytes_of_input(size_t input) const;
  Status place(size_t input);

  Device& device_;
  Stream& stream_;
  Problem problem_;
  Tactic tactic_;
  const ProblemData* data_ = nullptr;
  bool in_place_ = false;
  std::shared_ptr<const PreparedTactic> prepared_;
  std::vector<GuardedMemory> inputs_, outputs_;
  GuardedMemory workspace_;
  std::vector<const void*> input_addresses_;
  std::vector<void*> output_addresses_;
};

}  // namespace enginery
