// HeldOutCheck: what the float model gives for held-out rows, and how near another network of the
// same inputs and outputs comes to it.
//
// Where: the step that makes the engine to be signed. Flow: make runs the float model once;
// compare runs an engine, or the model with some layers quantised. A resource; one thread at a
// time.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/data/input_set.h"
#include "engine/graph/graph.h"
#include "tuner/accuracy/output_accuracy.h"
#include "tuner/collect/watched_model.h"

namespace enginery {

// Inputs by name to the model's outputs in their order.
using NetworkRun =
    std::function<Result<std::vector<Tensor>>(const std::map<std::string, Tensor>& inputs)>;

// After each batch: rows done, and all. An error ends the run with it.
using RowProgress = std::function<Status(int64_t done, int64_t rows)>;

class HeldOutCheck {
 public:
  // `in_float`: specialised, before any pass. `rows` are encoded. Errors: invalid_argument (damaged
  // rows, rows of another model, none at all), unsupported (no floating-point output), those of
  // WatchedModel and of `progress`.
  static Result<HeldOutCheck> make(const Graph& in_float, std::string_view rows,
                                   const WatchOptions& options, const RowProgress& progress);

  // On at most so many rows (0: all), in whole batches. Errors: those of the network and of
  // `progress`.
  Result<AccuracyFigures> compare(const NetworkRun& network, const RowProgress& progress,
                                  int64_t most_rows = 0);

  int64_t rows() const { return inputs_.rows(); }

 private:
  // A floating-point output of the model that is computed at run time.
  struct Compared {
    std::string name;
    size_t index = 0;  // among all outputs
  };
  HeldOutCheck(InputSet inputs, std::vector<int64_t> labels)
      : inputs_(std::move(inputs)), labels_(std::move(labels)) {}
  // Of a batch; empty where there are none.
  std::span<const int64_t> labels_of(const InputBatch& batch) const;

  InputSet inputs_;
  std::vector<int64_t> labels_;  // of the rows; empty: not known
  std::vector<Compared> outputs_;
  std::vector<std::vector<Tensor>> expected_;  // by batch, parallel to outputs_
};

// `model`'s floating-point outputs, watched, as a NetworkRun of `graph`. The model outlives it.
NetworkRun network_of(WatchedModel& model, const Graph& graph);

}  // namespace enginery
