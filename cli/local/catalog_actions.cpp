#include "cli/local/catalog_actions.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cache/verify.h"
#include "cli/options/targets.h"
#include "cli/output/json_output.h"
#include "cli/output/table.h"
#include "engine/device/sku_table.h"

namespace enginery {
namespace {

Json engine_json(const EngineRow& engine) {
  return {{"engine", engine.digest.text()},
          {"content_digest", engine.content_digest.text()},
          {"name", valid_utf8(engine.name)},
          {"sku", engine.sku},
          {"precision", engine.precision},
          {"model", engine.model.text()},
          {"key", engine.key.text()},
          {"size_bytes", engine.size_bytes},
          {"latency_ms", json_known(engine.latency_ms)},
          {"provisional", engine.provisional},
          {"created", json_time(engine.created_ns)}};
}

Status words_between(const CatalogArguments& arguments, size_t min, size_t max,
                     std::string_view shape) {
  if (arguments.words.size() >= min && arguments.words.size() <= max) return {};
  return Error{ErrorCode::usage, fmt::format("expected: enginery catalog {}", shape)};
}

// The engine that a word names: a digest, or a name for the SKU that is asked for (else the
// best of this machine that has one).
Result<EngineRow> find_engine(Catalog& catalog, const std::string& word,
                              const std::string& target) {
  if (word.starts_with("sha256:")) return catalog.engines().find(word);
  std::vector<std::string> skus;
  if (!target.empty()) {
    TRY(skus, resolve_targets({target}));
  } else {
    for (const LocalSku& local : local_skus()) skus.push_back(local.name);
  }
  for (const std::string& sku : skus) {
    auto found = catalog.engines().newest(word, sku);
    if (found.ok() || found.error().code != ErrorCode::not_found) return found;
  }
  return Error{
      ErrorCode::not_found,
      fmt::format("the catalog has no engine called {} for {} (enginery catalog ls lists them)",
                  word, target.empty() ? "this machine" : target)};
}

Json key_json(const ActionKey& key) {
  Json fields = Json::array();
  for (const KeyField& field : key.fields())
    fields.push_back({{"field", field.name}, {"value", valid_utf8(field.value)}});
  return fields;
}

std::string key_table(const ActionKey& key) {
  Table table({{"KEY FIELD"}, {"VALUE"}});
  for (const KeyField& field : key.fields()) table.add({field.name, field.value});
  return table.text();
}

Result<ExitCode> show_key(Catalog& catalog, const Digest& digest, const CatalogArguments& arguments,
                          Console& console) {
  TRY(const ActionKey key, catalog.results().find_action(digest));
  TRY(const auto result, catalog.results().lookup(digest));
  if (arguments.json) {
    Json outputs = Json::array();
    if (result) {
      for (const ResultOutput& output : result->outputs) {
        outputs.push_back({{"name", output.name},
                           {"digest", output.digest.text()},
                           {"size_bytes", output.size_bytes}});
      }
    }
    print_json(console, {{"schema", "enginery.catalog.key/1"},
                         {"key", digest.text()},
                         {"fields", key_json(key)},
                         {"present", result.has_value()},
                         {"success", result ? Json(result->success) : Json(nullptr)},
                         {"outputs", outputs}});
    return ExitCode::ok;
  }
  console.print(
      fmt::format("{}  {}\n\n{}", digest.text(),
                  result ? (result->success ? "has a result" : "failed for good") : "has no result",
                  key_table(key)));
  if (result && !result->outcome.empty()) console.print_line("\noutcome " + result->outcome);
  for (const ResultOutput& output : result ? result->outputs : std::vector<ResultOutput>{}) {
    console.print_line(fmt::format("output {} {} {}", output.name, output.digest.text(),
                                   human_bytes(output.size_bytes)));
  }
  return ExitCode::ok;
}

std::string verify_text(const VerifyReport& report) {
  std::string text;
  for (const VerifyProblem& problem : report.problems)
    text += fmt::format("{} {}: {}\n", problem.kind, problem.subject, problem.detail);
  return text +
         fmt::format(
             "{} blobs, {} hashed ({}), {} results, {} engines, {} orphans, {} repaired: {}\n",
             report.blobs, report.blobs_hashed, human_bytes(report.bytes_hashed), report.results,
             report.engines, report.orphans, report.repaired,
             report.clean() ? "clean" : fmt::format("{} problems", report.problems.size()));
}

Json verify_json(const VerifyReport& report) {
  Json problems = Json::array();
  for (const VerifyProblem& problem : report.problems) {
    problems.push_back({{"kind", problem.kind},
                        {"subject", valid_utf8(problem.subject)},
                        {"detail", valid_utf8(problem.detail)}});
  }
  return {{"schema", "enginery.catalog.verify/1"},
          {"clean", report.clean()},
          {"problems", problems},
          {"blobs", report.blobs},
          {"blobs_hashed", report.blobs_hashed},
          {"bytes_hashed", report.bytes_hashed},
          {"results", report.results},
          {"engines", report.engines},
          {"orphans", report.orphans},
          {"repaired", report.repaired}};
}

Result<Digest> blob_of(Catalog& catalog, const CatalogArguments& arguments) {
  TRY(const EngineRow engine, find_engine(catalog, arguments.words.front(), arguments.target));
  return engine.digest;
}

}  // namespace

Result<ExitCode> catalog_ls(Catalog& catalog, const CatalogArguments& arguments, Console& console) {
  CHECK_OK(words_between(arguments, 0, 1, "ls [NAME]"));
  const std::string name = arguments.words.empty() ? "" : arguments.words.front();
  TRY(const auto engines, catalog.engines().list(name, arguments.limit.value_or(1000)));
  TRY(const auto tags, catalog.engines().tags());
  if (arguments.json) {
    Json rows = Json::array();
    Json tag_rows = Json::array();
    for (const EngineRow& engine : engines) rows.push_back(engine_json(engine));
    for (const TagRow& tag : tags) {
      tag_rows.push_back(
          {{"name", tag.name}, {"tag", tag.tag}, {"sku", tag.sku}, {"engine", tag.engine.text()}});
    }
    print_json(console, {{"schema", "enginery.catalog/1"}, {"engines", rows}, {"tags", tag_rows}});
    return ExitCode::ok;
  }
  Table table({{"NAME"},
               {"SKU"},
               {"PRECISION"},
               {"LATENCY ms", Align::right},
               {"SIZE", Align::right},
               {"ENGINE"},
               {"KEY"},
               {"TAGS"},
               {"CREATED"}});
  for (const EngineRow& engine : engines) {
    std::string of_engine = engine.provisional ? "untuned" : "";
    for (const TagRow& tag : tags) {
      if (tag.engine == engine.digest && tag.name == engine.name)
        of_engine += (of_engine.empty() ? "" : " ") + tag.tag;
    }
    table.add({engine.name, engine.sku, engine.precision, human_milliseconds(engine.latency_ms),
               human_bytes(engine.size_bytes), engine.digest.text().substr(0, 19),
               engine.key.text().substr(0, 19), of_engine, human_time(engine.created_ns)});
  }
  if (table.empty()) console.note("no engines yet; the first: enginery build MODEL");
  if (!table.empty()) console.print(table.text());
  return ExitCode::ok;
}

Result<ExitCode> catalog_show(Catalog& catalog, const CatalogArguments& arguments,
                              Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "show ENGINE|KEY"));
  const std::string& word = arguments.words.front();
  const auto engine = find_engine(catalog, word, arguments.target);
  if (!engine.ok()) {
    const auto key = catalog.results().find_key(word);
    if (!key.ok()) return engine.error();
    return show_key(catalog, *key, arguments, console);
  }
  const auto key = catalog.results().find_action(engine->key);
  if (arguments.json) {
    Json json = {{"schema", "enginery.catalog.engine/1"}};
    json.update(engine_json(*engine));
    json["fields"] = key.ok() ? key_json(*key) : Json::array();
    print_json(console, json);
    return ExitCode::ok;
  }
  Table table({{"ENGINE"}, {engine->digest.text()}});
  table.add({"content", engine->content_digest.text()});
  table.add({"name", engine->name});
  table.add({"sku", engine->sku});
  table.add({"precision", engine->precision});
  table.add({"latency", human_milliseconds(engine->latency_ms) + " ms"});
  table.add({"size", human_bytes(engine->size_bytes)});
  table.add({"model", engine->model.text()});
  table.add({"key", engine->key.text()});
  table.add({"created", human_time(engine->created_ns)});
  console.print(table.text());
  if (key.ok()) console.print("\n" + key_table(*key));
  return ExitCode::ok;
}

