#include "cli/options/targets.h"

#include <algorithm>

#include "engine/base/did_you_mean.h"
#include "engine/device/sku_table.h"

namespace enginery {

Result<std::string> this_sku() {
  const std::vector<LocalSku> local = local_skus();
  if (local.empty())
    return Error{ErrorCode::incompatible,
                 "this machine has no device that enginery knows (enginery doctor)"};
  return local.front().name;
}

Status check_sku(const std::string& name) {
  if (resolve_sku_name(name)) return {};
  std::vector<std::string> names{"this"};
  for (const SkuRow& row : sku_table()) names.push_back(row.name);
  return Error{ErrorCode::usage, "unknown target '" + name + "'" + did_you_mean(name, names) +
                                     " (enginery skus --all lists them)"};
}

Result<std::vector<std::string>> resolve_targets(const std::vector<std::string>& names) {
  std::vector<std::string> targets;
  for (const std::string& name : names) {
    std::string sku = name;
    if (name == "this") {
      TRY(sku, this_sku());
    } else {
      CHECK_OK(check_sku(name));
    }
    if (std::find(targets.begin(), targets.end(), sku) == targets.end())
      targets.push_back(std::move(sku));
  }
  if (targets.empty())
    return Error{ErrorCode::usage,
                 "no target is named (--target this, or names from enginery skus --all)"};
  return targets;
}

}  // namespace enginery
