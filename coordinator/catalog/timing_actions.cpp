// The actions on the timing cache: what was measured on which device, and carrying it from one
// catalog to another.
//
// An export is pages: {"keys": [hex of a key's bytes, ...], "rows": [[device, problem, tactic,
// entry, measured_ns], ...], "next": [device, problem] or null}. An import takes a page.
#include <nlohmann/json.hpp>

#include "coordinator/catalog/catalog_action_list.h"

namespace enginery {
namespace {

constexpr size_t kPageBytes = 300'000;  // of entries; a problem is never divided

std::string field_of(const Result<ActionKey>& key, const char* name) {
  const std::string* value = key.ok() ? key->find(name) : nullptr;
  return value == nullptr ? "" : *value;
}

// The devices of the SKU, or all of them for "".
Result<std::vector<std::pair<Digest, int64_t>>> devices_of(Timings& timings,
                                                           const CatalogInput& input) {
  const std::string sku = input.text("sku");
  TRY(auto devices, timings.devices());
  if (!sku.empty())
    std::erase_if(devices, [&](const auto& device) {
      return field_of(timings.find_key(device.first), "sku") != sku;
    });
  return devices;
}

CatalogJson row_document(const TimingRow& row) {
  return CatalogJson::array(
      {row.device.text(), row.problem.text(), row.tactic, row.entry, row.measured_ns});
}

// A page of one device that begins with the problem.
struct Page {
  CatalogJson keys = CatalogJson::array(), rows = CatalogJson::array();
  size_t bytes = 0;
  Digest problem;              // the latest
  std::optional<Digest> next;  // the first that found no room
};

Status add_key(Timings& timings, const Digest& digest, Page& page) {
  TRY(const ActionKey key, timings.find_key(digest));
  page.keys.push_back(to_hex(as_bytes(key.bytes())));
  return {};
}

Result<Page> page_of(Timings& timings, const Digest& device, const Digest& first) {
  Page page;
  std::vector<Digest> problems;
  const auto take = [&](const TimingRow& row) {
    if (page.rows.empty() || row.problem != page.problem) {
      if (page.bytes > kPageBytes) {
        page.next = row.problem;
        return false;
      }
      page.problem = row.problem;
      problems.push_back(row.problem);
    }
    page.bytes += row.entry.size() + row.tactic.size() + 200;
    page.rows.push_back(row_document(row));
    return true;
  };
  CHECK_OK(timings.from_problem(device, first, take));
  CHECK_OK(add_key(timings, device, page));
  for (const Digest& problem : problems) CHECK_OK(add_key(timings, problem, page));
  return page;
}

Result<TimingRow> timing_row_of(const CatalogJson& document) {
  TimingRow row;
  try {
    TRY(row.device, Digest::parse(document.at(0).get<std::string>()));
    TRY(row.problem, Digest::parse(document.at(1).get<std::string>()));
    row.tactic = document.at(2).get<std::string>();
    row.entry = document.at(3).get<std::string>();
    row.measured_ns = document.at(4).get<int64_t>();
  } catch (const CatalogJson::exception&) {
    return Error{ErrorCode::corrupt_data,
                 "timings: a row is not [device, problem, tactic, entry, time]"};
  }
  return row;
}

}  // namespace

Result<CatalogJson> list_timings(const CatalogAccess& access, const CatalogInput& input) {
  Timings& timings = access.reader.timings();
  TRY(const auto devices, devices_of(timings, input));
  CatalogJson rows = CatalogJson::array();
  for (const auto& [digest, count] : devices) {
    const auto key = timings.find_key(digest);
    CatalogJson fields = CatalogJson::object();
    if (key.ok())
      for (const KeyField& field : key->fields()) fields[field.name] = field.value;
    rows.push_back({{"device", digest.text()},
                    {"sku", field_of(key, "sku")},
                    {"timings", count},
                    {"fields", fields}});
  }
  return CatalogJson{{"schema", "enginery.cache.timing/1"}, {"devices", rows}};
}

// The problems whose text contains the word, with what was measured.
Result<CatalogJson> query_timings(const CatalogAccess& access, const CatalogInput& input) {
  Timings& timings = access.reader.timings();
  const auto limit = static_cast<size_t>(input.number("limit").value_or(50));
  TRY(const auto devices, devices_of(timings, input));
  CatalogJson found = CatalogJson::array();
  for (const auto& [device, count] : devices) {
    const std::string sku = field_of(timings.find_key(device), "sku");
    Digest latest;
    std::string problem;
    const auto take = [&](const TimingRow& row) {
      if (row.problem != latest || problem.empty()) {
        problem = field_of(timings.find_key(row.problem), "problem");
        latest = row.problem;
      }
      if (problem.find(input.word(0)) == std::string::npos) return true;
      found.push_back({{"sku", sku},
                       {"problem", problem},
                       {"tactic", row.tactic},
                       {"measured", row.measured_ns},
                       {"entry", CatalogJson::parse(row.entry, nullptr, false)}});
      return found.size() < limit;
    };
    if (found.size() < limit) CHECK_OK(timings.from_problem(device, Digest{}, take));
  }
  return CatalogJson{{"schema", "enginery.cache.timing.query/1"}, {"timings", found}};
}

// words: the device and the problem that the page before ended at.
Result<CatalogJson> export_timings(const CatalogAccess& access, const CatalogInput& input) {
  Timings& timings = access.reader.timings();
  TRY(const auto devices, devices_of(timings, input));
  Digest device, problem;
  if (input.words().size() >= 2) {
    TRY(device, Digest::parse(input.word(0)));
    TRY(problem, Digest::parse(input.word(1)));
  }
  for (auto at = devices.begin(); at != devices.end(); ++at) {
    if (at->first < device) continue;
    TRY(const Page page, page_of(timings, at->first, at->first == device ? problem : Digest{}));
    CatalogJson next = nullptr;
    if (page.next)
      next = {at->first.text(), page.next->text()};
    else if (std::next(at) != devices.end())
      next = {std::next(at)->first.text(), Digest{}.text()};
    return CatalogJson{{"schema", "enginery.cache.timing.page/1"},
                       {"keys", page.keys},
                       {"rows", page.rows},
                       {"next", next}};
  }
  return CatalogJson{{"schema", "enginery.cache.timing.page/1"},
                     {"keys", CatalogJson::array()},
                     {"rows", CatalogJson::array()},
                     {"next", nullptr}};
}

Result<CatalogJson> import_timings(const CatalogAccess& access, const CatalogInput& input) {
  Timings& timings = access.catalog.timings();
  const auto keys = input.texts("keys");
  const CatalogJson* documents = input.find("rows");
  if (!keys || documents == nullptr || !documents->is_array())
    return Error{ErrorCode::corrupt_data, "timings: a page has keys and rows"};
  std::vector<TimingRow> rows;
  for (const CatalogJson& document : *documents) {
    TRY(TimingRow row, timing_row_of(document));
    rows.push_back(std::move(row));
  }
  TRY(Transaction transaction, Transaction::begin(access.catalog.database()));
  for (const std::string& hex : *keys) {
    TRY(const Bytes bytes, from_hex(hex));
    TRY(const ActionKey key, ActionKey::parse(bytes));
    CHECK_OK(timings.record_key(key));
  }
  TRY(const int64_t stored, timings.put(rows));
  CHECK_OK(transaction.commit());
  return CatalogJson{
      {"schema", "enginery.cache.timing.import/1"}, {"rows", rows.size()}, {"stored", stored}};
}

Result<CatalogJson> clear_timings(const CatalogAccess& access, const CatalogInput& input) {
  TRY(const auto devices, devices_of(access.catalog.timings(), input));
  int64_t removed = 0;
  for (const auto& [device, count] : devices) {
    TRY(const int64_t rows, access.catalog.timings().clear(device));
    removed += rows;
  }
  return CatalogJson{{"schema", "enginery.cache.timing.clear/1"},
                     {"devices", devices.size()},
                     {"removed", removed}};
}

}  // namespace enginery
