// An engine opened to be run: what `run` and `bench` do before their own work.
//
// Where: between the options of a verb and the public runtime (enginery/engine.h). Threads: one
// thread at a time for each Buffers; an Engine is shared by any number.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/output/console.h"
#include "engine/tensor/tensor.h"
#include "enginery/engine.h"

namespace enginery {

// What `--threads` means for loading: nothing is the cores of the affinity mask, whatever number
// the engine was built with.
LoadOptions load_options(std::optional<int64_t> threads);

// Loads the engine; warns where it then runs with another number of threads than it was tuned for,
// and where it is untuned. Errors: as Engine::load, through as_local.
Result<Engine> open_engine(const std::string& file, std::optional<int64_t> threads,
                           Console& console);

// Whether it is an engine by any of its marks, so that a damaged one is refused as an engine
// instead of being read as a model. `bytes`: the whole file.
bool looks_like_engine(const std::string& file, std::string_view bytes);

// The error with `unavailable` (a driver or a library is missing) turned into `incompatible`: for a
// user, exit code 4 means that no coordinator answers.
Error as_local(Error error);

// What was allowed in addition to fp32, as a user writes it: "fp16", "tf32,fp16"; "fp32" where that
// is nothing.
std::string precision_text(const std::vector<std::string>& precisions);

// How many samples one run takes: the first dimension of the first input, 1 where there is none.
int64_t batch_of(const EngineInfo& info);

// Host tensors for every input and output of an engine, and their addresses.
class Buffers {
 public:
  // `info` must outlive the buffers.
  explicit Buffers(const EngineInfo& info);

  // Replaces an input; its type must be the engine's (aborts).
  void set_input(size_t index, Tensor tensor);
  std::span<const void* const> inputs() const { return input_addresses_; }
  // New outputs for one run: those of earlier calls keep their values, their addresses do not hold
  // any more.
  std::span<void* const> fresh_outputs();
  // The outputs of a run into these buffers, by their names, under the dims that it gave each
  // (output_dims).
  std::map<std::string, Tensor> outputs(std::span<const Dims> dims) const;

 private:
  const EngineInfo& info_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<const void*> input_addresses_;
  std::vector<void*> output_addresses_;
};

}  // namespace enginery
