#include "tuner/calibrate/histogram_set.h"

#include <bit>
#include <cmath>

namespace enginery {
namespace {

constexpr std::string_view kMagic = "ENGHIST1", kMagicWithChannels = "ENGHIST2";
constexpr size_t kDigestBytes = 32;

void put_number(Bytes& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void put_float(Bytes& out, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<char>((bits >> shift) & 0xff));
}

void put_digest(Bytes& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
}

void put_histogram(Bytes& out, const Histogram& histogram) {
  put_float(out, histogram.least);
  put_float(out, histogram.largest);
  put_number(out, histogram.zeros);
  uint64_t used = 0;
  for (const uint64_t n : histogram.bins) used += n > 0;
  put_number(out, used);
  size_t next = 0;
  for (size_t i = 0; i < histogram.bins.size(); ++i) {
    if (histogram.bins[i] == 0) continue;
    put_number(out, i - next);
    put_number(out, histogram.bins[i]);
    next = i + 1;
  }
}

// Numbers with a sign as those without: 0, -1, 1, -2, ...
void put_signed(Bytes& out, int64_t value) {
  const uint64_t twice = static_cast<uint64_t>(value) << 1;
  put_number(out, value < 0 ? ~twice : twice);
}

void put_channels(Bytes& out, const std::string& name, const ChannelSums& sums) {
  put_number(out, name.size());
  out += name;
  put_number(out, sums.rows);
  put_number(out, sums.is_beyond ? 1 : 0);
  put_number(out, sums.sums.size());
  for (const int64_t sum : sums.sums) put_signed(out, sum);
}

// Takes the fields off the front of a text. Errors: invalid_argument.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }

  Result<std::string_view> bytes(uint64_t count) {
    if (count > rest_.size()) return damaged("it ends early");
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }

  Result<uint64_t> number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      TRY(const std::string_view one, bytes(1));
      const auto byte = static_cast<uint8_t>(one[0]);
      const bool is_last = byte < 0x80, is_padding = byte == 0 && shift > 0;
      if (is_padding || (shift == 63 && byte > 1)) break;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (is_last) return value;
    }
    return damaged("a number is not in its shortest form");
  }

  Result<int64_t> signed_number() {
    TRY(const uint64_t coded, number());
    const uint64_t half = coded >> 1;
    return static_cast<int64_t>((coded & 1) != 0 ? ~half : half);
  }

  Result<float> real() {
    TRY(const std::string_view four, bytes(4));
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; ++i) bits |= uint32_t{static_cast<uint8_t>(four[i])} << (8 * i);
    const auto value = std::bit_cast<float>(bits);
    if (!std::isfinite(value)) return damaged("a range is not finite");
    return value;
  }

  static Error damaged(const std::string& why) {
    return {ErrorCode::invalid_argument, "the histogram file is damaged: " + why};
  }

 private:
  std::string_view rest_;
};

Status read_bins(FieldReader& reader, Histogram& histogram) {
  TRY(const uint64_t used, reader.number());
  if ((used == 0) != (histogram.largest_magnitude() == 0))
    return FieldReader::damaged("bins and range disagree");
  if (used == 0) return {};
  histogram.bins.assign(Histogram::kBins, 0);
  const auto last = static_cast<uint64_t>(histogram.largest_magnitude() / histogram.bin_width());
  uint64_t next = 0;
  for (uint64_t i = 0; i < used; ++i) {
    TRY(const uint64_t gap, reader.number());
    TRY(const uint64_t elements, reader.number());
    if (next > last || gap > last - next || elements == 0)
      return FieldReader::damaged("a bin lies outside the range");
    histogram.bins[next + gap] = elements;
    next += gap + 1;
  }
  if (next != last + 1) return FieldReader::damaged("the largest element has no bin");
  return {};
}

Result<Histogram> read_histogram(FieldReader& reader) {
  Histogram out;
  TRY(out.least, reader.real());
  TRY(out.largest, reader.real());
  TRY(out.zeros, reader.number());
  if (out.least > out.largest) return FieldReader::damaged("a range is reversed");
  CHECK_OK(read_bins(reader, out));
  return out;
}

Result<ChannelSums> read_sums(FieldReader& reader) {
  ChannelSums out;
  TRY(out.rows, reader.number());
  TRY(const uint64_t beyond, reader.number());
  TRY(const uint64_t channels, reader.number());
  out.is_beyond = beyond != 0;
  if (beyond > 1 || (out.rows >= ChannelSums::kRowsBeyond && !out.is_beyond))
    return FieldReader::damaged("sums of channels are of too many rows");
  const auto most = static_cast<uint64_t>(ChannelSums::kLargestMean) << ChannelSums::kUnitBits;
  for (uint64_t i = 0; i < channels; ++i) {
    TRY(const int64_t sum, reader.signed_number());
    const uint64_t magnitude =
        sum < 0 ? ~static_cast<uint64_t>(sum) + 1 : static_cast<uint64_t>(sum);
    if (out.is_beyond ? magnitude > 0 : magnitude > most * out.rows)
      return FieldReader::damaged("a sum of a channel is beyond its rows");
    out.sums.push_back(sum);
  }
  return out;
}

