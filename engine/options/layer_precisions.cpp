#include "engine/options/layer_precisions.h"

#include <algorithm>

namespace enginery {
namespace {

constexpr char kAny = '*';

// Source: the usual way back to the last star, which is enough as each one takes all that it can.
bool fits(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == kAny) {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of(kAny, p) == std::string_view::npos;
}

Result<LayerPrecision> parse_one(const std::string& part) {
  const auto refused = [&](const std::string& reason) {
    return Error{ErrorCode::usage, "layer precision '" + part + "': " + reason};
  };
  const size_t colon = part.rfind(':');  // names may hold colons, precisions do not
  if (colon == std::string::npos || colon == 0) return refused("expected NAME:fp32");
  const bool is_printable =
      std::ranges::none_of(part, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  if (!is_printable) return refused("a name has no control characters");
  const auto precision = parse_precision(part.substr(colon + 1));
  if (!precision.ok()) return refused("expected fp32, tf32, fp16, bf16 or int8 behind the colon");
  return LayerPrecision{part.substr(0, colon), *precision};
}

}  // namespace

Result<LayerPrecisions> parse_layer_precisions(std::string_view text) {
  LayerPrecisions out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) {
      TRY(out.emplace_back(), parse_one(std::string(text.substr(0, end))));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string to_text(const LayerPrecisions& layers) {
  std::string out;
  for (const LayerPrecision& l : layers)
    out += (out.empty() ? "" : ",") + l.layer + ":" + std::string(to_string(l.precision));
  return out;
}

bool is_pattern(const LayerPrecision& asked) {
  return asked.layer.find(kAny) != std::string::npos;
}

bool matches(const LayerPrecision& asked, std::string_view layer) {
  return fits(asked.layer, layer);
}

std::optional<Precision> precision_of(const LayerPrecisions& asked, std::string_view layer) {
  std::optional<Precision> by_name, by_pattern;
  for (const LayerPrecision& one : asked) {
    if (one.layer == layer)
      by_name = one.precision;
    else if (matches(one, layer))
      by_pattern = one.precision;
  }
  return by_name ? by_name : by_pattern;
}

}  // namespace enginery
