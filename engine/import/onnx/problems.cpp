#include "engine/import/onnx/problems.h"

namespace enginery {
namespace {

constexpr size_t kMaxLines = 200;

}  // namespace

void Problems::add(Error problem) {
  ++count_;
  all_unsupported_ = all_unsupported_ && problem.code == ErrorCode::unsupported;
  if (lines_.size() < kMaxLines) lines_.push_back(std::move(problem.message));
}

Error Problems::error() const {
  const ErrorCode code = all_unsupported_ ? ErrorCode::unsupported : ErrorCode::invalid_argument;
  if (count_ == 1) return {code, lines_[0]};
  std::string message = std::to_string(count_) + " problems:";
  for (const std::string& line : lines_) message += "\n  " + line;
  if (count_ > lines_.size())
    message += "\n  ... and " + std::to_string(count_ - lines_.size()) + " more";
  return {code, message};
}

}  // namespace enginery
