#include "cli/local/catalog_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/local/catalog_pages.h"
#include "cli/options/targets.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "engine/base/did_you_mean.h"
#include "engine/device/sku_table.h"

namespace enginery {
namespace {

// The times of the document as people and scripts read them.
void write_times(Json& document) {
  if (document.contains("created"))
    document["created"] = json_time(document["created"].get<int64_t>());
}

std::string text_of(const Json& document, const char* field) {
  const auto found = document.find(field);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}
uint64_t number_of(const Json& document, const char* field) {
  return document.value(field, uint64_t{0});
}
double latency_of(const Json& engine) {
  return engine["latency_ms"].is_number() ? engine["latency_ms"].get<double>() : 0;
}

double load_of(const Json& engine) {
  const auto found = engine.find("foreign_load");
  return found != engine.end() && found->is_number() ? found->get<double>() : 0;
}
// Marked where the device was not ours alone; engines_text says what the mark means.
std::string marked_latency(const Json& engine) {
  return human_milliseconds(latency_of(engine)) + (load_remark(load_of(engine)).empty() ? "" : "!");
}

std::string key_table(const Json& fields) {
  Table table({{"KEY FIELD"}, {"VALUE"}});
  for (const Json& field : fields) table.add({text_of(field, "field"), text_of(field, "value")});
  return table.text();
}

std::string key_text(const Json& document) {
  const bool present = document["present"].get<bool>();
  std::string text = fmt::format("{}  {}\n\n{}", text_of(document, "key"),
                                 !present                      ? "has no result"
                                 : document["success"] == true ? "has a result"
                                                               : "failed for good",
                                 key_table(document["fields"]));
  if (!text_of(document, "outcome").empty())
    text += "\noutcome " + text_of(document, "outcome") + "\n";
  for (const Json& output : document["outputs"])
    text += fmt::format("output {} {} {}\n", text_of(output, "name"), text_of(output, "digest"),
                        human_bytes(number_of(output, "size_bytes")));
  return text;
}

std::string shown_engine(const Json& engine) {
  Table table({{"ENGINE"}, {text_of(engine, "engine")}});
  table.add({"content", text_of(engine, "content_digest")});
  table.add({"name", text_of(engine, "name")});
  table.add({"sku", text_of(engine, "sku")});
  table.add({"precision", text_of(engine, "precision")});
  const std::string remark = load_remark(load_of(engine));
  table.add({"latency", human_milliseconds(latency_of(engine)) + " ms" +
                            (remark.empty() ? "" : ", " + remark)});
  table.add({"size", human_bytes(number_of(engine, "size_bytes"))});
  table.add({"model", text_of(engine, "model")});
  table.add({"key", text_of(engine, "key")});
  table.add({"created", human_time(engine["created"].get<int64_t>())});
  return table.text() + (engine["fields"].empty() ? "" : "\n" + key_table(engine["fields"]));
}

std::string tags_of(const Json& engine, const Json& tags) {
  std::string text = engine["provisional"] == true ? "untuned" : "";
  for (const Json& tag : tags) {
    if (tag["engine"] == engine["engine"] && tag["name"] == engine["name"])
      text += (text.empty() ? "" : " ") + text_of(tag, "tag");
  }
  return text;
}

std::string engines_text(const Json& document, int columns) {
  Table table({{"NAME"},
               {"SKU"},
               {"PRECISION"},
               {"LATENCY ms", Align::right},
               {"SIZE", Align::right},
               {"ENGINE"},
               {"KEY"},
               {"TAGS"},
               {"CREATED"}});
  for (const Json& engine : document["engines"])
    table.add({text_of(engine, "name"), text_of(engine, "sku"), text_of(engine, "precision"),
               marked_latency(engine), human_bytes(number_of(engine, "size_bytes")),
               text_of(engine, "engine").substr(0, 19), text_of(engine, "key").substr(0, 19),
               tags_of(engine, document["tags"]), human_time(engine["created"].get<int64_t>())});
  if (table.empty()) return "";
  const bool some_marked =
      std::any_of(document["engines"].begin(), document["engines"].end(),
                  [](const Json& engine) { return !load_remark(load_of(engine)).empty(); });
  return table.text(columns) +
         (some_marked ? "! measured while other programs used the device: catalog show says how "
                        "much, build --rebuild measures again\n"
                      : "");
}

std::string verify_text(const Json& report) {
  std::string text;
  for (const Json& problem : report["problems"])
    text += fmt::format("{} {}: {}\n", text_of(problem, "kind"), text_of(problem, "subject"),
                        text_of(problem, "detail"));
  return text +
         fmt::format("{}, {} hashed ({}), {}, {}, {}, {} repaired: {}\n",
                     counted(number_of(report, "blobs"), "blob"), number_of(report, "blobs_hashed"),
                     human_bytes(number_of(report, "bytes_hashed")),
                     counted(number_of(report, "results"), "result"),
                     counted(number_of(report, "engines"), "engine"),
                     counted(number_of(report, "orphans"), "orphan"), number_of(report, "repaired"),
                     report["clean"] == true
                         ? "clean"
                         : counted(number_of(report, "problem_count"), "problem"));
}

// not_found, with the names that are there.
Error nothing_named(const CatalogDoor& door, const std::string& name) {
  Error error{ErrorCode::not_found, "the catalog has no engine called " + name};
  const Result<Json> all = list_all_engines(door, "", std::nullopt);
  std::vector<std::string> names;
  for (const Json& engine : all.ok() ? (*all)["engines"] : Json::array()) {
    const std::string one = text_of(engine, "name");
    if (std::find(names.begin(), names.end(), one) == names.end()) names.push_back(one);
  }
  error.message += did_you_mean(name, names) + " (enginery catalog ls lists them)";
  return error;
}

Result<ExitCode> pin_or_unpin(const char* action, const CatalogDoor& door,
                              const CatalogArguments& arguments, Console& console) {
  TRY(Json options, sku_options(arguments));
  if (!arguments.reason.empty()) options["reason"] = arguments.reason;
  TRY(const Json document, door(action, arguments.words, options));
  if (arguments.json) print_json(console, document);
  return ExitCode::ok;
}

}  // namespace

Result<ExitCode> act_on_catalog(const std::vector<CatalogAction>& actions, const std::string& name,
                                std::string_view help, const CatalogOptionsOfVerb& where,
                                const CatalogArguments& arguments, Console& console) {
  std::vector<std::string> names;
  for (const CatalogAction& action : actions) {
    names.push_back(action.name);
    if (action.name != name) continue;
    const bool makes_one = name == "import" || name == "merge";
    const NoCatalog none = makes_one ? NoCatalog::is_made : NoCatalog::is_an_error;
    TRY(const CatalogDoor door, open_door(where, none));
    return action.act(door, arguments, console);
  }
  return Error{ErrorCode::usage,
               fmt::format("unknown action '{}'{} ({})", name, did_you_mean(name, names), help)};
}

Result<Json> sku_options(const CatalogArguments& arguments) {
  Json skus = Json::array();
  if (!arguments.target.empty()) {
    TRY(const std::vector<std::string> named, resolve_targets({arguments.target}));
    for (const std::string& sku : named) skus.push_back(sku);
  } else {
    for (const LocalSku& local : local_skus()) skus.push_back(local.name);
  }
  return Json{{"skus", skus}};
}

Status words_between(const CatalogArguments& arguments, size_t min, size_t max,
                     std::string_view shape) {
  if (arguments.words.size() >= min && arguments.words.size() <= max) return {};
  return Error{ErrorCode::usage, fmt::format("expected: enginery {}", shape)};
}

Result<ExitCode> catalog_ls(const CatalogDoor& door, const CatalogArguments& arguments,
                            Console& console) {
  CHECK_OK(words_between(arguments, 0, 1, "catalog ls [NAME]"));
  const std::string name = arguments.words.empty() ? "" : arguments.words[0];
  TRY(Json document, list_all_engines(door, name, arguments.limit));
  if (document["engines"].empty() && !arguments.words.empty() && !arguments.json)
    return nothing_named(door, arguments.words.front());
  if (document["engines"].empty() && !arguments.json)
    console.note("no engines yet; the first: enginery build MODEL");
  if (!arguments.json) console.print(engines_text(document, console.table_width()));
  for (Json& engine : document["engines"]) write_times(engine);
  if (arguments.json) print_json(console, document);
  return ExitCode::ok;
}

Result<ExitCode> catalog_show(const CatalogDoor& door, const CatalogArguments& arguments,
                              Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "catalog show ENGINE|KEY"));
  TRY(const Json options, sku_options(arguments));
  TRY(Json document, door("show", arguments.words, options));
  if (arguments.json) {
    write_times(document);
    print_json(console, document);
  } else {
    console.print(document.contains("present") ? key_text(document) : shown_engine(document));
  }
  return ExitCode::ok;
}

