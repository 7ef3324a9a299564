#include "pipeline/claims.h"

#include <algorithm>

#include "engine/options/target_options.h"
#include "pipeline/result.h"

namespace enginery {
namespace {

constexpr std::string_view kKeyFact = "key.";  // before a field's name
// Fields that only some builds have, and that their key may not lack: it would be another build's.
constexpr std::string_view kFieldsOfSome[] = {
    "calibration",       "calibrator",       "calib_data",   "held_out",
    "max_accuracy_drop", "layer_precisions", "memory_pools", "bias_correction"};

const NamedText* find_field(const std::vector<NamedText>& key, std::string_view name) {
  const auto found =
      std::find_if(key.begin(), key.end(), [&](const NamedText& f) { return f.name == name; });
  return found == key.end() ? nullptr : &*found;
}

// The first claimed field that is known and has another value; "" when there is none. `open` names
// what cannot be said here.
std::string difference_of(const std::vector<NamedText>& claimed,
                          const std::vector<NamedText>& expected, std::string_view open) {
  for (const NamedText& field : claimed) {
    const NamedText* wanted = find_field(expected, field.name);
    if (wanted == nullptr || field.name == open || wanted->value == field.value) continue;
    return "says " + field.name + " '" + field.value.substr(0, 200) + "', but '" +
           wanted->value.substr(0, 200) + "' is asked for";
  }
  return "";
}

Status check_key(const std::string& what, const std::vector<NamedText>& claimed,
                 const std::vector<NamedText>& expected, std::string_view open,
                 std::initializer_list<const char*> required) {
  const auto wrong = [&](const std::string& how) {
    return Error{ErrorCode::usage, "submit: " + what + " " + how};
  };
  for (const char* name : required)
    if (find_field(claimed, name) == nullptr)
      return wrong("has no field '" + std::string(name) + "'");
  for (const std::string_view name : kFieldsOfSome)
    if (find_field(expected, name) != nullptr && find_field(claimed, name) == nullptr)
      return wrong("has no field '" + std::string(name) + "'");
  const std::string difference = difference_of(claimed, expected, open);
  return difference.empty() ? Status() : wrong(difference);
}

// Without a toolchain: its fields are then known to nobody, and are passed over.
KeySubject subject_of(const Digest& model, const std::string& name, const std::string& sku,
                      const BuildOptions& options, bool provisional) {
  KeySubject subject{model, {}, name, sku, "", options_for(sku, options)};
  subject.options.provisional = provisional;
  subject.cpu = is_cpu_sku(sku);
  return subject;
}

// What of the blobs that come with it is not what the options name; "" where all are.
std::string odd_input(const std::vector<NamedBlob>& inputs, const BuildOptions& options) {
  const auto digest_of = [&](std::string_view name) {
    const NamedBlob* blob = blob_named(inputs, name);
    return blob ? blob->digest.text() : std::string();
  };
  // Where the job brings data, the calibration is what a step has made of it.
  if (options.calib_data.empty() && digest_of(kCalibrationInput) != options.calibration)
    return "the calibration";
  if (digest_of(kCalibDataInput) != options.calib_data) return "the calibration's data";
  return digest_of(kHeldOutInput) != options.held_out ? "the held-out data" : "";
}

}  // namespace

std::string field_of(const std::vector<NamedText>& key, std::string_view name) {
  const NamedText* field = find_field(key, name);
  return field == nullptr ? "" : field->value;
}

Status check_claims(const SubmitRequest& submit) {
  auto options = parse_options(submit.options);
  if (!options.ok()) return options.error().within("submit");
  if (const std::string odd = odd_input(submit.inputs, *options); !odd.empty())
    return Error{ErrorCode::usage,
                 "submit: " + odd + " that comes with it is not the one that its options name"};
  CHECK_OK(check_key("the validation's key", submit.validate_key,
                     validate_key(submit.model, *options, ""), "builder", {"model"}));
  for (const TargetRequest& target : submit.targets) {
    const KeySubject subject =
        subject_of(submit.model, submit.name, target.sku, *options, target.provisional);
    CHECK_OK(check_key("the key of the engine for " + target.sku, target.engine_key,
                       engine_key(subject), "", {"model", "sku"}));
    if (target.provisional) continue;
    CHECK_OK(check_key("the key of the tuning for " + target.sku, target.tune_key,
                       tune_key(subject), "structure", {"structure", "sku"}));
  }
  return {};
}

Status check_claims(const RunStep& run) {
  std::vector<NamedText> claimed;
  for (const NamedText& fact : run.facts)
    if (fact.name.starts_with(kKeyFact))
      claimed.push_back({fact.name.substr(kKeyFact.size()), fact.value});
  TRY(const BuildOptions options, parse_options(run.options));
  // A step that any worker can run belongs to no SKU.
  const std::string sku = run.sku.empty() ? field_of(claimed, "sku") : run.sku;
  const bool provisional =
      run.sku.empty() ? field_of(claimed, "provisional") == "true" : run.provisional;
  const KeySubject subject = subject_of(run.model, run.name, sku, options, provisional);
  if (const std::string odd = odd_input(run.inputs, options); !odd.empty())
    return Error{ErrorCode::untrusted, odd + " that comes with the step is not what it names"};
  const std::string difference = difference_of(claimed, engine_key(subject), "");
  if (difference.empty()) return {};
  return Error{ErrorCode::untrusted, "the step is not what its key claims: it " + difference};
}

}  // namespace enginery
