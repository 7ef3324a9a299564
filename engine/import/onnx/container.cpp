#include "engine/import/onnx/container.h"

namespace enginery {
namespace {

constexpr size_t kLengthBytes = 8;  // of the weights, least significant byte first

}  // namespace

Result<ModelParts> parts_of(std::string_view bytes) {
  if (!bytes.starts_with(kContainerMagic)) return ModelParts{bytes, {}};
  const Error cut{ErrorCode::invalid_argument, "the packed model is cut"};
  if (bytes.size() < kWeightAlignment) return cut;
  uint64_t size = 0;
  for (size_t i = kLengthBytes; i-- > 0;)
    size = size << 8 | static_cast<unsigned char>(bytes[kContainerMagic.size() + i]);
  bytes.remove_prefix(kWeightAlignment);
  if (size > bytes.size()) return cut;
  return ModelParts{bytes.substr(size), bytes.substr(0, size)};
}

ContainerWriter::ContainerWriter(uint64_t weights) {
  out_.reserve(kWeightAlignment + weights);
  out_ = kContainerMagic;
  out_.resize(kWeightAlignment, '\0');
}

std::pair<uint64_t, char*> ContainerWriter::add(uint64_t bytes) {
  const size_t begin = (out_.size() + kWeightAlignment - 1) / kWeightAlignment * kWeightAlignment;
  out_.resize(begin + bytes, '\0');
  return {begin - kWeightAlignment, out_.data() + begin};
}

Bytes ContainerWriter::finish(std::string_view model) && {
  const uint64_t size = out_.size() - kWeightAlignment;
  for (size_t i = 0; i < kLengthBytes; ++i)
    out_[kContainerMagic.size() + i] = static_cast<char>(size >> (8 * i) & 0xff);
  out_ += model;
  return std::move(out_);
}

}  // namespace enginery
