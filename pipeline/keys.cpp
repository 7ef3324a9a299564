#include "pipeline/keys.h"

#include <algorithm>
#include <set>

#include "pipeline/chain.h"

namespace enginery {
namespace {

constexpr size_t kMaxFieldNameBytes = 200;

std::string join_words(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

std::string shapes_text(const BuildOptions& options) {
  std::string out;
  for (const auto& [name, dims] : options.shapes)
    out += (out.empty() ? "" : ",") + name + ":" + to_string(dims);
  return out;
}

// Any text as a field's name: lower case, other characters become '_'.
std::string field_name(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxFieldNameBytes)) {
    const char low = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool valid =
        std::isalnum(static_cast<unsigned char>(low)) || low == '_' || low == '.' || low == '-';
    out += valid ? low : '_';
  }
  return out;
}

// The same, and unlike every name before: the second of a name gets ".2" behind it.
std::string unique_field_name(std::string_view text, std::set<std::string>& taken) {
  std::string name = field_name(text);
  if (name.empty()) name = "_";
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = name + "." + std::to_string(i);
  return unique;
}

// One field for each fact, so that a miss names the library that differs. Of a fact that is there
// twice the first counts.
void add_toolchain(std::vector<NamedText>& fields, std::string_view toolchain) {
  while (!toolchain.empty()) {
    const size_t end = std::min(toolchain.find(';'), toolchain.size());
    const std::string_view fact = toolchain.substr(0, end);
    const size_t equals = std::min(fact.find('='), fact.size());
    const std::string name = "toolchain." + field_name(fact.substr(0, equals));
    const bool known = std::any_of(fields.begin(), fields.end(),
                                   [&](const NamedText& f) { return f.name == name; });
    if (!known)
      fields.push_back({name, std::string(fact.substr(std::min(equals + 1, fact.size())))});
    toolchain.remove_prefix(std::min(end + 1, toolchain.size()));
  }
}

// What tuning depends on in addition to the structure.
void add_settings(std::vector<NamedText>& fields, const KeySubject& subject) {
  fields.push_back({"precisions", to_text(subject.options.precisions)});
  fields.push_back({"level", std::to_string(subject.options.level)});
  if (subject.cpu) fields.push_back({"threads", std::to_string(subject.options.threads)});
  fields.push_back({"without_sources", join_words(subject.options.without_sources)});
}

// Only where a tactic's memory is limited: the keys of all other builds stay what they were.
void add_memory(std::vector<NamedText>& fields, const BuildOptions& options) {
  if (const std::string pools = to_text(options.memory_pools); !pools.empty())
    fields.push_back({"memory_pools", pools});
}

// The same where there is a calibration.
void add_calibration(std::vector<NamedText>& fields, const BuildOptions& options) {
  if (!options.calibration.empty()) fields.push_back({"calibration", options.calibration});
  if (!options.calibrator.empty()) fields.push_back({"calibrator", options.calibrator});
  if (!options.calib_data.empty()) fields.push_back({"calib_data", options.calib_data});
}

// The same. Tunings have them in their structure.
void add_layers(std::vector<NamedText>& fields, const BuildOptions& options) {
  if (!options.layer_precisions.empty())
    fields.push_back({"layer_precisions", to_text(options.layer_precisions)});
}

// The same of what decides whether the engine may be used, and what is said of it.
void add_held_out(std::vector<NamedText>& fields, const BuildOptions& options) {
  if (!options.held_out.empty()) fields.push_back({"held_out", options.held_out});
  if (!options.max_accuracy_drop.empty())
    fields.push_back({"max_accuracy_drop", options.max_accuracy_drop});
}

// The same where the farm's calibration is to correct biases.
void add_bias_correction(std::vector<NamedText>& fields, const BuildOptions& options) {
  if (options.bias_correction) fields.push_back({"bias_correction", "true"});
}

// Those that the step's result hangs on.
std::vector<NamedText> fields_of(const Step& step, const std::vector<NamedText>& of_model) {
  if (step.key_fields.empty()) return of_model;
  std::vector<NamedText> out;
  for (const NamedText& field : of_model)
    if (std::ranges::count(step.key_fields, field.name) > 0) out.push_back(field);
  return out;
}

}  // namespace

std::vector<NamedText> validate_key(const Digest& model, const BuildOptions& options,
                                    const std::string& builder) {
  std::vector<NamedText> fields = {{"model", model.text()},
                                   {"shapes", shapes_text(options)},
                                   {"skip_passes", join_words(options.skip_passes)},
                                   {"builder", builder}};
  add_calibration(fields, options);
  add_layers(fields, options);
  // Without a calibration int8 is for models that are quantised: others are then not valid.
  if (!is_calibrated(options) && options.precisions.contains(Precision::int8))
    fields.push_back({"quantized", "true"});
  if (has_budget(options)) add_held_out(fields, options);
  add_bias_correction(fields, options);
  return fields;
}

