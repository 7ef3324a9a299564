// The actions on calibrations: which histograms there are, and carrying one to another catalog: the
// key's bytes and the histograms, both as hex.
#include <nlohmann/json.hpp>

#include "coordinator/catalog/catalog_action_list.h"

namespace enginery {
namespace {

CatalogJson by_name(const std::vector<KeyField>& fields) {
  CatalogJson out = CatalogJson::object();
  for (const KeyField& field : fields) out[field.name] = field.value;
  return out;
}

Result<Bytes> hex_named(const CatalogInput& input, const char* name) {
  auto bytes = from_hex(input.text(name));
  if (bytes) return std::move(*bytes);
  return Error{ErrorCode::corrupt_data, std::string("calibration: its ") + name + " is no hex"};
}

}  // namespace

Result<CatalogJson> list_calibrations(const CatalogAccess& access, const CatalogInput&) {
  TRY(const auto rows, access.reader.calibrations().list());
  CatalogJson list = CatalogJson::array();
  for (const CalibrationRow& row : rows) {
    if (list.size() == kMaxListed) break;
    list.push_back({{"key", row.digest.text()},
                    {"histograms", row.histograms.text()},
                    {"created", row.created_ns},
                    {"fields", by_name(row.key.fields())}});
  }
  return CatalogJson{
      {"schema", "enginery.cache.calibration/1"}, {"total", rows.size()}, {"calibrations", list}};
}

Result<CatalogJson> export_calibration(const CatalogAccess& access, const CatalogInput& input) {
  TRY(const Digest wanted, Digest::parse(input.word(0)));
  TRY(const auto rows, access.reader.calibrations().list());
  for (const CalibrationRow& row : rows) {
    if (row.digest != wanted) continue;
    TRY(const Bytes histograms, access.reader.blobs().get(row.histograms));
    return CatalogJson{{"key", to_hex(as_bytes(row.key.bytes()))},
                       {"histograms", to_hex(as_bytes(histograms))}};
  }
  return Error{ErrorCode::not_found,
               "calibration " + wanted.text() + ": not in the catalog (cache calibration ls)"};
}

Result<CatalogJson> import_calibration(const CatalogAccess& access, const CatalogInput& input) {
  TRY(const Bytes key_bytes, hex_named(input, "key"));
  TRY(const Bytes histograms, hex_named(input, "histograms"));
  auto key = ActionKey::parse(key_bytes);
  if (!key.ok()) return key.error().within("calibration");
  if (key->kind() != "calibrate")
    return Error{ErrorCode::corrupt_data, "calibration: its key is of a " + key->kind()};
  TRY(const auto known, access.catalog.calibrations().find(key->digest()));
  const bool is_new = known != sha256(histograms);
  if (is_new) {
    TRY(const Digest digest, access.catalog.blobs().put(as_bytes(histograms)));
    CHECK_OK(access.catalog.calibrations().put(*key, digest));
  }
  return CatalogJson{{"schema", "enginery.cache.calibration.import/1"},
                     {"key", key->digest().text()},
                     {"stored", is_new ? 1 : 0}};
}

}  // namespace enginery
