// BuildOptions: everything a user may ask of a build that can change its result; its canonical text
// is part of every key.
//
// Where: from the command line over the wire to the worker and into the engine's manifest, always
// as that text. Plain values; free functions without state.
#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/options/layer_precisions.h"
#include "engine/options/memory_pools.h"
#include "engine/tensor/limits.h"
#include "enginery/types.h"

namespace enginery {

// Most streams that a plan may have in addition to its main one (plan/streams.h has the limit of
// all).
inline constexpr int kMaxAuxStreams = 7;

struct BuildOptions {
  std::set<Precision> precisions = {Precision::fp32};
  std::map<std::string, Dims> shapes;     // --shapes=a:1x3x224x224
  int threads = 0;                        // CPU SKUs; 0 = the cores of the affinity mask
  int level = 3;                          // tuner.h
  int aux_streams = -1;                   // at most, besides the main one; -1: as many as pay
  std::set<std::string> without_sources;  // --tactic-sources=-cudnn
  std::set<std::string> skip_passes;      // --skip-pass
  bool provisional = false;               // no device: choices by the analytic model
  Limits limits;                          // --limit value_mib=8192
  // --calib: the SHA-256 of the table or the histograms, as "sha256:..."; "": there is none.
  std::string calibration;
  std::string calibrator;            // what is applied to histograms; "" for a table
  LayerPrecisions layer_precisions;  // --layer-precisions conv1:fp32
  // --calib-data of a submit: the SHA-256 of the rows that the farm calibrates on; "": there are
  // none. The calibration is then what its step leaves.
  std::string calib_data;
  // --accuracy-data: the SHA-256 of the rows that the engine is held against the float model on;
  // "": there are none.
  std::string held_out;
  std::string max_accuracy_drop;  // percent, as accuracy_drop_text writes it; "": no limit
  MemoryPools memory_pools;       // --mem-pool-size workspace:64M
  // Whether the farm keeps the means of channels of calib_data, too, so that biases are corrected.
  // A calibration that is there says so itself, by having them.
  bool bias_correction = false;
};

// Whether scales of a calibration quantise the model, wherever they come from.
bool is_calibrated(const BuildOptions& options);
// Whether layers that lose too much stay in float: a calibrated build with a limit.
bool has_budget(const BuildOptions& options);

// One line a field, in a fixed order, every field present but the limits where they are the
// defaults, and a calibration, layers' precisions, held-out rows, memory pools and a correction of
// biases where there are none: equal options give equal text. What the wire, the keys and the
// manifest carry.
std::string to_text(const BuildOptions& options);
// Errors: usage, naming the line.
Result<BuildOptions> parse_options(std::string_view text);

// "a:1x3x224x224,b:1x128". Errors: usage.
Result<std::map<std::string, Dims>> parse_shapes(std::string_view text);
// "fp32,tf32". fp32 is always among them. Errors: usage.
Result<std::set<Precision>> parse_precisions(std::string_view text);
std::string to_text(const std::set<Precision>& precisions);

// "0.5" or "0.5%", 0 to 100, in the one form that keys have. Errors: usage.
Result<std::string> accuracy_drop_text(std::string_view text);

}  // namespace enginery
