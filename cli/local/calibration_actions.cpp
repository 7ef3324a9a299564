// `enginery cache calibration ACTION`: histograms that builds have collected, carrying them to
// another catalog, and shards of data made one.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "cache/action_key.h"
#include "cli/local/catalog_actions.h"
#include "cli/output/output_file.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "engine/base/file.h"
#include "tuner/calibrate/histogram_set.h"

namespace enginery {
namespace {

constexpr const char* kCalibrationsSchema = "enginery.calibration-export/1";

// Of an exported calibration. Errors: corrupt_data.
Result<HistogramSet> histograms_in(const Json& calibration) {
  const auto text = calibration.find("histograms");
  const bool is_text = text != calibration.end() && text->is_string();
  const auto bytes = from_hex(is_text ? text->get<std::string>() : "");
  if (bytes) {
    auto set = decode_histogram_set(*bytes);
    if (set.ok()) return set;
  }
  return Error{ErrorCode::corrupt_data, "a calibration in it has no histograms"};
}

// Nothing where it is no export.
std::optional<Json> calibrations_in(const Bytes& text) {
  Json document = Json::parse(text, nullptr, false);
  if (!is_document(document, kCalibrationsSchema) || !document.contains("calibrations")) return {};
  return std::move(document["calibrations"]);
}

// A file of histograms, or an export of one calibration.
Result<HistogramSet> read_shard(const std::string& file) {
  TRY(const Bytes bytes, read_file(file));
  const auto exported = calibrations_in(bytes);
  if (exported && exported->size() != 1)
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: {} are in it, and one is merged: cache calibration export FILE "
                             "KEY writes one",
                             file, counted(exported->size(), "calibration"))};
  auto set = exported ? histograms_in(exported->front()) : decode_histogram_set(bytes);
  if (!set) return set.error().within(file);
  return set;
}

// The keys after the file's name, or those of all calibrations.
Result<std::vector<std::string>> keys_to_export(const CatalogDoor& door,
                                                const CatalogArguments& arguments) {
  if (arguments.words.size() > 1)
    return std::vector<std::string>(arguments.words.begin() + 1, arguments.words.end());
  TRY(const Json document, door("calibration-ls", {}, Json::object()));
  std::vector<std::string> out;
  for (const Json& row : document["calibrations"]) out.push_back(row.value("key", ""));
  return out;
}

// What is no set of histograms, or has no key, never becomes an answer.
Status check_entry(const Json& calibration) {
  TRY([[maybe_unused]] const HistogramSet set, histograms_in(calibration));
  const auto text = calibration.find("key");
  const bool is_text = text != calibration.end() && text->is_string();
  const auto bytes = from_hex(is_text ? text->get<std::string>() : "");
  if (bytes && ActionKey::parse(*bytes).ok()) return {};
  return Error{ErrorCode::corrupt_data, "a calibration in it has no key"};
}

}  // namespace

Result<ExitCode> calibration_ls(const CatalogDoor& door, const CatalogArguments& arguments,
                                Console& console) {
  CHECK_OK(words_between(arguments, 0, 0, "cache calibration ls"));
  TRY(Json document, door("calibration-ls", {}, Json::object()));
  if (arguments.json) {
    for (Json& row : document["calibrations"])
      row["created"] = json_time(row["created"].get<int64_t>());
    print_json(console, document);
    return ExitCode::ok;
  }
  Table table({{"KEY"}, {"HISTOGRAMS"}, {"MODEL"}, {"DATA"}, {"ROWS", Align::right}});
  for (const Json& row : document["calibrations"]) {
    const Json& fields = row["fields"];
    // A farm's data comes prepared, as one blob, and all of it is run.
    const std::string data = fields.value("data", fields.value("calib_data", ""));
    const std::string rows = fields.value("rows", "0");
    table.add({row.value("key", ""), row.value("histograms", "").substr(0, 19),
               fields.value("model", "").substr(0, 19), data.substr(0, 19),
               rows == "0" ? "all" : rows});
  }
  if (table.empty()) console.note("no build has calibrated yet; --calib-data does");
  if (!table.empty()) console.print(table.text(console.table_width()));
  return ExitCode::ok;
}

