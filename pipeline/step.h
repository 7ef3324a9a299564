// The steps of a build, as one table: a row is a step, and its place in the chain, its key, its
// inputs, the check of its outputs, the words for its progress and its dispatch follow from the
// row.
//
// Where: the coordinator walks the table to decide what comes next (chain.h), the worker looks a
// step up to know what to fetch and which function runs it (worker/steps/step_functions.h). Adding
// a step is one row here and one function there. Everything that reads the table takes it as a
// parameter, the product's by default, so that a test can add a row of its own. Threads: the table
// never changes; as any value.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace enginery {

// The numbers are on disk (queue_step, queue_target.uses): add at the end, never renumber. They say
// nothing of the order in which the steps run; the table does.
enum class StepKind : uint16_t { validate, tune, assemble, verify, profile, sign, calibrate, mix };

// What a step has to have while it runs.
enum class Needs : uint8_t {
  nothing,       // any worker can run it
  device,        // a worker of the target's SKU; other steps may use the device at the same time
  device_alone,  // the same, and nothing else runs on the device: the step measures
  signing_key,   // only the coordinator has it: never leased to a worker
};

// What a step's key is made of (keys.h). The first three are named fields that the submitter makes.
enum class KeyRule : uint8_t {
  of_model,      // the model's bytes, how it is imported and its calibration: all targets share the
                 // result; a step's row may name the fields of these that its result hangs on
  of_structure,  // the network without its weights: a retrained model reuses the result
  of_engine,     // everything that can change the engine: the key that a build is found by
  chained,       // the engine's key and the blobs that the earlier steps left
};

// Which builds have the step. A provisional target has no device to tune, verify or profile on.
enum class InChain : uint8_t {
  every_build,
  tuned_only,
  calibrated_here,  // that bring the data of their calibration
  budgeted,         // whose calibration may leave layers in float
};

// What decides which steps a target goes through.
struct Way {
  // A target of a build without data of its own.
  Way(bool is_provisional) : provisional(is_provisional) {}

  bool provisional = false;
  bool calibrates = false;
  bool has_budget = false;
  // Whether only the steps before tell what network there is to tune.
  bool makes_network() const { return calibrates || has_budget; }
};

struct Step {
  StepKind kind;
  std::string name;   // on the wire and in keys: "tune"
  std::string doing;  // for people: "tuning"
  std::vector<std::string>
      reads;  // "model" and the blobs of earlier steps; those that no earlier step of the chain
              // leaves are left out (a provisional target has no choices)
  std::string leaves;  // the blob without which a result is refused; "": it leaves none
  Needs needs = Needs::nothing;
  KeyRule key = KeyRule::chained;
  InChain in = InChain::every_build;
  std::string leaves_untuned = {};  // the same for a provisional target, where it differs
  // Blobs of the job and of earlier steps that it reads where there are any.
  std::vector<std::string> takes = {};
  std::vector<std::string> key_fields = {};  // those of a key of_model; empty: all
};

using StepTable = std::span<const Step>;

// The product's steps in the order in which a target goes through them. The last one leaves the
// engine.
StepTable steps();

// The row of a kind. Aborts when the table has none: kinds come from the table itself.
const Step& step_of(StepKind kind, StepTable table = steps());
// The row of a name, or null: names come from the wire.
const Step* find_step(std::string_view name, StepTable table = steps());

// The step's name; "unknown" for a number that the table lacks (a newer program's row on disk).
const char* to_string(StepKind kind, StepTable table = steps());
// "tuning" for "tune"; a name that the table lacks is given back as it is.
std::string doing(std::string_view name, StepTable table = steps());
// Whether the step's code may end its own process: what needs a device runs tactics on it, and any
// of them may fault or hang. Such a step is run apart from the caller, and again where a tactic
// took the process down.
bool may_crash(const Step& step);
// Whether the step needs the device for itself.
bool is_measuring(StepKind kind, StepTable table = steps());

// Whether several workers may share the step: it measures, and what it leaves follows from the
// structure and the timings, whoever took them.
bool is_shareable(const Step& step);

// Whether a runner that did another such step of the build may do this one, too: it runs on the
// device, but nothing that nobody has checked, as the tuning does.
bool can_reuse_runner(const Step& step);
// Whether a later step of a tuned target can.
bool is_runner_awaited(const Step& step, StepTable table = steps());

// The names of the inputs that a worker has to fetch: what the step reads, as far as the chain of
// such a target leaves it.
std::vector<std::string> inputs_of(const Step& step, Way way, StepTable table = steps());
bool reads_model(const Step& step);
// What steps take: the calibration, a blob of the job or of the step that made it; the names of the
// layers that stay in float; the rows that the calibration is made on, and those that engines are
// held against the float model on.
inline constexpr std::string_view kCalibrationInput = "calibration";
inline constexpr std::string_view kFloatLayersInput = "float_layers";
inline constexpr std::string_view kCalibDataInput = "calib_data";
inline constexpr std::string_view kHeldOutInput = "held_out";
// The blob that the step has to leave for such a target; "": none.
const std::string& needed_output(const Step& step, bool provisional);
// Whether a target of that sort has the step in its chain.
bool is_in_chain(const Step& step, Way way);

}  // namespace enginery
