#include "worker/timing/catalog_timing_store.h"

#include "pipeline/keys.h"

namespace enginery {

Result<std::vector<Timing>> CatalogTimingStore::find(const std::string& device,
                                                     const std::string& problem) {
  const Digest device_digest = timing_device_key(device).digest(),
               problem_digest = timing_problem_key(problem).digest();
  TRY(auto rows, catalog_.timings().of_problem(device_digest, problem_digest));
  std::vector<Timing> out;
  for (const TimingRow& row : rows) {
    if (auto timing = parse_timing(row.entry); timing.ok()) out.push_back(std::move(*timing));
  }
  return out;
}

Status CatalogTimingStore::put(const std::string& device, const std::string& problem,
                               const Timing& timing) {
  const ActionKey device_key = timing_device_key(device), problem_key = timing_problem_key(problem);
  TRY(Transaction transaction, Transaction::begin(catalog_.database()));
  CHECK_OK(catalog_.timings().record_key(device_key));
  CHECK_OK(catalog_.timings().record_key(problem_key));
  const TimingRow row = {device_key.digest(), problem_key.digest(), timing.tactic, to_json(timing),
                         static_cast<int64_t>(timing.unix_seconds * 1e9)};
  TRY([[maybe_unused]] const int64_t stored, catalog_.timings().put({&row, 1}));
  return transaction.commit();
}

}  // namespace enginery
