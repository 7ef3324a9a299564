#include "engine/device/format.h"

#include <charconv>
#include <limits>

namespace enginery {
namespace {

constexpr std::string_view kBlockedPrefix = "nChw";
constexpr int32_t kMaxBlock = 1024, kMaxPitch = 1 << 24;

Result<int32_t> parse_size(std::string_view text, std::string_view digits, const char* what,
                           int32_t most) {
  int32_t size = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (error != std::errc() || end != digits.data() + digits.size() || size < 1 || size > most) {
    return Error{ErrorCode::invalid_argument, "format '" + std::string(text) + "': expected a " +
                                                  what + " of 1 to " + std::to_string(most)};
  }
  return size;
}

Result<int32_t> parse_block(std::string_view text, std::string_view digits) {
  return parse_size(text, digits, "block", kMaxBlock);
}

Result<Layout> parse_layout(std::string_view text) {
  if (text == "linear") return Layout{};
  if (text == "nhwc") return Layout{LayoutKind::channels_last, 0};
  if (text.starts_with("nhwc/")) {
    TRY(const int32_t pitch, parse_size(text, text.substr(5), "pitch", kMaxPitch));
    return Layout{LayoutKind::channels_last, 0, pitch};
  }
  if (text.starts_with("nhwc")) {
    TRY(int32_t block, parse_block(text, text.substr(4)));
    return Layout{LayoutKind::channels_last, block};
  }
  if (text.starts_with(kBlockedPrefix) && text.ends_with('c')) {
    TRY(int32_t block, parse_block(text, text.substr(4, text.size() - 5)));
    return Layout{LayoutKind::blocked, block};
  }
  return Error{ErrorCode::invalid_argument,
               "format '" + std::string(text) +
                   "': expected linear, nhwc, nhwc<block>, nhwc/<pitch> or nChw<block>c"};
}

// One loop over a tensor's storage, outermost first: which part of which dimension, and how often.
struct Loop {
  size_t dim;
  int part;  // 0 the whole dimension or its block number, 1 the place in the block
  int64_t extent;
  bool operator==(const Loop&) const = default;
};

// The loops of more than one turn that walk the storage in address order, channels split by `block`
// (0: not).
std::vector<Loop> loops_of(const Dims& dims, const Layout& layout, int64_t block) {
  std::vector<Loop> loops;
  auto append = [&](size_t dim, int part, int64_t extent) {
    if (extent != 1) loops.push_back({dim, part, extent});
  };
  auto channels = [&](bool outer, bool inner) {
    int64_t width = block ? block : 1;
    if (outer) append(1, 0, dims[1] / width);
    if (inner) append(1, 1, width);
  };
  bool linear = layout.kind == LayoutKind::linear, blocked = layout.kind == LayoutKind::blocked;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d != 1)
      append(d, 0, dims[d]);
    else
      channels(linear || blocked, linear);
  }
  if (!linear) channels(!blocked, true);
  return loops;
}

}  // namespace

std::string to_string(const Layout& layout) {
  std::string block = layout.block ? std::to_string(layout.block) : "";
  switch (layout.kind) {
    case LayoutKind::linear:
      return "linear";
    case LayoutKind::channels_last:
      return "nhwc" + block + (layout.pitch ? "/" + std::to_string(layout.pitch) : "");
    case LayoutKind::blocked:
      return std::string(kBlockedPrefix) + block + "c";
  }
  return "?";
}

std::string to_string(const Format& format) {
  return std::string(to_string(format.type)) + ":" + to_string(format.layout);
}

Result<Format> parse_format(std::string_view text) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return Error{ErrorCode::invalid_argument,
                 "format '" + std::string(text) + "': expected type:layout"};
  }
  TRY(DataType type, parse_data_type(text.substr(0, colon)));
  TRY(Layout layout, parse_layout(text.substr(colon + 1)));
  return Format{type, layout};
}

int64_t padded_channels(const Dims& dims, const Layout& layout) {
  if (dims.size() < 2) return 1;
  if (layout.kind == LayoutKind::linear || layout.block == 0) return dims[1];
  return (dims[1] + layout.block - 1) / layout.block * layout.block;
}

int64_t physical_bytes(const Dims& dims, const Format& format) {
  int64_t elements = 1;
  if (has_pitch(format) && volume(dims) > 0) {
    const int64_t pixels = volume(dims) / dims[1];
    return ((pixels - 1) * format.layout.pitch + dims[1]) * element_bytes(format.type);
  }
  for (size_t d = 0; d < dims.size(); ++d)
    elements *= d == 1 ? padded_channels(dims, format.layout) : dims[d];
  return elements * element_bytes(format.type);
}

Format with_pitch(const Format& format, int64_t channels) {
  Format out = format;
  out.layout.pitch = static_cast<int32_t>(channels);
  return out;
}

Format without_pitch(const Format& format) {
  return with_pitch(format, 0);
}

bool fits_pitch(const Dims& dims, const Format& format) {
  if (!has_pitch(format)) return true;
  const auto is_whole = [&](int64_t channels) {
    return channels > 0 && channels * element_bytes(format.type) % kPieceBytes == 0;
  };
  const Layout& layout = format.layout;
  return layout.kind == LayoutKind::channels_last && layout.block == 0 && dims.size() >= 3 &&
         layout.pitch <= kMaxPitch && dims[1] <= layout.pitch && is_whole(dims[1]) &&
         is_whole(layout.pitch) && volume(dims) > 0 &&
         volume(dims) / dims[1] <= std::numeric_limits<int64_t>::max() / (16 * kMaxPitch);
}

bool same_placement(const Dims& dims, const Format& a, const Format& b) {
  if (a.type != b.type) return false;
  if (a.layout == b.layout || dims.size() < 2) return true;
  if (a.layout.pitch != b.layout.pitch) return false;
  if (physical_bytes(dims, a) != physical_bytes(dims, b)) return false;
  bool blocked_a = a.layout.kind == LayoutKind::blocked,
       blocked_b = b.layout.kind == LayoutKind::blocked;
  int64_t block = blocked_a ? a.layout.block : blocked_b ? b.layout.block : 0;
  if (blocked_a && blocked_b && a.layout.block != b.layout.block) return false;
  if (block && dims[1] % block != 0) return false;
  return loops_of(dims, a.layout, block) == loops_of(dims, b.layout, block);
}

}  // namespace enginery
