#include "tuner/calibrate/table.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace enginery {
namespace {

constexpr std::string_view kTablePrefix = "TRT-";
constexpr size_t kMaxScaleDigits = 8;
constexpr int64_t kOldestMajor = 5, kNewestMajor = 10;

Error at_line(size_t line, const std::string& why) {
  return {ErrorCode::invalid_argument,
          "calibration table, line " + std::to_string(line) + ": " + why};
}

bool is_word(std::string_view text) {
  const auto is_part = [](unsigned char c) { return c == '_' || std::isalnum(c) != 0; };
  return !text.empty() && std::ranges::all_of(text, is_part);
}

int64_t major_of(int64_t version) {
  return version >= 10'000 * kNewestMajor ? version / 10'000 : version / 1000;
}

Status parse_first_line(std::string_view line, CalibrationTable& out) {
  const Error none = at_line(1, "expected 'TRT-<version>-<algorithm>'");
  if (!line.starts_with(kTablePrefix)) return none;
  line.remove_prefix(kTablePrefix.size());
  const size_t dash = line.find('-');
  if (dash == std::string_view::npos || !is_word(line.substr(dash + 1))) return none;
  const auto [end, code] = std::from_chars(line.data(), line.data() + dash, out.version);
  if (code != std::errc() || end != line.data() + dash) return none;
  out.algorithm = std::string(line.substr(dash + 1));
  if (const int64_t found = major_of(out.version); found < kOldestMajor || found > kNewestMajor) {
    return Error{ErrorCode::unsupported, "calibration table of TensorRT version " +
                                             std::to_string(out.version) +
                                             ": those of 5 to 10 are read"};
  }
  return {};
}

// 0, -0.5, inf, nan.
std::string readable(float scale) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", double{scale});
  return text;
}

// "tensor: 3c010a14", without zeros in front where TensorRT wrote none; the name may hold a colon
// itself.
Status parse_scale(std::string_view line, size_t number, CalibrationTable& out) {
  const size_t colon = line.rfind(": ");
  if (colon == std::string_view::npos || colon == 0)
    return at_line(number, "expected 'tensor: <up to eight hex digits>'");
  const std::string_view digits = line.substr(colon + 2);
  uint32_t bits = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  const bool is_read = code == std::errc() && end == digits.data() + digits.size();
  if (digits.size() > kMaxScaleDigits || !is_read)
    return at_line(number, "'" + std::string(digits) + "' is not up to eight hex digits");
  const auto scale = std::bit_cast<float>(bits);
  const std::string name(line.substr(0, colon));
  if (out.scales.contains(name) || out.unusable.contains(name))
    return at_line(number, "tensor '" + name + "' stands twice");
  if (std::isfinite(scale) && scale > 0)
    out.scales.emplace(name, scale);
  else
    out.unusable.emplace(name,
                         readable(scale) + " in line " + std::to_string(number) + " of its table");
  return {};
}

}  // namespace

CalibrationTable make_table(const HistogramSet& histograms, const Calibrator& calibrator) {
  CalibrationTable out;
  out.algorithm = std::string(calibrator.table_name());
  for (const auto& [name, histogram] : histograms.tensors)
    out.scales[name] = scale_of(histogram, calibrator);
  for (const auto& [name, sums] : histograms.channels) {
    std::vector<float> means = sums.means();
    if (!means.empty()) out.means.emplace(name, std::move(means));
  }
  return out;
}

std::string to_text(const CalibrationTable& table) {
  std::string out =
      std::string(kTablePrefix) + std::to_string(table.version) + "-" + table.algorithm + "\n";
  for (const auto& [name, scale] : table.scales) {
    const auto bits = std::bit_cast<uint32_t>(scale);
    out += name + ": ";
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[(bits >> shift) & 15];
    out += "\n";
  }
  return out;
}

Result<CalibrationTable> parse_calibration_table(std::string_view text) {
  CalibrationTable out;
  for (size_t number = 1; number == 1 || !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1) {
      CHECK_OK(parse_first_line(line, out));
    } else if (!line.empty()) {
      CHECK_OK(parse_scale(line, number, out));
    }
  }
  return out;
}

bool holds_histograms(std::string_view bytes) {
  return bytes.starts_with("ENGHIST");
}

bool holds_channel_means(std::string_view bytes) {
  if (!holds_histograms(bytes)) return false;
  const auto set = decode_histogram_set(bytes);
  return set.ok() && !set->channels.empty();
}

Result<CalibrationTable> read_calibration(std::string_view bytes, std::string_view calibrator) {
  if (!holds_histograms(bytes)) {
    if (!calibrator.empty())
      return Error{ErrorCode::usage,
                   "a calibrator is applied to histograms, and this table has its scales"};
    return parse_calibration_table(bytes);
  }
  TRY(const HistogramSet set, decode_histogram_set(bytes));
  TRY(const auto applied,
      find_calibrator(calibrator.empty() ? make_calibrators().front()->name() : calibrator));
  CalibrationTable out = make_table(set, *applied);
  out.model = set.model;
  return out;
}

Result<std::string> calibrator_in_full(std::string_view bytes, std::string calibrator) {
  if (calibrator.empty() && holds_histograms(bytes))
    calibrator = make_calibrators().front()->name();
  TRY(const CalibrationTable readable, read_calibration(bytes, calibrator));
  (void)readable;
  return calibrator;
}

}  // namespace enginery
