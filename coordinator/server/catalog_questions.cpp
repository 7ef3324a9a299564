#include "coordinator/server/catalog_questions.h"

#include <algorithm>
#include <map>

#include "cache/results.h"
#include "coordinator/store/queue_tenants.h"
#include "pipeline/engine_set.h"
#include "pipeline/result.h"

namespace enginery {
namespace {

constexpr uint32_t kMostEngines = 1000;

EngineView view_of(const EngineRow& row) {
  EngineView view{row.name,  row.sku, row.digest,   row.content_digest,
                  row.model, row.key, row.precision};
  view.size_bytes = row.size_bytes;
  view.latency_ms = row.latency_ms;
  view.provisional = row.provisional;
  view.created_ns = row.created_ns;
  return view;
}

// A job's engines; a target that is not done is left out.
Result<EngineList> of_job(Catalog& catalog, const JobView& job, const FindEngines& request) {
  EngineList list;
  for (const TargetView& target : job.targets) {
    if (!target.engine || (!request.sku.empty() && target.sku != request.sku)) continue;
    // Who sees the job sees its engines.
    TRY(EngineRow row, catalog.engines().find(target.engine->text()));
    EngineView view = view_of(row);
    view.name = job.name;  // an engine may have several
    view.job = job.id;
    list.engines.push_back(std::move(view));
  }
  return list;
}

Result<EngineList> tagged(Catalog& catalog, const FindEngines& request, const std::string& domain) {
  EngineList list;
  TRY(const std::vector<EngineRow> rows,
      catalog.engines().of_tag(request.name, request.tag, request.sku, domain));
  for (const EngineRow& row : rows) list.engines.push_back(view_of(row));
  if (list.engines.empty())
    return Error{ErrorCode::not_found, "no engine '" + request.name + "@" + request.tag + "'" +
                                           (request.sku.empty() ? "" : " for " + request.sku)};
  return list;
}

Result<EngineList> named(Catalog& catalog, const FindEngines& request, const std::string& domain) {
  const auto limit = static_cast<int64_t>(std::clamp<uint32_t>(request.limit, 1, kMostEngines));
  TRY(std::vector<EngineRow> rows,
      catalog.engines().list(request.name, limit, request.sku, 0, domain));
  EngineList list;
  for (const EngineRow& row : rows) list.engines.push_back(view_of(row));
  if (rows.empty() && !request.sku.empty()) {
    TRY(rows, catalog.engines().list(request.name, 1, "", 0, domain));
  }
  if (rows.empty() && !request.name.empty())
    return Error{ErrorCode::not_found,
                 "no engine or job is named '" + request.name.substr(0, 80) + "'"};
  return list;
}

// What is there of a key; `nearest` is filled in later, for all keys at once.
struct Wanted {
  MissView view;
  ActionKey key;
};

Result<Wanted> wanted_of(Catalog& catalog, const Digest& key) {
  TRY(ActionKey fields, catalog.results().find_action(key));
  Wanted wanted{{}, std::move(fields)};
  wanted.view.key = key;
  if (const std::string* sku = wanted.key.find("sku")) wanted.view.sku = *sku;
  return wanted;
}

// As it was at `at_ns`.
Result<WhyMissReply> explained(Catalog& catalog, std::vector<Wanted> wanted,
                               const std::string& domain, int64_t at_ns) {
  std::vector<ActionKey> keys;
  for (const Wanted& w : wanted) keys.push_back(w.key);
  TRY(const auto nearest, nearest_actions(catalog.database(), keys, at_ns, domain));
  WhyMissReply reply;
  for (size_t i = 0; i < wanted.size(); ++i) {
    MissView& view = wanted[i].view;
    if (nearest[i]) {
      view.nearest = nearest[i]->key;
      for (const KeyDifference& d : nearest[i]->differs)
        view.differs.push_back({d.field, d.wanted, d.had});
    }
    reply.misses.push_back(std::move(view));
  }
  return reply;
}

// The newest engine of each SKU, as long as it is of the newest one's model.
EngineSet newest_of_each(std::vector<EngineView> engines) {
  EngineSet set;
  set.name = engines.front().name;
  set.model = engines.front().model;
  std::map<std::string, EngineView> by_sku;
  for (EngineView& engine : engines)
    if (engine.model == set.model) by_sku.try_emplace(engine.sku, std::move(engine));
  for (auto& [sku, engine] : by_sku) set.engines.push_back(std::move(engine));
  return set;
}

void add_gaps(EngineSet& set, const JobView& job) {
  for (const TargetView& target : job.targets) {
    const bool has = std::any_of(set.engines.begin(), set.engines.end(),
                                 [&](const EngineView& e) { return e.sku == target.sku; });
    if (has) continue;
    const std::string why = target.fault ? ": " + target.fault->message.substr(0, 200) : "";
    set.missing.push_back({target.sku, to_string(target.state) + why});
  }
}

// As its targets were decided: with what the catalog had when the job came.
Result<WhyMissReply> why_of_job(Catalog& catalog, const JobView& job, const std::string& domain) {
  std::vector<Wanted> wanted;
  for (const TargetView& target : job.targets) {
    TRY(Wanted one, wanted_of(catalog, target.key));
    one.view.sku = target.sku;
    TRY(one.view.present, had_result(catalog.database(), target.key, job.submitted_ns));
    wanted.push_back(std::move(one));
  }
  return explained(catalog, std::move(wanted), domain, job.submitted_ns);
}

// What may be a job's id that there is not, too.
Result<Digest> key_named(Catalog& catalog, const std::string& subject) {
  auto key = catalog.results().find_key(subject);
  const bool is_digits = subject.starts_with("sha256:") ||
                         subject.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (key.ok() || (is_digits && key.error().code != ErrorCode::not_found)) return key;
  return Error{ErrorCode::not_found,
               "'" + subject.substr(0, 80) +
                   "' is no job and no key that the catalog has (enginery "
                   "jobs lists the jobs, enginery catalog ls --json the keys)"};
}

constexpr size_t kMaxEventBytes = 512 << 10;  // of one answer; a frame has 1 MiB
constexpr int64_t kMaxEvents = 1000;

// In one trust domain, or in all for "".
Result<EngineList> find_in(Catalog& catalog, const FindEngines& request,
                           const std::string& domain) {
  if (request.name.starts_with("sha256:")) {
    TRY(const EngineRow row, catalog.engines().find(request.name, domain));
    EngineList list;
    if (request.sku.empty() || row.sku == request.sku) list.engines.push_back(view_of(row));
    return list;
  }
  return request.tag.empty() ? named(catalog, request, domain) : tagged(catalog, request, domain);
}

// Which jobs' lines may be shown: each is looked up once.
class SeenJobs {
 public:
  SeenJobs(Catalog& catalog, const Sight& sight) : catalog_(catalog), sight_(sight) {}
  bool all() const { return !sight_; }
  Result<bool> has(const std::string& job) {
    if (all()) return true;
    const auto known = known_.find(job);
    if (known != known_.end()) return known->second;
    TRY(const std::optional<std::string> tenant, tenant_of_job(catalog_, job));
    return known_[job] = tenant && sees(sight_, *tenant);
  }