Status read_channels(FieldReader& reader, HistogramSet& out) {
  TRY(const uint64_t count, reader.number());
  if (count == 0) return FieldReader::damaged("it has no sums of channels");
  for (uint64_t i = 0; i < count; ++i) {
    TRY(const uint64_t length, reader.number());
    TRY(const std::string_view name, reader.bytes(length));
    if (!out.channels.empty() && out.channels.rbegin()->first >= name)
      return FieldReader::damaged("the sums of channels are not in order");
    auto sums = read_sums(reader);
    if (!sums) return sums.error().within("channels of tensor '" + std::string(name) + "'");
    out.channels.emplace(name, std::move(*sums));
  }
  return {};
}

// What stands between magic and digest, without the digest at its end.
Result<HistogramSet> read_set(FieldReader& reader, bool has_channels) {
  HistogramSet out;
  TRY(const std::string_view model, reader.bytes(kDigestBytes));
  std::copy(model.begin(), model.end(), out.model.bytes.begin());
  TRY(out.samples, reader.number());
  TRY(const uint64_t count, reader.number());
  for (uint64_t i = 0; i < count; ++i) {
    TRY(const uint64_t length, reader.number());
    TRY(const std::string_view name, reader.bytes(length));
    if (!out.tensors.empty() && out.tensors.rbegin()->first >= name)
      return FieldReader::damaged("the tensors are not in order");
    auto histogram = read_histogram(reader);
    if (!histogram) return histogram.error().within("tensor '" + std::string(name) + "'");
    out.tensors.emplace(name, std::move(*histogram));
  }
  if (has_channels) CHECK_OK(read_channels(reader, out));
  if (!reader.at_end()) return FieldReader::damaged("bytes follow the last tensor");
  return out;
}

// Of two sets of one model; "" where they have the same tensors.
std::string odd_tensor(const HistogramSet& a, const HistogramSet& b) {
  for (const auto& [name, histogram] : a.tensors) {
    if (!b.tensors.contains(name)) return name;
  }
  for (const auto& [name, histogram] : b.tensors) {
    if (!a.tensors.contains(name)) return name;
  }
  return "";
}

// The same of their channels: a tensor without sums, or with other channels.
std::string odd_channels(const HistogramSet& a, const HistogramSet& b) {
  for (const auto& [name, sums] : a.channels) {
    const auto found = b.channels.find(name);
    if (found == b.channels.end() || found->second.sums.size() != sums.sums.size()) return name;
  }
  for (const auto& [name, sums] : b.channels) {
    if (!a.channels.contains(name)) return name;
  }
  return "";
}

}  // namespace

Status HistogramSet::observe(const std::string& tensor, std::span<const float> elements) {
  const Status seen = tensors[tensor].observe(elements);
  return seen.ok() ? seen : seen.error().within("tensor '" + tensor + "'");
}

Status HistogramSet::merge(const HistogramSet& other) {
  if (other.samples == 0) return {};
  if (samples == 0) {
    *this = other;
    return {};
  }
  if (model != other.model) {
    return Error{ErrorCode::invalid_argument, "merge histograms: they are of two models, " +
                                                  model.text() + " and " + other.model.text()};
  }
  if (const std::string odd = odd_tensor(*this, other); !odd.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "merge histograms: only one of the two has tensor '" + odd + "'"};
  }
  if (const std::string odd = odd_channels(*this, other); !odd.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "merge histograms: only one of the two has means of the channels of tensor '" +
                     odd + "' (calibrate --bias-correction)"};
  }
  for (auto& [name, histogram] : tensors) histogram.merge(other.tensors.at(name));
  for (auto& [name, sums] : channels) sums.merge(other.channels.at(name));
  samples += other.samples;
  return {};
}

Digest HistogramSet::digest() const {
  return sha256(encode(*this));
}

Bytes encode(const HistogramSet& set) {
  Bytes out(set.channels.empty() ? kMagic : kMagicWithChannels);
  put_digest(out, set.model);
  put_number(out, set.samples);
  put_number(out, set.tensors.size());
  for (const auto& [name, histogram] : set.tensors) {
    put_number(out, name.size());
    out += name;
    put_histogram(out, histogram);
  }
  if (!set.channels.empty()) put_number(out, set.channels.size());
  for (const auto& [name, sums] : set.channels) put_channels(out, name, sums);
  put_digest(out, sha256(out));
  return out;
}

Result<HistogramSet> decode_histogram_set(std::string_view bytes) {
  if (!bytes.starts_with(kMagic.substr(0, kMagic.size() - 1)))
    return Error{ErrorCode::invalid_argument, "this is not a file of histograms"};
  const bool has_channels = bytes.starts_with(kMagicWithChannels);
  if (!has_channels && !bytes.starts_with(kMagic)) {
    return Error{ErrorCode::invalid_argument,
                 "this file of histograms is of a version that this enginery does not read"};
  }
  if (bytes.size() < kMagic.size() + 2 * kDigestBytes) return FieldReader::damaged("it ends early");
  const std::string_view content = bytes.substr(0, bytes.size() - kDigestBytes);
  Bytes written;
  put_digest(written, sha256(content));
  if (bytes.substr(content.size()) != written) return FieldReader::damaged("its digest is another");
  FieldReader reader(content.substr(kMagic.size()));
  return read_set(reader, has_channels);
}

}  // namespace enginery
