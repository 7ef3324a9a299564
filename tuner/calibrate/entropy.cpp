#include <algorithm>
#include <cmath>

#include "tuner/calibrate/algorithms.h"

namespace enginery {
namespace {

constexpr size_t kEntropyBins = 2048;
constexpr size_t kEntropyLevels = 128;
// What an empty last bin of Q counts as where P has outliers there.
constexpr double kSmoothing = 1e-4;

// Sums over the first i bins, so that a candidate costs a term for each level and not for each bin.
struct PrefixSums {
  std::vector<double> elements, used, entropy;  // of n, of n > 0, of n log n

  explicit PrefixSums(std::span<const double> bins)
      : elements(bins.size() + 1), used(bins.size() + 1), entropy(bins.size() + 1) {
    for (size_t i = 0; i < bins.size(); ++i) {
      const double n = bins[i];
      elements[i + 1] = elements[i] + n;
      used[i + 1] = used[i] + (n > 0 ? 1 : 0);
      entropy[i + 1] = entropy[i] + (n > 0 ? n * std::log(n) : 0);
    }
  }
};

// With p and q not yet normalised: sum P log(P / Q)
//   = (sum p log p - sum p log q) / sum p - log(sum p) + log(sum q).
double kl_divergence(const PrefixSums& sums, std::span<const double> bins, size_t kept,
                     size_t levels) {
  const double total = sums.elements.back(), inside = sums.elements[kept];
  const double outliers = total - inside, last = bins[kept - 1];
  if (inside <= 0) return INFINITY;
  const double p_last = last + outliers;
  double p_log_p = sums.entropy[kept];
  if (outliers > 0) p_log_p += p_last * std::log(p_last) - (last > 0 ? last * std::log(last) : 0);
  double p_log_q = last > 0 ? 0 : outliers * std::log(kSmoothing);
  for (size_t level = 0; level < levels; ++level) {
    const size_t begin = (level * kept + levels - 1) / levels;
    const size_t end = ((level + 1) * kept + levels - 1) / levels;
    const double n = sums.elements[end] - sums.elements[begin];
    if (n <= 0) continue;
    const double p = end == kept && last > 0 ? n + outliers : n;
    p_log_q += p * std::log(n / (sums.used[end] - sums.used[begin]));
  }
  return (p_log_p - p_log_q) / total - std::log(total) + std::log(inside);
}

// The histogram in 2048 bins up to the largest magnitude, without the zeros; an element that counts
// for a bin across a border is divided.
std::vector<double> rebin(const Histogram& histogram) {
  std::vector<double> out(kEntropyBins, 0);
  const double largest = histogram.largest_magnitude();
  const double width = histogram.bin_width(), to = kEntropyBins / largest;
  for (size_t i = 0; i < histogram.bins.size(); ++i) {
    if (histogram.bins[i] == 0) continue;
    const double begin = static_cast<double>(i) * width * to;
    const double end = std::min((static_cast<double>(i) + 1) * width, largest) * to;
    const auto first = std::min(static_cast<size_t>(begin), kEntropyBins - 1);
    const auto n = static_cast<double>(histogram.bins[i]);
    const double border = static_cast<double>(first + 1);
    const double share =
        end > border && first + 1 < kEntropyBins ? (border - begin) / (end - begin) : 1.0;
    out[first] += share * n;
    if (share < 1) out[first + 1] += (1 - share) * n;
  }
  return out;
}

// How many of the bins are kept at the least divergence.
size_t best_kept(const std::vector<double>& bins) {
  const PrefixSums sums(bins);
  size_t best = bins.size();
  double least = INFINITY;
  for (size_t kept = kEntropyLevels; kept <= bins.size(); ++kept) {
    const double divergence = kl_divergence(sums, bins, kept, kEntropyLevels);
    if (divergence < least) {
      least = divergence;
      best = kept;
    }
  }
  return best;
}

// The middle of the last bin that is kept, as in the source.
double entropy_threshold(const Histogram& histogram, const std::vector<double>& bins) {
  const size_t kept = best_kept(bins);
  const double largest = histogram.largest_magnitude();
  return std::min(1.0, (static_cast<double>(kept) + 0.5) / kEntropyBins) * largest;
}

class Entropy final : public Calibrator {
 public:
  std::string_view name() const override { return "entropy"; }
  std::string_view summary() const override {
    return "the least divergence of the distribution (GTC 2017)";
  }
  std::string_view table_name() const override { return "EntropyCalibration"; }
  double threshold(const Histogram& histogram) const override {
    return entropy_threshold(histogram, rebin(histogram));
  }
};

class Entropy2 final : public Calibrator {
 public:
  std::string_view name() const override { return "entropy2"; }
  std::string_view summary() const override {
    return "the same, with less weight on what is near zero";
  }
  std::string_view table_name() const override { return "EntropyCalibration2"; }
  double threshold(const Histogram& histogram) const override {
    std::vector<double> bins = rebin(histogram);
    bins[0] = bins[1];
    return entropy_threshold(histogram, bins);
  }
};

}  // namespace

double kl_divergence(std::span<const double> bins, size_t kept, size_t levels) {
  return kl_divergence(PrefixSums(bins), bins, kept, levels);
}

std::unique_ptr<Calibrator> make_entropy() {
  return std::make_unique<Entropy>();
}

std::unique_ptr<Calibrator> make_entropy2() {
  return std::make_unique<Entropy2>();
}

}  // namespace enginery