 private:
  Catalog& catalog_;
  const Sight& sight_;
  std::map<std::string, bool> known_;
};

// Events::before_newest among those that are shown; looks no further back than a million lines.
Result<int64_t> before_newest(Catalog& catalog, const std::string& job, int64_t count,
                              SeenJobs& seen) {
  if (seen.all() || !job.empty()) return catalog.events().before_newest(job, count);
  constexpr int64_t kFarthest = 1'000'000;
  for (int64_t back = count;; back *= 8) {
    TRY(const int64_t from, catalog.events().before_newest(job, back));
    TRY(const std::vector<CatalogEvent> rows, catalog.events().list(job, from, back));
    int64_t left = count;
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
      TRY(const bool shown, seen.has(row->job));
      left -= shown;
      if (left == 0) return row->sequence - 1;
    }
    if (from == 0 || back > kFarthest) return from;
  }
}

}  // namespace

Result<EventList> list_events(Catalog& catalog, const ListEvents& request, const Sight& sight) {
  SeenJobs seen(catalog, sight);
  const int64_t limit =
      request.limit == 0 ? kMaxEvents : std::min<int64_t>(request.limit, kMaxEvents);
  EventList list;
  list.next = request.after;
  if (request.after <= 0) {
    TRY(list.next, request.since_ns > 0 ? catalog.events().before_time(request.since_ns)
                                        : before_newest(catalog, request.job, limit, seen));
  }
  size_t bytes = 0;
  while (true) {
    TRY(const std::vector<CatalogEvent> rows,
        catalog.events().list(request.job, list.next, limit + 1));
    for (const CatalogEvent& row : rows) {
      TRY(const bool shown, seen.has(row.job));
      bytes += shown ? 100 + row.json.size() : 0;
      list.more = shown && (std::ssize(list.events) == limit || bytes > kMaxEventBytes);
      if (list.more) return list;
      if (shown)
        list.events.push_back(
            {row.sequence, row.job, row.time_ns, row.kind, read_fields_json(row.json)});
      list.next = row.sequence;
    }
    if (std::ssize(rows) <= limit) return list;
  }
}

