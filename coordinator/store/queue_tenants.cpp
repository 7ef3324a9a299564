#include "coordinator/store/queue_tenants.h"

#include "coordinator/store/queue_rows.h"

namespace enginery {

Result<std::optional<std::string>> tenant_of_job(Catalog& catalog, const std::string& job) {
  const std::optional<uint64_t> number = job_number(job);
  if (!number) return std::optional<std::string>();
  TRY(Statement row,
      catalog.database().prepare("SELECT tenant FROM queue_job WHERE number=?1", *number));
  TRY(const bool found, row.step());
  return found ? std::optional<std::string>(row.text(0)) : std::nullopt;
}

}  // namespace enginery
