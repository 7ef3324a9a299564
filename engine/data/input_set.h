// InputSet: the files behind `--input [NAME=]PATH`, cut into the batches that an engine takes; and
// RowJoin, which puts the batches' outputs together again.
//
// Where: used by the command line (run, compare, calibrate) and by the worker's calibration. Flow:
//   arguments + the engine's inputs + preprocessing -> InputSet::open -> batch(0), batch(1), ... ->
//   RowJoin
// Rows are read when their batch is asked for. A resource; one thread at a time.
// Errors: usage (an input without file, a file without input), not_found, invalid_argument (a file
// that does not fit).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/data/preprocess.h"
#include "engine/tensor/tensor.h"

namespace enginery {

// One input of an engine; its dims are static and the first one is the batch (a scalar input has
// none).
struct InputDescription {
  std::string name;
  TensorType type;
};

// One run's worth of inputs. Rows from `valid_rows` on repeat the last valid one and are to be cut
// off the outputs.
struct InputBatch {
  std::map<std::string, Tensor> tensors;
  int64_t first_row = 0;
  int64_t valid_rows = 0;
};

// Where the rows of one file come from: an .npy array or one picture.
class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual int64_t rows() const = 0;
  // What people and `--top` call row i of this source.
  virtual std::string label(int64_t row) const = 0;
  // Row i with the input's element type and its dims but the first.
  virtual Result<Tensor> read(int64_t row) = 0;
};

class InputSet {
 public:
  // `arguments` are `[NAME=]PATH`; PATH is an .npy, .npz, JPEG or PNG file or a folder of pictures,
  // several for one input follow each other. A .npz gives the array of the input's name, or its
  // only one; without NAME it gives all inputs. An empty `table` means that no --preprocess was
  // given: then pictures must fit as they are. `option` is what messages call the arguments.
  static Result<InputSet> open(const std::vector<std::string>& arguments,
                               const std::vector<InputDescription>& inputs,
                               const PreprocessTable& table, const std::string& option = "--input");

  // The rows of tensors in memory, by the inputs' names; `label` is what they are called.
  static Result<InputSet> of(const std::map<std::string, Tensor>& tensors,
                             const std::vector<InputDescription>& inputs, const std::string& label);

  int64_t rows() const { return rows_; }
  int64_t batches() const { return (rows_ + batch_rows_ - 1) / batch_rows_; }
  Result<InputBatch> batch(int64_t index);
  // How many rows a run takes.
  int64_t batch_rows() const { return batch_rows_; }

  // The parts of batch, for a choice of rows: one row of every input that has one, in the order of
  // the inputs; then up to batch_rows() of them, at least one, as a batch.
  Result<std::vector<Tensor>> row(int64_t index);
  Result<InputBatch> join(const std::vector<std::vector<Tensor>>& rows);

  // One label a row, in order: a picture's name (within its folder, or the path as given), or
  // FILE.npy[i] where an array has several rows; "-" for a model without inputs, which runs once.
  // This is what inputs.txt holds.
  const std::vector<std::string>& labels() const { return labels_; }

 private:
  struct Binding {
    InputDescription input;
    std::vector<std::unique_ptr<RowSource>> sources;
    int64_t rows = 0;
  };
  static InputSet without_rows(const std::vector<InputDescription>& inputs);
  Status settle(const std::string& option);
  // A scalar, or an input that is whole in one run, does not.
  bool follows_rows(const Binding& binding) const {
    return !binding.input.type.dims.empty() && binding.rows == rows_;
  }

  std::vector<Binding> bindings_;
  std::vector<std::string> labels_;
  int64_t batch_rows_ = 1;
  int64_t rows_ = 0;
};

// Joins the outputs of successive batches. A value; one thread at a time.
class RowJoin {
 public:
  // `outputs` of one run; their first dimension is the batch, of which the first `valid_rows`
  // count. A tensor whose first dimension is not `batch_rows` is kept whole, and an error when a
  // second batch follows.
  Status add(const std::map<std::string, Tensor>& outputs, int64_t batch_rows, int64_t valid_rows);

  // An output of that name has no rows, whatever its first dimension is.
  void keep_whole(const std::string& name) { whole_.insert(name); }

  // What no batch at all gives: every output with no rows. Errors: unsupported for one that has no
  // batch dimension.
  Status add_none(const std::map<std::string, TensorType>& outputs, int64_t batch_rows);

  // The joined tensors by name; ends its use.
  std::map<std::string, Tensor> finish();

 private:
  struct Part {
    TensorType type;  // dims[0] counts the joined rows
    Bytes bytes;
    bool whole = false;
  };
  std::map<std::string, Part> parts_;
  std::set<std::string> whole_;
};

}  // namespace enginery
