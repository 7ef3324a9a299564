#include "coordinator/store/queue_roots.h"

#include "coordinator/store/sqlite_store.h"
#include "schemas/codec.h"

namespace enginery {
namespace {

Status add_request(ByteSpan bytes, std::set<Digest>& roots) {
  TRY(const Envelope envelope, decode(bytes, kMaxStoredRequest));
  const auto* request = std::get_if<SubmitRequest>(&envelope.body);
  if (request == nullptr)
    return Error{ErrorCode::corrupt_data, "queue: a job's request is no submit"};
  roots.insert(request->model);
  for (const NamedBlob& input : request->inputs) roots.insert(input.digest);
  return {};
}

Status add_outputs(Catalog& catalog, const StepUse& use, std::set<Digest>& roots) {
  TRY(Statement row,
      catalog.database().prepare("SELECT digest FROM result_output WHERE key=?1 AND generation=?2",
                                 use.key, use.generation));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    roots.insert(row.digest(0));
  }
}

Status add_uses(Catalog& catalog, uint64_t job, std::set<Digest>& roots) {
  TRY(Statement row, catalog.database().prepare("SELECT uses FROM queue_target WHERE job=?1", job));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return {};
    TRY(const std::vector<StepUse> uses, decode_uses(row.blob(0)));
    for (const StepUse& use : uses) CHECK_OK(add_outputs(catalog, use, roots));
  }
}

}  // namespace

Result<std::set<Digest>> blobs_of_running_jobs(Catalog& catalog) {
  std::set<Digest> roots;
  TRY(const auto has_queue,
      catalog.database().find_integer(
          "SELECT 1 FROM sqlite_master WHERE type='table' AND name='queue_job'"));
  if (!has_queue) return roots;
  TRY(Statement row, catalog.database().prepare("SELECT number, state, request FROM queue_job"));
  while (true) {
    TRY(const bool more, row.step());
    if (!more) return roots;
    if (is_end(static_cast<JobState>(row.integer(1)))) continue;
    CHECK_OK(add_request(row.blob(2), roots));
    CHECK_OK(add_uses(catalog, static_cast<uint64_t>(row.integer(0)), roots));
  }
}

}  // namespace enginery