Result<ExitCode> catalog_verify(Catalog& catalog, const CatalogArguments& arguments,
                                Console& console) {
  CHECK_OK(words_between(arguments, 0, 0, "verify"));
  VerifyOptions options;
  options.rehash_at_most = arguments.rehash.value_or(-1);
  options.seed = static_cast<uint64_t>(catalog.clock().wall_time().count());
  options.repair = arguments.repair;
  TRY(const VerifyReport report, verify(catalog, options));
  if (arguments.json) {
    print_json(console, verify_json(report));
  } else {
    console.print(verify_text(report));
  }
  return report.clean() ? ExitCode::ok : ExitCode::failed;
}

Result<ExitCode> catalog_pin(Catalog& catalog, const CatalogArguments& arguments,
                             Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "pin ENGINE [--reason TEXT]"));
  TRY(const Digest blob, blob_of(catalog, arguments));
  CHECK_OK(catalog.engines().pin(blob, arguments.reason));
  if (arguments.json)
    print_json(console,
               {{"schema", "enginery.catalog.pin/1"}, {"engine", blob.text()}, {"pinned", true}});
  return ExitCode::ok;
}

Result<ExitCode> catalog_unpin(Catalog& catalog, const CatalogArguments& arguments,
                               Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "unpin ENGINE"));
  TRY(const Digest blob, blob_of(catalog, arguments));
  CHECK_OK(catalog.engines().unpin(blob));
  if (arguments.json)
    print_json(console,
               {{"schema", "enginery.catalog.pin/1"}, {"engine", blob.text()}, {"pinned", false}});
  return ExitCode::ok;
}

Result<ExitCode> catalog_tag(Catalog& catalog, const CatalogArguments& arguments,
                             Console& console) {
  CHECK_OK(words_between(arguments, 2, 2, "tag ENGINE TAG [--target SKU]"));
  TRY(const EngineRow engine, find_engine(catalog, arguments.words[0], arguments.target));
  CHECK_OK(catalog.engines().set_tag({engine.name, arguments.words[1], engine.sku, engine.digest}));
  if (arguments.json) {
    print_json(console, {{"schema", "enginery.catalog.tag/1"},
                         {"name", valid_utf8(engine.name)},
                         {"tag", arguments.words[1]},
                         {"sku", engine.sku},
                         {"engine", engine.digest.text()}});
  }
  return ExitCode::ok;
}

}  // namespace enginery
