#include "engine/data/topk.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/file.h"

namespace enginery {

std::vector<RankedClass> top_k(const Tensor& row, int64_t k) {
  const Tensor wide = convert(row, DataType::float64);
  const auto scores = wide.data<double>();
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto count = static_cast<size_t>(std::clamp<int64_t>(k, 0, row.size()));
  const auto better = [&](size_t a, size_t b) {
    if (std::isnan(scores[a]) != std::isnan(scores[b])) return std::isnan(scores[b]);
    return scores[a] != scores[b] && !std::isnan(scores[a]) ? scores[a] > scores[b] : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    better);
  std::vector<RankedClass> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back({static_cast<int64_t>(order[i]), scores[order[i]]});
  return out;
}

Tensor row_of(const Tensor& batch, int64_t i) {
  ENSURE(batch.rank() > 0 && i >= 0 && i < batch.dims()[0], "row_of: no such row");
  Tensor row(batch.type(), Dims(batch.dims().begin() + 1, batch.dims().end()));
  std::memcpy(row.mutable_bytes(), static_cast<const char*>(batch.raw()) + i * row.bytes(),
              static_cast<size_t>(row.bytes()));
  return row;
}

Result<std::vector<std::string>> read_labels(const std::filesystem::path& path) {
  TRY(const Bytes text, read_file(path, uint64_t{64} << 20));
  std::vector<std::string> labels;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    std::replace(line.begin(), line.end(), '\t', ' ');
    labels.push_back(std::move(line));
    at = end + 1;
  }
  return labels;
}

}  // namespace enginery
