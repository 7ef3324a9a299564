#include "coordinator/catalog/catalog_actions.h"

#include <nlohmann/json.hpp>

#include "coordinator/catalog/catalog_action_list.h"

namespace enginery {
namespace {

using enum CatalogActionKind;

// What it tells of: what has a trust domain, or what all share (every blob, every timing), which is
// for the default domain's keys and for those who see all.
enum class Scope : uint8_t { domain, shared };

// How to add one: a row, and its function.
struct Row {
  const char* name;
  CatalogActionKind kind;
  Scope scope;
  size_t words;  // at least so many
  CatalogAct* act;
};
constexpr Row kRows[] = {
    {"ls", question, Scope::domain, 0, list_engines},
    {"show", question, Scope::domain, 1, show_engine},
    {"verify", long_question, Scope::shared, 0, verify_catalog},
    {"repair", order, Scope::shared, 0, repair_catalog},
    {"gc", order, Scope::shared, 0, collect_catalog},
    {"pin", order, Scope::domain, 1, pin_engine},
    {"unpin", order, Scope::domain, 1, unpin_engine},
    {"tag", order, Scope::domain, 2, tag_engine},
    {"bundle-engine", question, Scope::domain, 1, bundle_engine},
    {"bundle-add", order, Scope::domain, 0, add_bundled_engine},
    {"timing-ls", question, Scope::domain, 0, list_timings},  // names devices, no problems
    {"timing-query", question, Scope::shared, 1, query_timings},
    {"timing-export", question, Scope::shared, 0, export_timings},
    {"timing-import", order, Scope::shared, 0, import_timings},
    {"timing-clear", order, Scope::shared, 0, clear_timings},
    {"calibration-ls", question, Scope::shared, 0, list_calibrations},
    {"calibration-export", question, Scope::shared, 1, export_calibration},
    {"calibration-import", order, Scope::shared, 0, import_calibration},
};

const Row* row_of(const std::string& action) {
  for (const Row& row : kRows)
    if (action == row.name) return &row;
  return nullptr;
}

Error bad_call(const CatalogCall& call, const char* why) {
  return {ErrorCode::invalid_argument, "catalog: '" + call.action.substr(0, 40) + "' " + why};
}

Status check_scope(const Row& row, const DomainSight& sight) {
  if (row.scope == Scope::domain || sight.sees(kTrustDomain)) return {};
  return Error{ErrorCode::untrusted, "catalog: '" + std::string(row.name) +
                                         "' shows what all tenants share, and your key is of the "
                                         "tenant '" +
                                         sight.own +
                                         "'; it is for keys without a tenant and for admins"};
}

}  // namespace

CatalogActionKind kind_of_action(const std::string& action) {
  const Row* row = row_of(action);
  return row == nullptr ? question : row->kind;
}

Result<std::string> carry_out(const CatalogAccess& access, const CatalogCall& call) {
  const Row* row = row_of(call.action);
  if (row == nullptr) return bad_call(call, "is nothing that this version can do");
  if (call.words.size() < row->words) return bad_call(call, "needs a word more");
  CHECK_OK(check_scope(*row, access.sight));
  TRY(const CatalogInput input, CatalogInput::parse(call));
  TRY(const CatalogJson document, row->act(access, input));
  return document.dump(-1, ' ', false, CatalogJson::error_handler_t::replace);
}

}  // namespace enginery
