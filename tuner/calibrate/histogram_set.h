// HistogramSet: what calibration stores: a histogram of each tensor of one model, over the data
// seen.
//
// Where: collection makes one for a shard of the data; shards merge; a calibrator turns it into a
// table (table.h) without the data. It says nothing of any SKU. README.md has the file's grammar.
// A value; one thread at a time.
#pragma once

#include <map>
#include <string>

#include "engine/base/digest.h"
#include "tuner/calibrate/channel_sums.h"
#include "tuner/calibrate/histogram.h"

namespace enginery {

struct HistogramSet {
  Digest model;          // structure and weights: fingerprint() of the graph that ran
  uint64_t samples = 0;  // rows of the data
  std::map<std::string, Histogram> tensors;
  // Of the tensors that products read, where biases are to be corrected; else empty.
  std::map<std::string, ChannelSums> channels;

  // Adds elements of one tensor. Errors: invalid_argument (a NaN or an infinity), naming it.
  Status observe(const std::string& tensor, std::span<const float> elements);
  // Adds another shard. A set without samples takes the other's model. Errors: invalid_argument
  // (another model; other tensors; only one with sums of channels, or of other channels); then
  // nothing is changed.
  Status merge(const HistogramSet& other);
  // Of the encoded bytes: two sets with the same digest are the same.
  Digest digest() const;

  friend bool operator==(const HistogramSet&, const HistogramSet&) = default;
};

Bytes encode(const HistogramSet& set);
// Errors: invalid_argument (not such a file, of a later version, cut short, damaged).
Result<HistogramSet> decode_histogram_set(std::string_view bytes);

}  // namespace enginery