Result<ExitCode> catalog_verify(const CatalogDoor& door, const CatalogArguments& arguments,
                                Console& console) {
  CHECK_OK(words_between(arguments, 0, 0, "catalog verify"));
  Json options = Json::object();
  if (arguments.rehash) options["rehash"] = *arguments.rehash;
  TRY(const Json document, door(arguments.repair ? "repair" : "verify", {}, options));
  if (arguments.json)
    print_json(console, document);
  else
    console.print(verify_text(document));
  return document["clean"] == true ? ExitCode::ok : ExitCode::failed;
}

Result<ExitCode> catalog_pin(const CatalogDoor& door, const CatalogArguments& arguments,
                             Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "catalog pin ENGINE [--reason TEXT]"));
  return pin_or_unpin("pin", door, arguments, console);
}

Result<ExitCode> catalog_unpin(const CatalogDoor& door, const CatalogArguments& arguments,
                               Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "catalog unpin ENGINE"));
  return pin_or_unpin("unpin", door, arguments, console);
}

Result<ExitCode> catalog_tag(const CatalogDoor& door, const CatalogArguments& arguments,
                             Console& console) {
  CHECK_OK(words_between(arguments, 2, 2, "catalog tag ENGINE TAG [--target SKU]"));
  TRY(const Json options, sku_options(arguments));
  TRY(const Json document, door("tag", arguments.words, options));
  if (arguments.json) print_json(console, document);
  return ExitCode::ok;
}

}  // namespace enginery