std::vector<NamedText> tune_key(const KeySubject& subject) {
  const bool is_open = way_of(subject.options, false).makes_network();
  std::vector<NamedText> fields = {{"structure", is_open ? "" : subject.structure.text()},
                                   {"sku", subject.sku}};
  add_settings(fields, subject);
  add_toolchain(fields, subject.toolchain);
  fields.push_back({"aux_streams", std::to_string(subject.options.aux_streams)});
  // A calibrated network may lose to the one in float; a quantised model has no such choice.
  if (is_calibrated(subject.options)) fields.push_back({"calibrated", "true"});
  add_memory(fields, subject.options);
  return fields;
}

std::vector<NamedText> engine_key(const KeySubject& subject) {
  std::vector<NamedText> fields = {
      {"model", subject.model.text()}, {"name", subject.name}, {"sku", subject.sku}};
  add_settings(fields, subject);
  fields.push_back({"shapes", shapes_text(subject.options)});
  fields.push_back({"skip_passes", join_words(subject.options.skip_passes)});
  fields.push_back({"provisional", subject.options.provisional ? "true" : "false"});
  add_toolchain(fields, subject.toolchain);
  fields.push_back({"aux_streams", std::to_string(subject.options.aux_streams)});
  add_calibration(fields, subject.options);
  add_layers(fields, subject.options);
  add_held_out(fields, subject.options);
  add_memory(fields, subject.options);
  add_bias_correction(fields, subject.options);
  return fields;
}

ActionKey action_key(std::string_view kind, const std::vector<NamedText>& fields,
                     std::string_view trust_domain) {
  ActionKey key(kind, trust_domain);
  for (const NamedText& field : fields) key.add(field.name, field.value);
  return key;
}

ActionKey chained_key(std::string_view kind, const Digest& engine_key,
                      const std::vector<NamedBlob>& inputs, std::string_view trust_domain) {
  std::vector<NamedBlob> sorted = inputs;
  std::sort(sorted.begin(), sorted.end(),
            [](const NamedBlob& a, const NamedBlob& b) { return a.name < b.name; });
  ActionKey key(kind, trust_domain);
  key.add("engine", engine_key);
  for (const NamedBlob& input : sorted) key.add("input." + input.name, input.digest);
  return key;
}

std::string_view key_kind(const Step& step) {
  return step.key == KeyRule::of_engine ? std::string_view("engine") : std::string_view(step.name);
}

ActionKey step_key(const Step& step, const KeyFields& fields, const std::vector<NamedBlob>& outputs,
                   std::string_view trust_domain) {
  switch (step.key) {
    case KeyRule::of_model:
      return action_key(key_kind(step), fields_of(step, fields.of_model), trust_domain);
    case KeyRule::of_structure:
      return action_key(key_kind(step), fields.of_structure, trust_domain);
    case KeyRule::of_engine:
      return action_key(key_kind(step), fields.of_engine, trust_domain);
    case KeyRule::chained:
      break;
  }
  const Digest engine = action_key("engine", fields.of_engine, trust_domain).digest();
  return chained_key(key_kind(step), engine, outputs, trust_domain);
}

KeyDigests key_digests(const KeyFields& fields, std::string_view trust_domain, StepTable table) {
  KeyDigests out;
  out.engine = action_key("engine", fields.of_engine, trust_domain).digest();
  for (const Step& step : table) {
    if (step.key == KeyRule::of_engine)
      out.of_fields.emplace_back(step.kind, out.engine);
    else if (step.key != KeyRule::chained)
      out.of_fields.emplace_back(step.kind, step_key(step, fields, {}, trust_domain).digest());
  }
  return out;
}

Digest step_key_digest(const Step& step, const KeyDigests& keys,
                       const std::vector<NamedBlob>& outputs, std::string_view trust_domain) {
  for (const auto& [kind, digest] : keys.of_fields)
    if (kind == step.kind) return digest;
  return chained_key(key_kind(step), keys.engine, outputs, trust_domain).digest();
}

ActionKey timing_device_key(const std::string& device) {
  ActionKey key("timing-device", kTrustDomain);
  std::set<std::string> taken = {"kind", "trust_domain"};
  std::string_view rest = device;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    const size_t equals = std::min(line.find('='), line.size());
    key.add(unique_field_name(line.substr(0, equals), taken),
            line.substr(std::min(equals + 1, line.size())));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return key;
}

ActionKey timing_problem_key(const std::string& problem) {
  ActionKey key("timing-problem", kTrustDomain);
  key.add("problem", problem);
  return key;
}

}  // namespace enginery
