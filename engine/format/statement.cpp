#include "engine/format/statement.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace enginery {
namespace {

using Json = nlohmann::ordered_json;

// Before the names of facts: what was measured of the accuracy, what a calibration was made from,
// and what was asked for.
constexpr std::string_view kAccuracyFact = "accuracy.";
constexpr std::string_view kCalibratedFact = "calibration.";
constexpr std::string_view kAskedFact = "requested.";

// What every statement of this build type has; a later one may add to it, at the end of lists.
constexpr std::array kRequired = {"/_type",
                                  "/subject/0/digest/sha256",
                                  "/predicateType",
                                  "/predicate/buildDefinition/buildType",
                                  "/predicate/buildDefinition/externalParameters/sku",
                                  "/predicate/buildDefinition/resolvedDependencies/0/digest/sha256",
                                  "/predicate/runDetails/builder/id"};

std::string fact(const Properties& facts, const std::string& name) {
  const auto found =
      std::find_if(facts.begin(), facts.end(), [&](const auto& one) { return one.first == name; });
  return found == facts.end() ? "" : found->second;
}

// A digest set, from "sha256:..."; empty for any other text.
Json digest_set(std::string_view text) {
  constexpr std::string_view kPrefix = "sha256:";
  if (!text.starts_with(kPrefix)) return Json::object();
  return {{"sha256", text.substr(kPrefix.size())}};
}

// The facts whose names begin so, without that.
Json facts_named(const Properties& facts, std::string_view prefix) {
  Json json = Json::object();
  for (const auto& [name, value] : facts)
    if (name.starts_with(prefix)) json[name.substr(prefix.size())] = value;
  return json;
}

Json annotations(const Properties& properties) {
  Json json = Json::object();
  for (const auto& [name, value] : properties) json[name] = value;
  return json;
}

// By what and from what the scales were made, where they were made at all.
void annotate_calibration(const EngineFile& file, Json& dependency) {
  const Properties& facts = file.provenance.facts;
  if (dependency["name"] != "calibration") return;
  Json said = Json::object();
  if (const std::string calibrator = fact(facts, "calibrator"); !calibrator.empty())
    said["calibrator"] = calibrator;
  said.update(facts_named(facts, kCalibratedFact));
  if (!said.empty()) dependency["annotations"] = said;
}

// The model first; then what was measured and chosen, calibrated, linked, and measured on.
Json dependencies(const EngineFile& file) {
  Json list =
      Json::array({{{"name", "model"}, {"digest", digest_set(file.manifest.model_digest)}}});
  for (const char* name : {"choices", "calibration", "held_out"}) {
    if (const std::string digest = fact(file.provenance.facts, name); !digest.empty())
      list.push_back({{"name", name}, {"digest", digest_set(digest)}});
    if (name == std::string_view("calibration")) annotate_calibration(file, list.back());
  }
  for (const auto& [name, version] : file.manifest.software)
    list.push_back({{"name", "software/" + name}, {"annotations", {{"version", version}}}});
  list.push_back({{"name", "device"}, {"annotations", annotations(file.provenance.hardware)}});
  return list;
}

Json tactics(const Plan& plan) {
  Json list = Json::array();
  for (const PlanStep& step : plan.steps)
    list.push_back({{"step", step.name}, {"tactic", tactic_key(step.tactic)}});
  return list;
}

Json build_definition(const EngineFile& file) {
  const Manifest& m = file.manifest;
  Json external = {{"name", m.name},
                   {"sku", m.sku},
                   {"precisions", m.precisions},
                   {"level", m.level},
                   {"threads", m.threads},
                   {"options", m.options},
                   {"provisional", m.provisional}};
  const Json asked = facts_named(file.provenance.facts, kAskedFact);
  if (!asked.empty()) external["requested"] = asked;
  return {{"buildType", kBuildType},
          {"externalParameters", external},
          {"internalParameters",
           {{"key", fact(file.provenance.facts, "key")},
            {"structure", m.structure_digest},
            {"tactics", tactics(file.plan)}}},
          {"resolvedDependencies", dependencies(file)}};
}

Json run_details(const EngineFile& file, const std::string& signer) {
  const Properties& facts = file.provenance.facts;
  Json builder = {{"id", "urn:enginery:key:" + signer},
                  {"version", {{"enginery", file.manifest.builder}}}};
  if (const std::string worker = fact(facts, "worker"); !worker.empty())
    builder["builderDependencies"] =
        Json::array({{{"name", "worker"}, {"annotations", {{"worker", worker}}}}});
  Json metadata = {{"invocationId", fact(facts, "key")}};
  if (const std::string built = fact(facts, "built"); !built.empty())
    metadata["finishedOn"] = built;
  Json out = {{"builder", builder}, {"metadata", metadata}};
  const Json accuracy = facts_named(facts, kAccuracyFact);
  if (!accuracy.empty())
    out["byproducts"] = Json::array({{{"name", "accuracy"}, {"annotations", accuracy}}});
  return out;
}

Json statement_of(const EngineFile& file, const std::string& signer) {
  return {
      {"_type", kStatementType},
      {"subject", Json::array({{{"name", file.manifest.name + "." + file.manifest.sku},
                                {"digest", digest_set(file.content_digest.text())}}})},
      {"predicateType", kPredicateType},
      {"predicate",
       {{"buildDefinition", build_definition(file)}, {"runDetails", run_details(file, signer)}}}};
}

std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// "" when each of the statement's values is the file's.
std::string first_difference(const Json& said, const Json& is) {
  const Json leaves = said.flatten();
  const Json real = is.flatten();
  for (const char* name : kRequired) {
    if (!leaves.contains(name)) return std::string(name) + " is missing";
  }
  for (const auto& [name, value] : leaves.items()) {
    if (!real.contains(name)) return name + " is not known of the file";
    if (real[name] != value)
      return name + " is " + text_of(value, -1) + " in it and " + text_of(real[name], -1) +
             " in the file";
  }
  return "";
}

Result<Json> parsed(const EngineFile& file) {
  Json json = Json::parse(file.provenance.statement, nullptr, false);
  if (json.is_object()) return json;
  return Error{ErrorCode::untrusted, "engine file: its provenance statement is no JSON object"};
}

}  // namespace

std::string make_statement(const EngineFile& file, const std::string& signer) {
  return text_of(statement_of(file, signer), -1);
}

Result<std::string> readable_statement(const EngineFile& file) {
  if (file.provenance.statement.empty())
    return Error{ErrorCode::not_found,
                 "the engine has no provenance statement: " + file.manifest.builder +
                     " that built it wrote none; build it again for one"};
  TRY(const Json json, parsed(file));
  return text_of(json, 2);
}

Status check_statement(const EngineFile& file) {
  if (file.provenance.statement.empty()) return {};
  TRY(const Json said, parsed(file));
  // Through text, so that bytes which are not UTF-8 read alike on both sides.
  const Json is = Json::parse(make_statement(file, key_id(file.signer)));
  const std::string problem = first_difference(said, is);
  if (problem.empty()) return {};
  return Error{ErrorCode::untrusted,
               "engine file: its provenance statement is not this engine's: " + problem};
}

}  // namespace enginery
