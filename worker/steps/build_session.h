// BuildSession: what the steps of one build share: the model, the opened device and the lowered
// network, each made on first use.
//
// Where: a local build keeps one for all steps, a runner one for its step. Belongs to one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/compile/compile.h"

namespace enginery {

using OpenTarget =
    std::function<Result<Target>(const std::string& sku, const BuildOptions& options)>;

struct BuildSessionSpec {
  std::string name;                    // the engine's
  std::string model_file;              // for messages, and to tell formats apart
  std::shared_ptr<const Bytes> model;  // packed: needs no other file; null where no step reads it
  Digest model_digest;
  // What options.calibration names: a table or histograms; null where it names none, or no step
  // reads the model.
  std::shared_ptr<const Bytes> calibration = nullptr;
  std::string sku;                // "" while no device is needed (validate)
  BuildOptions options;           // `provisional` opens the device only to compile for it
  OpenTarget open = open_target;  // tests add tactic sources of their own
  // Which layers of the calibrated model stay in float (tuner/accuracy/layer_budget.h); null: none.
  std::shared_ptr<const Bytes> float_layers = nullptr;
};

// What a calibrated model's network computes in: as the calibration quantised it, or as the model
// is, where that is faster. Of no consequence for other models.
enum class NetworkArithmetic { quantized, floating };
// What a build says to people where the latter was taken; a fact of the step that took it.
inline constexpr const char* kFloatIsFaster =
    "int8 is not faster here: the engine computes in float";

// Owns the model, the device and the network. One that could not be made is tried again by the next
// call.
class BuildSession {
 public:
  explicit BuildSession(BuildSessionSpec spec) : spec_(std::move(spec)) {}

  const BuildSessionSpec& spec() const { return spec_; }
  bool is_calibrated() const { return enginery::is_calibrated(spec_.options); }
  // Which layers of the calibrated model stay in float, once a step has chosen them.
  void keep_in_float(std::shared_ptr<const Bytes> layers);
  // Adds nodes of the network that compute in fp32 from here on (LoadedModel::beyond_float16);
  // forgotten when the session turns to another network. True where any is new.
  bool keep_from_float16(const std::set<NodeId>& nodes);
  const std::set<NodeId>& beyond_float16() const { return beyond_float16_; }
  // Which of a calibrated model's networks the session is about from here on; quantised at first.
  void take(NetworkArithmetic arithmetic);
  NetworkArithmetic arithmetic() const {
    return in_float_ ? NetworkArithmetic::floating : NetworkArithmetic::quantized;
  }
  // The spec's; those of a float model where its network is the one in floats.
  const BuildOptions& options() const { return in_float_ ? *in_float_ : spec_.options; }
  // Each is made on its first use and borrowed from the session. Errors: those of load_model,
  // open_target, lower_model.
  Result<const LoadedModel*> model();
  Result<const Target*> target();
  Result<const Network*> network();
  // Closes the device and drops the model and the network until they are wanted again: their
  // memory is then free for another process.
  void close() {
    network_.reset();
    target_.reset();
    model_.reset();
  }

 private:
  BuildSessionSpec spec_;
  std::optional<LoadedModel> model_;
  std::optional<Target> target_;
  std::optional<Network> network_;
  std::optional<BuildOptions> in_float_;
  std::set<NodeId> beyond_float16_;
};

}  // namespace enginery
