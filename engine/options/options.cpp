#include "engine/options/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <map>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/parse_int.h"

namespace enginery {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string join(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : ",") + w;
  return out;
}

std::set<std::string> to_set(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

Error bad_line(const std::string& line) {
  return {ErrorCode::usage, "build options: cannot read '" + line + "'"};
}

constexpr int kMaxNumber = 1 << 20;
constexpr double kMostPercent = 100;
const std::map<std::string, int BuildOptions::*> kNumbers = {
    {"threads", &BuildOptions::threads},
    {"level", &BuildOptions::level},
    {"aux_streams", &BuildOptions::aux_streams}};

Status read_field(BuildOptions& options, const std::string& name, const std::string& value) {
  if (name == "precisions") {
    TRY(options.precisions, parse_precisions(value));
  } else if (name == "shapes") {
    TRY(options.shapes, parse_shapes(value));
  } else if (auto number = kNumbers.find(name); number != kNumbers.end()) {
    auto parsed = parse_int(value);
    if (!parsed || *parsed < -1 || *parsed > kMaxNumber) return bad_line(name + "=" + value);
    options.*number->second = static_cast<int>(*parsed);
  } else if (name == "without_sources") {
    options.without_sources = to_set(split(value, ','));
  } else if (name == "skip_passes") {
    options.skip_passes = to_set(split(value, ','));
  } else if (name == "limits") {
    TRY(options.limits, parse_limits(value));
  } else if (name == "provisional") {
    options.provisional = value == "true";
  } else if (name == "calibration") {
    TRY([[maybe_unused]] const Digest digest, Digest::parse(value));
    options.calibration = value;
  } else if (name == "calibrator") {
    options.calibrator = value;
  } else if (name == "layer_precisions") {
    TRY(options.layer_precisions, parse_layer_precisions(value));
  } else if (name == "calib_data") {
    TRY([[maybe_unused]] const Digest digest, Digest::parse(value));
    options.calib_data = value;
  } else if (name == "held_out") {
    TRY([[maybe_unused]] const Digest digest, Digest::parse(value));
    options.held_out = value;
  } else if (name == "max_accuracy_drop") {
    TRY(options.max_accuracy_drop, accuracy_drop_text(value));
  } else if (name == "memory_pools") {
    TRY(options.memory_pools, parse_memory_pools(value));
  } else if (name == "bias_correction") {
    options.bias_correction = value == "true";
  } else {
    return bad_line(name + "=" + value);
  }
  return {};
}

}  // namespace

Result<std::map<std::string, Dims>> parse_shapes(std::string_view text) {
  std::map<std::string, Dims> out;
  for (const std::string& part : split(text, ',')) {
    size_t colon = part.rfind(':');  // names may hold colons, shapes do not
    auto dims = parse_dims(colon == std::string::npos ? "" : part.substr(colon + 1));
    bool named = colon != std::string::npos && colon > 0 && colon + 1 < part.size();
    if (!named || !dims || !is_static(*dims)) {
      return Error{ErrorCode::usage, "shape '" + part + "': expected NAME:1x3x224x224"};
    }
    out[part.substr(0, colon)] = *dims;
  }
  return out;
}

Result<std::set<Precision>> parse_precisions(std::string_view text) {
  std::set<Precision> out{Precision::fp32};
  for (const std::string& word : split(text, ',')) {
    TRY(Precision p, parse_precision(word));
    out.insert(p);
  }
  return out;
}

std::string to_text(const std::set<Precision>& precisions) {
  std::string out;
  for (Precision p : precisions) out += (out.empty() ? "" : ",") + std::string(to_string(p));
  return out;
}

Result<std::string> accuracy_drop_text(std::string_view text) {
  const std::string_view digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  double percent = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), percent);
  const bool is_number = !digits.empty() && std::isdigit(static_cast<unsigned char>(digits[0])) &&
                         error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || !(percent <= kMostPercent))
    return Error{ErrorCode::usage,
                 "an accuracy drop is 0 to 100 percent, not '" + std::string(text) + "'"};
  char out[32];
  std::snprintf(out, sizeof out, "%.6g", percent);
  return std::string(out);
}

bool is_calibrated(const BuildOptions& options) {
  return !options.calibration.empty() || !options.calib_data.empty();
}

bool has_budget(const BuildOptions& options) {
  return is_calibrated(options) && !options.held_out.empty() && !options.max_accuracy_drop.empty();
}

std::string to_text(const BuildOptions& options) {
  std::string shapes;
  for (const auto& [name, dims] : options.shapes)
    shapes += (shapes.empty() ? "" : ",") + name + ":" + to_string(dims);
  const std::string limits = to_text(options.limits);
  const std::string layers = to_text(options.layer_precisions);
  const std::string pools = to_text(options.memory_pools);
  return "precisions=" + to_text(options.precisions) + "\nshapes=" + shapes +
         "\nthreads=" + std::to_string(options.threads) +
         "\nlevel=" + std::to_string(options.level) +
         "\nwithout_sources=" + join(options.without_sources) +
         "\nskip_passes=" + join(options.skip_passes) +
         "\nprovisional=" + (options.provisional ? "true" : "false") +
         "\naux_streams=" + std::to_string(options.aux_streams) + "\n" +
         (limits.empty() ? "" : "limits=" + limits + "\n") +
         (options.calibration.empty() ? "" : "calibration=" + options.calibration + "\n") +
         (options.calibrator.empty() ? "" : "calibrator=" + options.calibrator + "\n") +
         (layers.empty() ? "" : "layer_precisions=" + layers + "\n") +
         (options.calib_data.empty() ? "" : "calib_data=" + options.calib_data + "\n") +
         (options.held_out.empty() ? "" : "held_out=" + options.held_out + "\n") +
         (options.max_accuracy_drop.empty()
              ? ""
              : "max_accuracy_drop=" + options.max_accuracy_drop + "\n") +
         (pools.empty() ? "" : "memory_pools=" + pools + "\n") +
         (options.bias_correction ? "bias_correction=true\n" : "");
}

Result<BuildOptions> parse_options(std::string_view text) {
  BuildOptions options;
  for (const std::string& line : split(text, '\n')) {
    size_t equals = line.find('=');
    if (equals == std::string::npos) return bad_line(line);
    CHECK_OK(read_field(options, line.substr(0, equals), line.substr(equals + 1)));
  }
  return options;
}

}  // namespace enginery
