#include "coordinator/server/catalog_questions.h"

#include <algorithm>

namespace enginery {
namespace {

EngineView view_of(const EngineRow& row) {
  EngineView view{row.name,  row.sku, row.digest,   row.content_digest,
                  row.model, row.key, row.precision};
  view.size_bytes = row.size_bytes;
  view.latency_ms = row.latency_ms;
  view.provisional = row.provisional;
  view.created_ns = row.created_ns;
  return view;
}

bool wanted(const EngineRow& row, const FindEngines& request) {
  return request.sku.empty() || row.sku == request.sku;
}

// A job's engines; a target that is not done is left out.
Result<EngineList> of_job(Catalog& catalog, const JobView& job, const FindEngines& request) {
  EngineList list;
  for (const TargetView& target : job.targets) {
    if (!target.engine || (!request.sku.empty() && target.sku != request.sku)) continue;
    TRY(EngineRow row, catalog.engines().find(target.engine->text()));
    EngineView view = view_of(row);
    view.name = job.name;  // an engine may have several
    view.job = job.id;
    list.engines.push_back(std::move(view));
  }
  return list;
}

Result<EngineList> tagged(Catalog& catalog, const FindEngines& request) {
  EngineList list;
  TRY(const std::vector<TagRow> tags, catalog.engines().tags());
  for (const TagRow& tag : tags) {
    if (tag.name != request.name || tag.tag != request.tag ||
        (!request.sku.empty() && tag.sku != request.sku))
      continue;
    Result<EngineRow> row = catalog.engines().tagged(tag.name, tag.tag, tag.sku);
    if (row.ok()) list.engines.push_back(view_of(*row));
  }
  if (list.engines.empty())
    return Error{ErrorCode::not_found, "no engine '" + request.name + "@" + request.tag + "'" +
                                           (request.sku.empty() ? "" : " for " + request.sku)};
  return list;
}

Result<MissView> miss_of(Catalog& catalog, const Digest& key) {
  MissView miss;
  miss.key = key;
  TRY(const auto result, catalog.results().lookup(key));
  miss.present = result.has_value();
  TRY(const ActionKey fields, catalog.results().find_action(key));
  if (const std::string* sku = fields.find("sku")) miss.sku = *sku;
  TRY(const auto nearest, catalog.results().nearest(fields));
  if (!nearest) return miss;
  miss.nearest = nearest->key;
  for (const KeyDifference& d : nearest->differs)
    miss.differs.push_back({d.field, d.wanted, d.had});
  return miss;
}

}  // namespace

Result<EngineList> find_engines(Catalog& catalog, const Core& core, const FindEngines& request) {
  const auto limit = static_cast<int64_t>(std::clamp<uint32_t>(request.limit, 1, 1000));
  if (request.name.starts_with("sha256:")) {
    TRY(const EngineRow row, catalog.engines().find(request.name));
    EngineList list;
    if (wanted(row, request)) list.engines.push_back(view_of(row));
    return list;
  }
  if (!request.tag.empty()) return tagged(catalog, request);
  if (const auto job = core.view(request.name)) return of_job(catalog, *job, request);
  TRY(const std::vector<EngineRow> rows, catalog.engines().list(request.name, limit));
  EngineList list;
  for (const EngineRow& row : rows)
    if (wanted(row, request)) list.engines.push_back(view_of(row));
  if (rows.empty() && !request.name.empty())
    return Error{ErrorCode::not_found,
                 "no engine or job is named '" + request.name.substr(0, 80) + "'"};
  return list;
}

Result<WhyMissReply> why_miss(Catalog& catalog, const Core& core, const WhyMiss& request) {
  WhyMissReply reply;
  const auto job = core.view(request.subject);
  if (!job) {
    TRY(const Digest key, catalog.results().find_key(request.subject));
    TRY(MissView miss, miss_of(catalog, key));
    reply.misses.push_back(std::move(miss));
    return reply;
  }
  for (const TargetView& target : job->targets) {
    TRY(MissView miss, miss_of(catalog, target.key));
    miss.sku = target.sku;
    reply.misses.push_back(std::move(miss));
  }
  return reply;
}

}  // namespace enginery