Result<SetReply> make_set(Catalog& catalog, const std::optional<JobView>& job,
                          const MakeSet& request, const SigningKey& key, const DomainSight& sight) {
  const std::string what = request.name.substr(0, 80);
  if (request.name.starts_with("sha256:"))
    return Error{ErrorCode::usage, "a set is of a job or a name, and " + what + " is one engine"};
  if (job && !is_end(job->state))
    return Error{ErrorCode::not_found, "job " + job->id +
                                           " has not ended, so it has no set yet; enginery wait " +
                                           job->id + " says when it has"};
  constexpr uint32_t kMost = 1000;
  TRY(EngineList found, find_engines(catalog, job, {request.name, request.tag, "", kMost}, sight));
  if (found.engines.empty())
    return Error{ErrorCode::not_found, "'" + what + "' has no engine: nothing for a set"};
  EngineSet set = newest_of_each(std::move(found.engines));
  if (job) {
    set.job = job->id;
    add_gaps(set, *job);
  }
  return SetReply{write_set(set, key)};
}

Result<EngineList> find_engines(Catalog& catalog, const std::optional<JobView>& job,
                                const FindEngines& request, const DomainSight& sight) {
  if (job && request.tag.empty() && !request.name.starts_with("sha256:"))
    return of_job(catalog, *job, request);
  if (sight.all && request.name.empty()) return find_in(catalog, request, "");
  Result<EngineList> own = find_in(catalog, request, sight.own);
  if (own.ok() || !sight.all || own.error().code != ErrorCode::not_found) return own;
  return find_in(catalog, request, "");
}

Result<WhyMissReply> why_miss(Catalog& catalog, const std::optional<JobView>& job,
                              const WhyMiss& request, const std::string& domain) {
  if (job) return why_of_job(catalog, *job, domain);
  TRY(const Digest key, key_named(catalog, request.subject));
  TRY(Wanted one, wanted_of(catalog, key));
  if (!domain.empty() && one.key.trust_domain() != domain)
    return Error{ErrorCode::not_found, "'" + request.subject.substr(0, 80) +
                                           "' is no job and no key of your trust domain, '" +
                                           domain + "'"};
  TRY(const auto result, catalog.results().lookup(key));
  one.view.present = result.has_value();
  // What is there by now was a miss when it was asked for first.
  int64_t at_ns = kNow;
  if (one.view.present) {
    TRY(at_ns, recorded_ns(catalog.database(), key));
  }
  std::vector<Wanted> wanted;
  wanted.push_back(std::move(one));
  return explained(catalog, std::move(wanted), domain, at_ns);
}

}  // namespace enginery