Result<ExitCode> calibration_export(const CatalogDoor& door, const CatalogArguments& arguments,
                                    Console& console) {
  CHECK_OK(words_between(arguments, 1, SIZE_MAX, "cache calibration export FILE [KEY...]"));
  CHECK_OK(check_output_file(arguments.words[0], documents_of(kCalibrationsSchema)));
  TRY(const std::vector<std::string> keys, keys_to_export(door, arguments));
  Json calibrations = Json::array();
  for (const std::string& key : keys) {
    TRY(Json one, door("calibration-export", {key}, Json::object()));
    calibrations.push_back(std::move(one));
  }
  const size_t count = calibrations.size();
  const Json document = {{"schema", kCalibrationsSchema},
                         {"calibrations", std::move(calibrations)}};
  CHECK_OK(write_output_file(arguments.words[0], document.dump() + "\n"));
  if (arguments.json)
    print_json(console, {{"schema", "enginery.cache.calibration.export/1"},
                         {"file", valid_utf8(arguments.words[0])},
                         {"calibrations", count}});
  else
    console.note(
        fmt::format("{} written to {}", counted(count, "calibration"), arguments.words[0]));
  return ExitCode::ok;
}

Result<ExitCode> calibration_import(const CatalogDoor& door, const CatalogArguments& arguments,
                                    Console& console) {
  CHECK_OK(words_between(arguments, 1, 1, "cache calibration import FILE"));
  TRY(const Bytes text, read_file(arguments.words[0]));
  const auto calibrations = calibrations_in(text);
  if (!calibrations)
    return Error{ErrorCode::corrupt_data, arguments.words[0] +
                                              ": not an export of calibrations (enginery cache "
                                              "calibration export FILE writes one)"};
  // All of them before the first is stored.
  for (const Json& calibration : *calibrations) {
    const Status sound = check_entry(calibration);
    if (!sound.ok()) return sound.error().within(arguments.words[0]);
  }
  uint64_t read = 0, stored = 0;
  for (const Json& calibration : *calibrations) {
    TRY(const Json answer, door("calibration-import", {}, calibration));
    ++read;
    stored += answer.value("stored", uint64_t{0});
  }
  if (arguments.json)
    print_json(console, {{"schema", "enginery.cache.calibration.import/1"},
                         {"calibrations", read},
                         {"stored", stored}});
  else
    console.note(fmt::format("{} read, {} of them new", counted(read, "calibration"), stored));
  return ExitCode::ok;
}

Result<ExitCode> calibration_merge(const CatalogDoor&, const CatalogArguments& arguments,
                                   Console& console) {
  CHECK_OK(words_between(arguments, 2, SIZE_MAX, "cache calibration merge FILE SHARD..."));
  CHECK_OK(check_output_file(arguments.words[0], files_that_begin_with("ENGHIST")));
  HistogramSet merged;
  for (size_t i = 1; i < arguments.words.size(); ++i) {
    TRY(const HistogramSet shard, read_shard(arguments.words[i]));
    const Status added = merged.merge(shard);
    if (!added.ok()) return added.error().within(arguments.words[i]);
  }
  CHECK_OK(write_output_file(arguments.words[0], encode(merged)));
  if (arguments.json)
    print_json(console, {{"schema", "enginery.cache.calibration.merge/1"},
                         {"file", valid_utf8(arguments.words[0])},
                         {"histograms", merged.digest().text()},
                         {"samples", merged.samples}});
  else
    console.note(fmt::format("{} of {} written to {}", counted(merged.samples, "row"),
                             counted(arguments.words.size() - 1, "shard"), arguments.words[0]));
  return ExitCode::ok;
}

}  // namespace enginery
