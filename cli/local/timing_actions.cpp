// `enginery cache timing ACTION`: what was measured, and carrying it to another catalog.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/local/catalog_actions.h"
#include "cli/output/output_file.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

constexpr const char* kExportSchema = "enginery.timing-export/1";

Json sku_option(const CatalogArguments& arguments) {
  return arguments.target.empty() ? Json::object() : Json{{"sku", arguments.target}};
}

}  // namespace

Result<ExitCode> timing_ls(const CatalogDoor& door, const CatalogArguments& arguments,
                           Console& console) {
  CHECK_OK(words_between(arguments, 0, 0, "cache timing ls [--target SKU]"));
  TRY(const Json document, door("timing-ls", {}, sku_option(arguments)));
  if (arguments.json) {
    print_json(console, document);
    return ExitCode::ok;
  }
  Table table({{"SKU"}, {"TIMINGS", Align::right}, {"DEVICE KEY"}, {"DEVICE"}});
  for (const Json& device : document["devices"]) {
    const Json& fields = device["fields"];
    table.add({device.value("sku", ""), std::to_string(device.value("timings", 0)),
               device.value("device", "").substr(0, 19),
               fields.value("device", fields.value("name", ""))});
  }
  if (table.empty()) console.note("nothing has been measured yet; a build does it");
  if (!table.empty()) console.print(table.text(console.table_width()));
  return ExitCode::ok;
}

Result<ExitCode> timing_query(const CatalogDoor& door, const CatalogArguments& arguments,
                              Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "cache timing query TEXT [--target SKU] [--limit N]"));
  Json options = sku_option(arguments);
  options["limit"] = arguments.limit.value_or(50);
  TRY(Json document, door("timing-query", arguments.words, options));
  if (arguments.json) {
    for (Json& timing : document["timings"])
      timing["measured"] = json_time(timing["measured"].get<int64_t>());
    print_json(console, document);
    return ExitCode::ok;
  }
  Table table({{"SKU"}, {"MEDIAN us", Align::right}, {"TACTIC"}, {"PROBLEM"}});
  for (const Json& timing : document["timings"]) {
    const Json& entry = timing["entry"];
    const auto median = entry.is_object() ? entry.find("median_us") : entry.end();
    const bool measured = entry.is_object() && median != entry.end() && median->is_number();
    table.add({timing.value("sku", ""),
               measured ? fmt::format("{:.2f}", median->get<double>()) : "failed",
               timing.value("tactic", ""), timing.value("problem", "")});
  }
  if (table.empty()) console.note("no timing's problem contains this text");
  if (!table.empty()) console.print(table.text(console.table_width()));
  return ExitCode::ok;
}

Result<ExitCode> timing_export(const CatalogDoor& door, const CatalogArguments& arguments,
                               Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "cache timing export FILE [--target SKU]"));
  CHECK_OK(check_output_file(arguments.words[0], documents_of(kExportSchema)));
  Json pages = Json::array();
  size_t rows = 0;
  std::vector<std::string> from;
  while (true) {
    TRY(Json page, door("timing-export", from, sku_option(arguments)));
    rows += page["rows"].size();
    const Json next = page["next"];
    page.erase("next");
    page.erase("schema");
    pages.push_back(std::move(page));
    if (!next.is_array()) break;
    from = next.get<std::vector<std::string>>();
  }
  const Json document = {{"schema", kExportSchema}, {"pages", pages}};
  CHECK_OK(write_output_file(arguments.words[0], document.dump() + "\n"));
  if (arguments.json)
    print_json(console, {{"schema", "enginery.cache.timing.export/1"},
                         {"file", valid_utf8(arguments.words[0])},
                         {"rows", rows}});
  else
    console.note(fmt::format("{} written to {}", counted(rows, "timing"), arguments.words[0]));
  return ExitCode::ok;
}

Result<ExitCode> timing_import(const CatalogDoor& door, const CatalogArguments& arguments,
                               Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "cache timing import FILE"));
  TRY(const Bytes text, read_file(arguments.words[0]));
  const Json document = Json::parse(text, nullptr, false);
  if (!is_document(document, kExportSchema) || !document.contains("pages"))
    return Error{ErrorCode::corrupt_data, arguments.words[0] +
                                              ": not an export of timings (enginery cache timing "
                                              "export FILE writes one)"};
  uint64_t rows = 0, stored = 0;
  for (const Json& page : document["pages"]) {
    TRY(const Json answer, door("timing-import", {}, page));
    rows += answer.value("rows", uint64_t{0});
    stored += answer.value("stored", uint64_t{0});
  }
  if (arguments.json)
    print_json(console,
               {{"schema", "enginery.cache.timing.import/1"}, {"rows", rows}, {"stored", stored}});
  else
    console.note(fmt::format("{} read, {} of them newer than what was there",
                             counted(rows, "timing"), stored));
  return ExitCode::ok;
}

Result<ExitCode> timing_clear(const CatalogDoor& door, const CatalogArguments& arguments,
                              Console& console) {
  CHECK_OK(words_between(arguments, 0, 0, "cache timing clear [--target SKU]"));
  TRY(const Json document, door("timing-clear", {}, sku_option(arguments)));
  if (arguments.json)
    print_json(console, document);
  else
    console.note(fmt::format("{} of {} {} gone; the next build measures anew",
                             counted(document.value("removed", uint64_t{0}), "timing"),
                             counted(document.value("devices", uint64_t{0}), "device"),
                             document.value("removed", uint64_t{0}) == 1 ? "is" : "are"));
  return ExitCode::ok;
}

}  // namespace enginery
