#include "coordinator/catalog/catalog_actions.h"

#include <nlohmann/json.hpp>

#include "coordinator/catalog/catalog_action_list.h"

namespace enginery {
namespace {

using enum CatalogActionKind;

// How to add one: a row, and its function.
struct Row {
  const char* name;
  CatalogActionKind kind;
  size_t words;  // at least so many
  CatalogAct* act;
};
constexpr Row kRows[] = {
    {"ls", question, 0, list_engines},
    {"show", question, 1, show_engine},
    {"verify", long_question, 0, verify_catalog},
    {"repair", order, 0, repair_catalog},
    {"gc", order, 0, collect_catalog},
    {"pin", order, 1, pin_engine},
    {"unpin", order, 1, unpin_engine},
    {"tag", order, 2, tag_engine},
    {"bundle-engine", question, 1, bundle_engine},
    {"bundle-add", order, 0, add_bundled_engine},
    {"timing-ls", question, 0, list_timings},
    {"timing-query", question, 1, query_timings},
    {"timing-export", question, 0, export_timings},
    {"timing-import", order, 0, import_timings},
    {"timing-clear", order, 0, clear_timings},
};

const Row* row_of(const std::string& action) {
  for (const Row& row : kRows)
    if (action == row.name) return &row;
  return nullptr;
}

Error bad_call(const CatalogCall& call, const char* why) {
  return {ErrorCode::invalid_argument, "catalog: '" + call.action.substr(0, 40) + "' " + why};
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
  TRY(const CatalogInput input, CatalogInput::parse(call));
  TRY(const CatalogJson document, row->act(access, input));
  return document.dump(-1, ' ', false, CatalogJson::error_handler_t::replace);
}

}  // namespace enginery
