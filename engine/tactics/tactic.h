// Tactic and TacticSource: the ways in which a problem can run on a device, and where they come
// from.
//
// A source belongs to one device; it may be used from several threads (candidates are prepared in
// parallel), what it prepares is immutable afterwards and is shared by all execution contexts.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/base/digest.h"
#include "engine/device/device.h"
#include "engine/tactics/region.h"

namespace enginery {

// How far a tactic may be trusted: what the tuner must do before it times it. Each kind includes
// the doubts of those before it.
enum class Trust {
  reference,     // its result is right by definition: never raced, used where nothing else runs
  may_be_wrong,  // its result is compared with the reference first (rounding, a library's bug)
  may_fault,     // its launch may also end the process, so it is tuned in one that can be lost
};

// How a tactic adds up products. What is not added up directly rounds a whole tile's or plane's
// elements together, so that the error of one element follows from the largest of them.
enum class Algorithm { direct, winograd, fft };

// One concrete way to run one problem: a library algorithm or a kernel variant with its parameters.
struct Tactic {
  std::string source;  // "onednn", "kernel", "cudnn", "cublaslt", "reference"
  std::string id;      // unique among the source's tactics of the problem but for the formats
  std::vector<Format> inputs;  // wanted format of each problem input (constants: ignored)
  std::vector<Format> outputs;
  Precision compute = Precision::fp32;  // fp16 and bf16 accumulate in float32
  int64_t workspace_bytes = 0;
  bool deterministic = true;
  int in_place_operand =
      -1;            // the epilogue operand whose storage the output should take over, or -1
  int view_of = -1;  // the output is this input's storage under other dims: nothing runs
  // Its first output may also be given a pitch (format.h): the same format but for that, in this
  // problem, at any address that is a multiple of 16 bytes. Not kept in engine files.
  bool writes_pitched = false;
  // Its first input may have one likewise, whatever lies between the pixels. Not kept either.
  bool reads_pitched = false;
  Algorithm algorithm = Algorithm::direct;  // decides how it is checked. Not kept in engine files
  Trust trust = Trust::may_fault;  // its source's; `offer_all` sets it. Not kept in engine files
  double estimated_us = 0;         // analytic model; orders candidates where nothing is measured
  std::shared_ptr<const Bytes>
      code;  // what `compile` gave, e.g. out of an engine file; null: prepare compiles itself
};

// "onednn:brgconv:avx512_core(float32:nhwc->float32:nhwc)": names a tactic of a problem for good.
std::string tactic_key(const Tactic& tactic);

// Whether the tactic can leave its output `index`, of these dims, as `wanted` lies: by its formats,
// or by writing with a pitch.
bool can_leave(const Tactic& tactic, size_t index, const Dims& dims, const Format& wanted);

// Whether the tactic can also take its input `index` as channels of a wider tensor.
inline bool can_take_pitched(const Tactic& tactic, size_t index) {
  return index == 0 && tactic.reads_pitched;
}

// Addresses for one launch. Inputs are indexed as in the problem; constants and absent ones are
// null.
struct Arguments {
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  void* workspace = nullptr;
};

// A tactic with its weights in place (packed, uploaded), ready to run any number of times from any
// stream.
class PreparedTactic {
 public:
  virtual ~PreparedTactic() = default;
  virtual Status enqueue(Stream& stream, const Arguments& arguments) const = 0;
  virtual int64_t weight_bytes() const = 0;
  // Of one launch here; more than Tactic::workspace_bytes where that was offered with fewer threads
  // or by another version of a library. Whoever launches gives as much.
  virtual int64_t workspace_bytes() const = 0;
  // The same with its weights at other addresses, for less than preparing it again; null where that
  // is not so.
  virtual Result<std::shared_ptr<const PreparedTactic>> copy() const {
    return std::shared_ptr<const PreparedTactic>();
  }
};

// Weights of a problem's constant inputs, indexed as its inputs; null for the others.
using Weights = std::span<const Tensor* const>;

// What holds for all tactics of one source.
struct SourceTraits {
  std::string_view name;  // in tactic keys, in engine files and in --tactic-sources: never renamed
  Trust trust = Trust::may_fault;
  // Whether `compile_ahead` leaves the device and its libraries alone, so that other tactics may be
  // timed meanwhile.
  bool compiles_beside_timing = true;
  // Whether `prepare` takes as long again for the same tactic of a problem of other sizes.
  bool compiles_by_shape = false;
  // Whether it takes problems that are regions. Others are never asked (require_served): what reads
  // the anchor alone cannot take it for the whole.
  bool takes_regions = false;
  // Whether it knows formats with a pitch: in changes of format, and in tactics that say so. Others
  // are never asked.
  bool serves_pitches = false;
};

class TacticSource {
 public:
  virtual ~TacticSource() = default;
  virtual SourceTraits traits() const = 0;
  std::string_view name() const { return traits().name; }
  // Every tactic that can run the problem in the allowed precisions, likely best first; unsupported
  // with the reason when there is none.
  virtual Result<std::vector<Tactic>> offer(const Problem& problem,
                                            const std::set<Precision>& allowed) const = 0;
  // What it needs of the weights it copies, or shares as a Tensor: they need not outlive the call.
  // Errors: incompatible (an id that this version of the library no longer offers), out_of_memory,
  // internal.
  virtual Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                                const Tactic& tactic,
                                                                Weights weights) const = 0;
  // The tactic's device code, for the engine file: with it in Tactic::code, `prepare` needs neither
  // compiler nor library. Needs no device, so an engine can be built where its device is not.
  // Empty: the tactic has none (CPU).
  virtual Result<Bytes> compile(const Problem& problem, const Tactic& tactic) const {
    (void)problem, (void)tactic;
    return Bytes();
  }
  // Does ahead, on any thread, what takes long in `prepare`, and keeps it; an error is `prepare`'s
  // to report.
  virtual void compile_ahead(const Problem& problem, const Tactic& tactic) const {
    (void)compile(problem, tactic);
  }
  // What it may run as one problem although it is several operators. Each place in a graph that
  // fits is offered to the sources as a region and measured against the operators one by one.
  virtual std::vector<RegionPattern> regions() const { return {}; }
};

// Whether the source may be asked about the problem at all; whoever asks a source about problems
// that it has not chosen calls this first. Errors: unsupported (a region, or a format
// with a pitch, where it takes none; a type for storage alone, which only references have).
Status require_served(const TacticSource& source, const Problem& problem);
// The same for a tactic that others have chosen.
Status require_served(const TacticSource& source, const Problem& problem, const Tactic& tactic);

// Which sources to open, by name.
struct SourceFilter {
  std::set<std::string> without;  // --tactic-sources=-cudnn
  std::set<std::string> only;     // an engine opens what it names and no more; empty = all
};
using TacticSources = std::vector<std::unique_ptr<TacticSource>>;
// The sources of a device in order of preference, the reference last. A source whose library this
// machine lacks is left out with a warning.
Result<TacticSources> make_tactic_sources(Device& device, const SourceFilter& filter = {});

// The names of all sources of every kind of device, sorted, whether or not this program has them:
// what --tactic-sources takes.
std::vector<std::string> tactic_source_names();

}  // namespace enginery
