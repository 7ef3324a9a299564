// CalledBatches: what a caller's function gives to calibrate on, cut into the batches of a model.
//
// Where: between enginery_calibrator and collect(). A resource; one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "enginery/build.h"
#include "tuner/collect/batches.h"

namespace enginery {

class CalledBatches final : public CalibrationBatches {
 public:
  // `calibrator` outlives this object; its batch_size is above 0 and its get_batch is there.
  CalledBatches(const enginery_calibrator& calibrator, std::vector<InputDescription> inputs);

  // Errors: invalid_argument (other bytes than whole rows, inputs of different numbers of rows, no
  // rows at all), naming the batch and the input; storage (the function failed).
  Result<InputBatch> next() override;
  int64_t batch_rows() const override { return model_rows_; }
  int64_t done() const override { return done_; }
  int64_t chosen() const override { return 0; }
  std::string row_name(int64_t) const override { return label(); }

 private:
  // What the function is asked for and what it gives for one input.
  struct Asked {
    TensorType type;  // of a whole batch
    bool follows_rows = false;
    const void* data = nullptr;
    size_t bytes = 0;
  };
  // False where there are no more.
  Result<bool> call();
  Result<Tensor> taken(size_t input, const Asked& asked) const;
  std::string label() const { return "batch " + std::to_string(calls_) + " of the calibrator"; }

  const enginery_calibrator& calibrator_;
  std::vector<InputDescription> inputs_;
  std::vector<Asked> asked_;
  int64_t model_rows_ = 1;
  int64_t calls_ = 0, done_ = 0;
  std::optional<InputSet> given_;  // by the last call
  int64_t next_ = 0;               // batch of `given_`
};

}  // namespace enginery
