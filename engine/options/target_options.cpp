#include "engine/options/target_options.h"

#include "engine/base/parallel.h"
#include "engine/device/sku_table.h"

namespace enginery {

bool is_cpu_sku(const std::string& sku) {
  const auto row = resolve_sku_name(sku);
  return row && row->kind == DeviceKind::cpu;
}

BuildOptions resolve_threads(BuildOptions options) {
  if (options.threads == 0) options.threads = allowed_core_count();
  return options;
}

BuildOptions options_for(const std::string& sku, BuildOptions options) {
  if (is_cpu_sku(sku)) return resolve_threads(std::move(options));
  options.threads = 0;
  return options;
}

}  // namespace enginery
