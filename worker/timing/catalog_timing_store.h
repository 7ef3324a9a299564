// The tuner's TimingStore over the catalog of this machine. Thread-safe.
#pragma once

#include "cache/catalog.h"
#include "tuner/timing/timing.h"

namespace enginery {

class CatalogTimingStore final : public TimingStore {
 public:
  // `catalog` outlives the store.
  explicit CatalogTimingStore(Catalog& catalog) : catalog_(catalog) {}

  // An entry that cannot be read counts as absent: it will be measured again and replaced.
  Result<std::vector<Timing>> find(const std::string& device, const std::string& problem) override;
  Status put(const std::string& device, const std::string& problem, const Timing& timing) override;

 private:
  Catalog& catalog_;
};

}  // namespace enginery
