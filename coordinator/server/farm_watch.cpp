#include "coordinator/server/farm_watch.h"

#include "coordinator/server/health.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kAnswerTime{5000};
constexpr Nanoseconds kCountEvery = seconds(10);
constexpr Nanoseconds kTryEvery = seconds(1);

bool is_due(const std::optional<Nanoseconds>& last, Nanoseconds every, Nanoseconds now) {
  return !last || now - *last >= every;
}

}  // namespace

FarmWatch::FarmWatch(ControlServer& control, Catalog& catalog, std::unique_ptr<Catalog> reader)
    : control_(control), catalog_(catalog), reader_(std::move(reader)), started_(now()) {}

WebSources FarmWatch::sources() {
  return {[this](Body request) { return control_.ask(std::move(request), kAnswerTime); },
          [this] { return metrics(); }, [this] { return health(); }};
}

Result<CatalogSums> FarmWatch::catalog_sums() {
  const std::lock_guard lock(mutex_);
  if (is_due(counted_at_, kCountEvery, now())) {
    TRY(sums_, count_catalog(*reader_));
    counted_at_ = now();
  }
  return sums_;
}

Result<std::string> FarmWatch::metrics() {
  FarmFacts facts;
  facts.tally = control_.tally().sums();
  TRY(Body skus, control_.ask(ListSkus{}, kAnswerTime));
  TRY(Body workers, control_.ask(ListWorkers{}, kAnswerTime));
  facts.skus = std::move(std::get<SkuList>(skus).skus);
  facts.workers = std::move(std::get<WorkerList>(workers).workers);
  TRY(facts.catalog, catalog_sums());
  facts.uptime_seconds = to_seconds(now() - started_);
  add_process(facts);
  return farm_metrics(facts);
}

Status FarmWatch::health() {
  const Result<Body> answer = control_.ask(ListSkus{}, kAnswerTime);
  if (!answer.ok()) return answer.error().within("queue");
  const std::lock_guard lock(mutex_);
  if (is_due(tried_at_, kTryEvery, now())) {
    tried_ = try_catalog(catalog_);
    tried_at_ = now();
  }
  return tried_.ok() ? tried_ : Status(tried_.error().within("catalog"));
}

}  // namespace enginery
