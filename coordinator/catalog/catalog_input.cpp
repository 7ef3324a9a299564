#include <nlohmann/json.hpp>

#include "coordinator/catalog/catalog_action_list.h"

namespace enginery {
namespace {

template <typename T>
std::optional<T> option(const CatalogJson* value) {
  if (value == nullptr) return std::nullopt;
  try {
    return value->get<T>();
  } catch (const CatalogJson::exception&) {
    return std::nullopt;
  }
}

}  // namespace

Result<CatalogInput> CatalogInput::parse(const CatalogCall& call) {
  CatalogJson options = CatalogJson::object();
  if (!call.options.empty()) options = CatalogJson::parse(call.options, nullptr, false);
  if (!options.is_object())
    return Error{ErrorCode::invalid_argument, "catalog: '" + call.action.substr(0, 40) +
                                                  "' has options that are no JSON object"};
  CatalogInput input;
  input.words_ = call.words;
  input.options_ = std::make_shared<const CatalogJson>(std::move(options));
  return input;
}

const CatalogJson* CatalogInput::find(const char* name) const {
  const auto found = options_->find(name);
  return found == options_->end() ? nullptr : &*found;
}

std::optional<int64_t> CatalogInput::number(const char* name) const {
  return option<int64_t>(find(name));
}

std::string CatalogInput::text(const char* name) const {
  return option<std::string>(find(name)).value_or("");
}

std::optional<std::vector<std::string>> CatalogInput::texts(const char* name) const {
  return option<std::vector<std::string>>(find(name));
}

bool CatalogInput::flag(const char* name) const {
  return option<bool>(find(name)).value_or(false);
}

}  // namespace enginery
