#include "tuner/collect/calibration_data.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace enginery {
namespace {

// `wanted` of the numbers below `count`, ascending. The generator's numbers are fixed by the
// standard, and so is the choice.
std::vector<int64_t> choose(int64_t count, int64_t wanted, uint64_t seed) {
  std::vector<int64_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  if (wanted == 0 || wanted >= count) return all;
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < static_cast<size_t>(wanted); ++i)
    std::swap(all[i], all[i + random() % (all.size() - i)]);
  all.resize(static_cast<size_t>(wanted));
  std::sort(all.begin(), all.end());
  return all;
}

int64_t most_skipped(int64_t chosen) {
  return std::max<int64_t>(1, chosen / 10);
}

}  // namespace

Result<CalibrationData> CalibrationData::open(const CalibrationRequest& request,
                                              const std::vector<InputDescription>& inputs) {
  TRY(InputSet set, InputSet::open(request.paths, inputs, request.preprocess, request.option));
  if (set.rows() == 0)
    return Error{ErrorCode::invalid_argument,
                 request.option + " " + request.paths[0] + " holds no rows"};
  std::vector<int64_t> rows = choose(set.rows(), request.rows, request.seed);
  return CalibrationData(std::move(set), std::move(rows), request.option);
}

Result<CalibrationData> CalibrationData::of(const std::map<std::string, Tensor>& tensors,
                                            const std::vector<InputDescription>& inputs,
                                            const std::string& label) {
  TRY(InputSet set, InputSet::of(tensors, inputs, label));
  if (set.rows() == 0) return Error{ErrorCode::invalid_argument, label + " holds no rows"};
  std::vector<int64_t> rows = choose(set.rows(), 0, 0);
  return CalibrationData(std::move(set), std::move(rows), label);
}

Status CalibrationData::skip(int64_t row, const Error& reason) {
  skipped_.push_back({inputs_.labels()[static_cast<size_t>(row)], reason.message});
  const auto count = static_cast<int64_t>(skipped_.size());
  if (count < chosen() && count <= most_skipped(chosen())) return {};
  return Error{
      ErrorCode::invalid_argument,
      std::to_string(count) + " of " + std::to_string(chosen()) + " rows of " + option_ +
          " cannot be used, more than may be left out; the first: " + skipped_.front().reason};
}

Result<InputBatch> CalibrationData::next() {
  std::vector<std::vector<Tensor>> read;
  while (at_ < rows_.size() && static_cast<int64_t>(read.size()) < batch_rows()) {
    const int64_t row = rows_[at_++];
    auto one = inputs_.row(row);
    if (one) {
      read.push_back(std::move(*one));
      given_.push_back(inputs_.labels()[static_cast<size_t>(row)]);
    } else {
      CHECK_OK(skip(row, one.error()));
    }
  }
  last_batch_ = read.size();
  if (read.empty()) return InputBatch();
  return inputs_.join(read);
}

}  // namespace enginery
