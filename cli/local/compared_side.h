// ComparedSide: one of the two things that `compare` holds against each other: an engine, a model
// that the references run, or outputs that something else has computed.
//
// Where: below the verb and comparison.h. A resource; one thread at a time.
#pragma once

#include <memory>

#include "cli/output/console.h"
#include "engine/compile/run_trace.h"
#include "engine/data/input_set.h"

namespace enginery {

// What both sides run on: files as `run` takes them, or made-up tensors by the inputs' names.
struct ComparedData {
  std::vector<std::string> files;
  PreprocessTable preprocess;
  std::map<std::string, Tensor> made_up;
  bool is_made_up() const { return files.empty(); }
};

// An output's sizes that are known after a run alone: along `axes`, at most those of `largest`.
struct CountedSizes {
  Dims largest;
  std::vector<int64_t> axes;
};

struct SideOutputs {
  std::map<std::string, Tensor> tensors;        // over all rows
  std::map<std::string, CountedSizes> counted;  // of outputs that have such sizes; none where saved
  int64_t rows = 0, batch_rows = 0;             // of the inputs; 0: saved outputs
};

// One batch, layer by layer.
struct SideTrace {
  RunTrace trace;
  std::vector<std::string> outputs;  // names, parallel to the trace's
};

enum class SideKind { engine, model, saved };
const char* to_string(SideKind kind);  // "engine", "model", "outputs"

class ComparedSide {
 public:
  virtual ~ComparedSide() = default;
  virtual SideKind kind() const = 0;
  virtual std::vector<InputDescription> inputs() const = 0;  // none: saved outputs
  // A run's worth of inputs that fit it, by name.
  virtual Result<std::map<std::string, Tensor>> made_up(uint64_t seed) const = 0;
  virtual Result<SideOutputs> run(const ComparedData& data) = 0;
  // The batch in which the row is. Errors: unsupported (saved outputs have no layers).
  virtual Result<SideTrace> trace(const ComparedData& data, int64_t row) = 0;
  // What a right one may differ by from another one (accuracy_bar); 0: it adds nothing.
  virtual Result<double> bar() const = 0;
};

struct SideOptions {
  std::optional<int64_t> threads;
  std::map<std::string, Dims> shapes;  // of a model's inputs
};

// What the file is. Errors: not_found; invalid_argument (a folder without .npy files).
Result<SideKind> side_kind(const std::string& file);

// `file`: an engine, a model, a folder of .npy files or a .npz or .npy file. Errors: those of
// Engine::load and load_model. The console must outlive the side.
Result<std::unique_ptr<ComparedSide>> open_side(const std::string& file, const SideOptions& options,
                                                Console& console);

}  // namespace enginery
