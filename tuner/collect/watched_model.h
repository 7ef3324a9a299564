// WatchedModel: a float model that shows every value that it computes.
//
// Where: collect() feeds it the data. It is the graph before any fusion, with each value an output,
// run with the tactics that level 0 would choose: hundreds of times faster than the references.
// Values that hang on no input are constants and not watched. A resource; one thread at a time.
#pragma once

#include <memory>

#include "engine/graph/graph.h"
#include "engine/runtime/execution.h"

namespace enginery {

struct WatchOptions {
  std::string sku;            // "": calibration_sku()
  int threads = 0;            // 0: the cores of the affinity mask
  bool outputs_only = false;  // watch what the model gives, and nothing within it
};

// The CPU type to calibrate with: cpu-avx2, so that all workers of today compute the same numbers;
// the best that there is on a machine without it. Errors: incompatible (no CPU type).
Result<std::string> calibration_sku();

class WatchedModel {
  struct MakeKey {
    explicit MakeKey() = default;
  };

 public:
  // `imported`: specialised, before any pass (LoadedModel::imported). Errors: those of
  // fold_constants, lower and analytic_choice; unsupported (all values together are more than the
  // graph's limit on memory).
  static Result<std::unique_ptr<WatchedModel>> make(const Graph& imported,
                                                    const WatchOptions& options = {});
  explicit WatchedModel(MakeKey) {}  // for make() alone

  // The floating-point values of one run: the inputs, then what is computed, producers first.
  // Constants and integers are not there.
  struct Seen {
    std::string name;
    Tensor tensor;  // valid until the next run
  };
  // `inputs` by name, one for each of the model's. Errors: those of a run.
  Result<std::vector<Seen>> run(const std::map<std::string, Tensor>& inputs);

  size_t watched() const { return watched_; }  // how many values run() gives

 private:
  void name_values(const Graph& graph);

  std::unique_ptr<Device> device_;
  TacticSources sources_;
  std::unique_ptr<Execution> execution_;
  std::vector<std::string> input_names_, output_names_;
  std::vector<Tensor> outputs_;
  std::vector<size_t> shown_;  // of these, producers before consumers
  size_t watched_ = 0;
};

}  // namespace enginery
