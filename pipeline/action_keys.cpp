#include "pipeline/action_keys.h"

#include <sched.h>

#include <algorithm>

#include "engine/device/sku_table.h"
#include "engine/options/toolchain.h"

namespace enginery {
namespace {

int allowed_core_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

std::string join(const std::set<std::string>& words) {
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

std::string field_name(std::string_view text) {
  std::string out;
  for (char c : text) {
    const char low = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    out += std::isalnum(static_cast<unsigned char>(low)) || low == '_' || low == '.' || low == '-'
               ? low
               : '_';
  }
  return out.substr(0, 200);
}

// One field for each fact, so that a miss names the library that differs.
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

bool is_cpu(const std::string& sku) {
  const auto row = resolve_sku_name(sku);
  return row && row->kind == DeviceKind::cpu;
}

// What tuning depends on beside the structure.
void add_settings(std::vector<NamedText>& fields, const KeySubject& subject) {
  fields.push_back({"precisions", to_text(subject.options.precisions)});
  fields.push_back({"level", std::to_string(subject.options.level)});
  if (is_cpu(subject.sku)) fields.push_back({"threads", std::to_string(subject.options.threads)});
  fields.push_back({"without_sources", join(subject.options.without_sources)});
}

}  // namespace

BuildOptions resolve_threads(BuildOptions options) {
  if (options.threads == 0) options.threads = allowed_core_count();
  return options;
}

BuildOptions options_for(const std::string& sku, BuildOptions options) {
  if (is_cpu(sku)) return resolve_threads(std::move(options));
  options.threads = 0;
  return options;
}

std::string toolchain_text(DeviceKind kind, const DeviceInfo* info) {
  Properties facts = toolchain(kind);
  if (info) {
    for (const auto& fact : info->software) {
      const bool known = std::any_of(facts.begin(), facts.end(),
                                     [&](const auto& f) { return f.first == fact.first; });
      if (!known) facts.push_back(fact);
    }
  }
  std::string out;
  for (const auto& [name, value] : facts) {
    std::string safe = value;
    std::replace(safe.begin(), safe.end(), ';', ',');
    out += (out.empty() ? "" : ";") + name + "=" + safe;
  }
  return out;
}

std::vector<NamedText> validate_key(const Digest& model, const BuildOptions& options) {
  return {{"model", model.text()},
          {"shapes", shapes_text(options)},
          {"skip_passes", join(options.skip_passes)},
          {"builder", builder_name()}};
}

std::vector<NamedText> tune_key(const KeySubject& subject) {
  std::vector<NamedText> fields = {{"structure", subject.structure.text()}, {"sku", subject.sku}};
  add_settings(fields, subject);
  add_toolchain(fields, subject.toolchain);
  fields.push_back({"aux_streams", std::to_string(subject.options.aux_streams)});
  return fields;
}

std::vector<NamedText> engine_key(const KeySubject& subject) {
  std::vector<NamedText> fields = {
      {"model", subject.model.text()}, {"name", subject.name}, {"sku", subject.sku}};
  add_settings(fields, subject);
  fields.push_back({"shapes", shapes_text(subject.options)});
  fields.push_back({"skip_passes", join(subject.options.skip_passes)});
  fields.push_back({"provisional", subject.options.provisional ? "true" : "false"});
  add_toolchain(fields, subject.toolchain);
  fields.push_back({"aux_streams", std::to_string(subject.options.aux_streams)});
  return fields;
}

ActionKey action_key(std::string_view kind, const std::vector<NamedText>& fields) {
  ActionKey key(kind, kTrustDomain);
  for (const NamedText& field : fields) key.add(field.name, field.value);
  return key;
}

ActionKey chained_key(std::string_view kind, const Digest& engine_key,
                      const std::vector<NamedBlob>& inputs) {
  std::vector<NamedBlob> sorted = inputs;
  std::sort(sorted.begin(), sorted.end(),
            [](const NamedBlob& a, const NamedBlob& b) { return a.name < b.name; });
  ActionKey key(kind, kTrustDomain);
  key.add("engine", engine_key);
  for (const NamedBlob& input : sorted) key.add("input." + input.name, input.digest);
  return key;
}

}  // namespace enginery
