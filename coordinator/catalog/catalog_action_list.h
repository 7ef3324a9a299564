// The functions behind the rows of catalog_actions.cpp, and what they share. Inside
// coordinator/catalog.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "coordinator/catalog/catalog_actions.h"

namespace enginery {

using CatalogJson = nlohmann::ordered_json;

// An action's input, read. An option that is missing or of another type is nothing, or "".
class CatalogInput {
 public:
  // invalid_argument: the options are no JSON object.
  static Result<CatalogInput> parse(const CatalogCall& call);

  const std::vector<std::string>& words() const { return words_; }
  std::string word(size_t i) const { return i < words_.size() ? words_[i] : ""; }
  std::optional<int64_t> number(const char* name) const;
  std::string text(const char* name) const;
  std::optional<std::vector<std::string>> texts(const char* name) const;
  bool flag(const char* name) const;
  const CatalogJson* find(const char* name) const;  // null: missing

 private:
  std::vector<std::string> words_;
  std::shared_ptr<const CatalogJson> options_;
};

inline constexpr size_t kMaxListed = 1000;  // of a list in a document

using CatalogAct = Result<CatalogJson>(const CatalogAccess&, const CatalogInput&);

// catalog_engines.cpp. option skus: of which the engine is, the first that has one.
CatalogAct list_engines, show_engine, pin_engine, unpin_engine, tag_engine;
// bundle_actions.cpp
CatalogAct bundle_engine, add_bundled_engine;
// catalog_care.cpp
CatalogAct verify_catalog, repair_catalog, collect_catalog;
// calibration_actions.cpp
CatalogAct list_calibrations, export_calibration, import_calibration;
// timing_actions.cpp
CatalogAct list_timings, query_timings, export_timings, import_timings, clear_timings;

}  // namespace enginery
