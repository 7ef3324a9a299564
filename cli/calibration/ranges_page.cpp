#include "cli/calibration/ranges_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/output/text.h"

namespace enginery {
namespace {

constexpr size_t kColumns = 64;  // of a plot
constexpr size_t kMostBars = 40;

// The mean square of the elements, which count as the middles of their bins.
double mean_square(const Histogram& h) {
  if (h.count() == 0 || h.largest_magnitude() == 0) return 0;
  double sum = 0;
  for (size_t i = 0; i < h.bins.size(); ++i) {
    const double x = (static_cast<double>(i) + 0.5) * h.bin_width();
    sum += static_cast<double>(h.bins[i]) * x * x;
  }
  return sum / static_cast<double>(h.count());
}

double share_beyond(const Histogram& h, double threshold) {
  if (h.count() == 0 || h.largest_magnitude() == 0) return 0;
  uint64_t beyond = 0;
  for (size_t i = 0; i < h.bins.size(); ++i) {
    if (static_cast<double>(i) * h.bin_width() >= threshold) beyond += h.bins[i];
  }
  return static_cast<double>(beyond) / static_cast<double>(h.count());
}

std::string decibels(double sqnr_db) {
  return std::isfinite(sqnr_db) ? fmt::format("{:.1f}", sqnr_db) : "exact";
}

std::string percent(double share) {
  return share > 0 ? fmt::format("{:.3f} %", 100 * share) : "0 %";
}

std::string detail_of(const TensorRange& range) {
  const Histogram& h = *range.histogram;
  return fmt::format(
      "{}\n{} elements from {:.4g} to {:.4g}, {} zeros\nthreshold {:.4g} "
      "clips {}\nSQNR {} dB",
      range.name, h.count(), h.least, h.largest, h.zeros, range.threshold, percent(range.clipped),
      decibels(range.sqnr_db));
}

// Magnitudes up to the largest in a few dozen parts, as logarithms of their counts.
HtmlPlot plot_of(const TensorRange& range) {
  const Histogram& h = *range.histogram;
  HtmlPlot plot;
  plot.title = range.name;
  plot.detail = detail_of(range);
  plot.caption = fmt::format("{:.3g} of {:.3g}, {} dB", range.threshold, h.largest_magnitude(),
                             decibels(range.sqnr_db));
  std::vector<uint64_t> counts(kColumns, 0);
  const double largest = h.largest_magnitude();
  for (size_t i = 0; i < h.bins.size() && largest > 0; ++i) {
    const double at = static_cast<double>(i) * h.bin_width() / largest;
    counts[std::min(static_cast<size_t>(at * kColumns), kColumns - 1)] += h.bins[i];
  }
  const double most = std::log1p(static_cast<double>(*std::ranges::max_element(counts)));
  for (const uint64_t count : counts)
    plot.heights.push_back(most > 0 ? std::log1p(static_cast<double>(count)) / most : 0);
  plot.mark = largest > 0 ? std::min(range.threshold / largest, 1.0) : 1;
  return plot;
}

}  // namespace

std::vector<TensorRange> tensor_ranges(const HistogramSet& set, const Calibrator& calibrator) {
  std::vector<TensorRange> out;
  for (const auto& [name, histogram] : set.tensors) {
    TensorRange range{name, &histogram, 0, 0, INFINITY};
    const double scale = scale_of(histogram, calibrator);
    range.threshold = scale * kInt8Levels;
    range.clipped = share_beyond(histogram, range.threshold);
    const double signal = mean_square(histogram);
    // Of equal elements the scale is exact, whatever the bins say.
    const double noise = histogram.is_constant() ? 0 : squared_error(histogram, scale);
    if (signal > 0 && noise > 0) range.sqnr_db = 10 * std::log10(signal / noise);
    out.push_back(range);
  }
  return out;
}

std::string ranges_text(const std::vector<TensorRange>& ranges, int columns) {
  Table table({{"TENSOR"},
               {"ELEMENTS", Align::right},
               {"LEAST", Align::right},
               {"LARGEST", Align::right},
               {"THRESHOLD", Align::right},
               {"CLIPPED", Align::right},
               {"SQNR dB", Align::right}});
  for (const TensorRange& r : ranges) {
    table.add({r.name, std::to_string(r.histogram->count()),
               fmt::format("{:.4g}", r.histogram->least),
               fmt::format("{:.4g}", r.histogram->largest), fmt::format("{:.4g}", r.threshold),
               percent(r.clipped), decibels(r.sqnr_db)});
  }
  return table.text(columns);
}

void add_ranges(HtmlPage& page, const std::vector<TensorRange>& ranges,
                const Calibrator& calibrator) {
  std::vector<const TensorRange*> order;
  for (const TensorRange& range : ranges) {
    if (std::isfinite(range.sqnr_db)) order.push_back(&range);
  }
  std::ranges::stable_sort(order, {}, &TensorRange::sqnr_db);
  if (order.size() > kMostBars) order.resize(kMostBars);
  std::vector<HtmlBar> bars;
  for (const TensorRange* range : order) {
    bars.push_back({range->name, detail_of(*range), std::max(range->sqnr_db, 0.0),
                    decibels(range->sqnr_db) + " dB"});
  }
  page.section(
      "Rounding to 8 bits",
      fmt::format("The signal to noise ratio of each tensor's INT8 form with thresholds by "
                  "'{}', from its histogram; the {} with the most noise.",
                  calibrator.name(), counted(bars.size(), "tensor")));
  page.bars(bars);
  page.section("Histograms of activations",
               "Magnitudes from 0 to the largest one, counts as logarithms; what is right of the "
               "line is clipped. Below: threshold of largest magnitude, SQNR.");
  std::vector<HtmlPlot> plots;
  for (const TensorRange& range : ranges) plots.push_back(plot_of(range));
  page.plots(plots);
}

std::string ranges_page(const HistogramSet& set, const Calibrator& calibrator,
                        const std::string& title) {
  HtmlPage page(title, "enginery inspect");
  page.facts({{"rows", std::to_string(set.samples)},
              {"tensors", std::to_string(set.tensors.size())},
              {"model", set.model.text()},
              {"histograms", set.digest().text()},
              {"calibrator", std::string(calibrator.name())}});
  add_ranges(page, tensor_ranges(set, calibrator), calibrator);
  return page.text();
}

}  // namespace enginery
