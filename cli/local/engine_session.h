// An engine opened to be run: what `run` and `bench` do before their own work.
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

// Loads with so many CPU threads (nothing: the cores of the affinity mask), and warns where that is
// not the number that the engine was tuned for, or where the engine is untuned.
Result<Engine> open_engine(const std::string& file, std::optional<int64_t> threads,
                           Console& console);

// A driver or a library that is missing here: for a local device that is `incompatible`, while
// `unavailable` means that no coordinator answers.
Error as_local(Error error);

// The cores that this process may run on.
int affinity_cores();

// "fp32", "fp16", "tf32,fp16": what was allowed beyond fp32, as a user writes it.
std::string precision_text(const std::vector<std::string>& precisions);

// The characters outside [A-Za-z0-9._-] of a tensor's name become '_'.
std::string file_name_of(const std::string& tensor);

// How many samples one run takes: the first dim of the first input, 1 where there is none.
int64_t batch_of(const EngineInfo& info);

// Buffers for one run: host tensors for every input and output, and their addresses.
class Buffers {
 public:
  explicit Buffers(const EngineInfo& info);

  // Replaces an input; its type must be the engine's.
  void set_input(size_t index, Tensor tensor);
  std::span<const void* const> inputs() const { return input_addresses_; }
  // Fresh outputs are made on every call, so that earlier ones keep their values.
  std::span<void* const> fresh_outputs();
  std::map<std::string, Tensor> outputs() const;

 private:
  const EngineInfo& info_;
  std::vector<Tensor> inputs_, outputs_;
  std::vector<const void*> input_addresses_;
  std::vector<void*> output_addresses_;
};

}  // namespace enginery
