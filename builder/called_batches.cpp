#include "builder/called_batches.h"

#include <cstring>

namespace enginery {
namespace {

size_t bytes_in(const TensorType& type) {
  return static_cast<size_t>(bytes_of(type));
}

enginery_tensor_info info_of(const std::string& name, const TensorType& type) {
  enginery_tensor_info out{};
  out.struct_size = sizeof out;
  out.name = name.c_str();
  out.dims = type.dims.data();
  out.rank = static_cast<int32_t>(type.dims.size());
  out.type = static_cast<enginery_type>(type.type);
  out.is_input = 1;
  out.bytes = bytes_in(type);
  return out;
}

}  // namespace

CalledBatches::CalledBatches(const enginery_calibrator& calibrator,
                             std::vector<InputDescription> inputs)
    : calibrator_(calibrator), inputs_(std::move(inputs)) {
  bool has_leader = false;
  for (const InputDescription& input : inputs_) {
    Asked asked{input.type};
    if (!input.type.dims.empty() && !std::exchange(has_leader, true))
      model_rows_ = input.type.dims[0];
    asked.follows_rows = !input.type.dims.empty() && input.type.dims[0] == model_rows_;
    if (asked.follows_rows) asked.type.dims[0] = calibrator.batch_size;
    asked_.push_back(std::move(asked));
  }
}

Result<InputBatch> CalledBatches::next() {
  if (!given_ || next_ == given_->batches()) {
    TRY(const bool more, call());
    if (!more) return InputBatch();
  }
  TRY(InputBatch out, given_->batch(next_++));
  done_ += out.valid_rows;
  return out;
}

Result<bool> CalledBatches::call() {
  std::vector<enginery_tensor_info> infos;
  for (size_t i = 0; i < inputs_.size(); ++i)
    infos.push_back(info_of(inputs_[i].name, asked_[i].type));
  std::vector<const void*> data(inputs_.size(), nullptr);
  std::vector<size_t> bytes(inputs_.size(), 0);
  const int32_t said =
      calibrator_.get_batch(calibrator_.user, infos.data(), static_cast<int32_t>(infos.size()),
                            data.data(), bytes.data());
  if (said != 0 && said != 1)
    return Error{ErrorCode::storage, "the calibrator's get_batch has failed"};
  if (said == 0 && calls_ == 0)
    return Error{ErrorCode::invalid_argument, "the calibrator gives no rows"};
  if (said == 0) return false;
  ++calls_;
  std::map<std::string, Tensor> tensors;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    asked_[i].data = data[i];
    asked_[i].bytes = bytes[i];
    TRY(Tensor tensor, taken(i, asked_[i]));
    tensors.emplace(inputs_[i].name, std::move(tensor));
  }
  TRY(given_, InputSet::of(tensors, inputs_, label()));
  next_ = 0;
  return true;
}

Result<Tensor> CalledBatches::taken(size_t input, const Asked& asked) const {
  TensorType type = asked.type;
  if (asked.follows_rows) {
    type.dims[0] = 1;
    const size_t row = bytes_in(type);
    if (row > 0 && asked.bytes % row == 0)
      type.dims[0] = static_cast<int64_t>(std::min(asked.bytes, bytes_in(asked.type)) / row);
  }
  if (!asked.data || asked.bytes == 0 || asked.bytes != bytes_in(type))
    return Error{ErrorCode::invalid_argument,
                 label() + " has " + std::to_string(asked.data ? asked.bytes : 0) +
                     " bytes for input '" + inputs_[input].name + "', which takes " +
                     std::to_string(bytes_in(asked.type)) + " (" + to_string(asked.type) + ")" +
                     (asked.follows_rows ? " or fewer whole rows" : "")};
  Tensor out(type.type, type.dims);
  std::memcpy(out.mutable_bytes(), asked.data, asked.bytes);
  return out;
}

}  // namespace enginery
