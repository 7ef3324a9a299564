#include "tests/schemas/random_message.h"

namespace enginery {
namespace {

template <typename Make>
auto some(RandomMessages& random, Make make) {
  std::vector<decltype(make())> list(random.below(4));
  for (auto& item : list) item = make();
  return list;
}

}  // namespace

std::string RandomMessages::text() {
  std::string s(below(4) == 0 ? below(300) : below(12), '\0');
  for (char& c : s) c = static_cast<char>(number());  // zero bytes and broken UTF-8 included
  return s;
}

Digest RandomMessages::digest() {
  Digest d;
  for (uint8_t& b : d.bytes) b = static_cast<uint8_t>(number());
  return d;
}

std::vector<NamedText> RandomMessages::texts() {
  return some(*this, [&] { return NamedText{text(), text()}; });
}
Fault RandomMessages::fault() {
  return {static_cast<ErrorCode>(below(13)), text()};
}
StepRef RandomMessages::ref() {
  return {text(), number(), number()};
}
Progress RandomMessages::progress() {
  return {text(), number(), number(), static_cast<double>(below(1000)) / 8};
}
std::vector<NamedBlob> RandomMessages::blobs() {
  return some(*this, [&] { return NamedBlob{text(), digest(), number()}; });
}
std::vector<Digest> RandomMessages::digests() {
  return some(*this, [&] { return digest(); });
}
std::vector<std::string> RandomMessages::strings() {
  return some(*this, [&] { return text(); });
}

Outcome RandomMessages::outcome() {
  Outcome o{static_cast<OutcomeKind>(below(9)), fault(), blobs(), {}, texts()};
  o.metrics = some(*this, [&] { return NamedNumber{text(), static_cast<double>(below(1000))}; });
  return o;
}

StepView RandomMessages::step() {
  StepView s{text(),
             text(),
             digest(),
             number(),
             static_cast<StepState>(below(9)),
             static_cast<Source>(below(4)),
             number(),
             number()};
  s.attempts = some(*this, [&] {
    return AttemptView{
        text(), number(), static_cast<int64_t>(number()), static_cast<int64_t>(number()),
        text(), text()};
  });
  return s;
}

TargetView RandomMessages::target() {
  TargetView t;
  t.sku = text();
  t.state = static_cast<TargetState>(below(5));
  t.source = static_cast<Source>(below(4));
  t.provisional = coin();
  if (coin()) t.engine = digest();
  t.key = digest();
  t.latency_ms = static_cast<double>(below(1000)) / 16;
  t.size_bytes = number();
  t.timings_measured = number();
  t.timings_reused = number();
  if (coin()) t.fault = fault();
  t.progress = progress();
  t.note = text();
  return t;
}

JobView RandomMessages::job() {
  JobView j;
  j.id = text();
  j.name = text();
  j.model_name = text();
  j.model = digest();
  j.state = static_cast<JobState>(below(6));
  j.client = text();
  j.options = text();
  j.priority = static_cast<int32_t>(number());
  j.tags = strings();
  j.submitted_ns = static_cast<int64_t>(number());
  j.ended_ns = static_cast<int64_t>(number());
  j.targets = some(*this, [&] { return target(); });
  j.steps = some(*this, [&] { return step(); });
  j.revision = number();
  return j;
}

SubmitRequest RandomMessages::submit() {
  SubmitRequest s;
  s.client = text();
  s.name = text();
  s.model_name = text();
  s.model = digest();
  s.inputs = blobs();
  s.options = text();
  s.validate_key = texts();
  s.targets = some(*this, [&] { return TargetRequest{text(), text(), texts(), texts(), coin()}; });
  s.priority = static_cast<int32_t>(number());
  s.tags = strings();
  s.rebuild = coin();
  s.wait_for_workers = coin();
  s.dry_run = coin();
  return s;
}

WorkerState RandomMessages::state() {
  switch (below(3)) {
    case 0:
      return Idle{};
    case 1:
      return Running{ref(), progress()};
    default:
      return Finished{ref(), outcome()};
  }
}

SyncRequest RandomMessages::sync() {
  return {text(),   number(), number(),
          text(),   text(),   text(),
          text(),   text(),   static_cast<int64_t>(number()),
          state(),  text(),   coin(),
          strings()};
}

RunStep RandomMessages::run() {
  return {ref(),    text(), digest(), text(),   text(),  text(),
          digest(), text(), blobs(),  digest(), texts(), coin()};
}

Desired RandomMessages::desired() {
  switch (below(6)) {
    case 0:
      return Keep{};
    case 1:
      return BeIdle{};
    case 2:
      return run();
    case 3:
      return Cancel{ref()};
    case 4:
      return Drain{};
    default:
      return Exit{};
  }
}

namespace {

// Calls visit(index, T{}) for the alternative `index` of the variant.
template <size_t I = 0, typename Visit>
Body alternative(size_t index, Visit visit) {
  if constexpr (I < std::variant_size_v<Body>) {
    if (I == index) return visit(std::variant_alternative_t<I, Body>{});
    return alternative<I + 1>(index, visit);
  } else {
    return {};
  }
}

}  // namespace

Body RandomMessages::body(size_t index) {
  const auto u32 = [&] { return static_cast<uint32_t>(number()); };
  const auto i64 = [&] { return static_cast<int64_t>(number()); };
  const auto worker = [&] {
    return WorkerView{
        text(), text(), static_cast<WorkerCondition>(below(5)), i64(),      text(), text(),
        text(), text(), static_cast<double>(below(100)),        progress(), text()};
  };
  const auto engine = [&] {
    return EngineView{text(), text(),   digest(), digest(), digest(), digest(),
                      text(), number(), 0.5,      coin(),   i64(),    text()};
  };
  const auto optional_text = [&] { return coin() ? std::optional(text()) : std::nullopt; };
  const auto miss = [&] {
    MissView m{digest(), coin() ? std::optional(digest()) : std::nullopt, {}, text(), coin()};
    m.differs = some(*this, [&] {
      return FieldDifference{text(), optional_text(), optional_text()};
    });
    return m;
  };
  const auto explain = [&] {
    ExplainView e{text(), text(), text(), {}};
    e.candidates = some(*this, [&] { return CandidateView{text(), text()}; });
    return e;
  };
  const auto timing = [&] { return TimingEntry{digest(), digest(), text(), text(), i64()}; };
  return alternative(index, [&]<typename T>(T m) -> Body {
    if constexpr (std::is_same_v<T, ErrorReply>)
      m.fault = fault();
    else if constexpr (std::is_same_v<T, Hello>)
      m = {text(), text(), u32(), u32(), text(), i64()};
    else if constexpr (std::is_same_v<T, Welcome>)
      m = {u32(), text(), text(), i64(), number(), text()};
    else if constexpr (std::is_same_v<T, SubmitRequest>)
      m = submit();
    else if constexpr (std::is_same_v<T, JobReply>)
      m = {job()};
    else if constexpr (std::is_same_v<T, ListJobs>)
      m = {u32(), text()};
    else if constexpr (std::is_same_v<T, JobList>)
      m.jobs = some(*this, [&] {
        return JobLine{text(), text(), static_cast<JobState>(below(6)), i64(), u32(), u32()};
      });
    else if constexpr (std::is_same_v<T, WaitJob>)
      m = {text(), number(), u32(), coin()};
    else if constexpr (std::is_same_v<T, ShowJob> || std::is_same_v<T, CancelJob> ||
                       std::is_same_v<T, ExplainJob>)
      m = {text()};
    else if constexpr (std::is_same_v<T, ExplainReply>)
      m.targets = some(*this, explain);
    else if constexpr (std::is_same_v<T, FindEngines>)
      m = {text(), text(), text(), u32()};
    else if constexpr (std::is_same_v<T, EngineList>)
      m.engines = some(*this, engine);
    else if constexpr (std::is_same_v<T, WhyMiss>)
      m = {text()};
    else if constexpr (std::is_same_v<T, WhyMissReply>)
      m.misses = some(*this, miss);
    else if constexpr (std::is_same_v<T, SkuList>)
      m.skus = some(*this, [&] { return SkuView{text(), text(), text(), u32(), u32(), u32()}; });
    else if constexpr (std::is_same_v<T, WorkerList>)
      m.workers = some(*this, worker);
    else if constexpr (std::is_same_v<T, DrainWorker>)
      m = {text(), coin()};
    else if constexpr (std::is_same_v<T, SyncRequest>)
      m = sync();
    else if constexpr (std::is_same_v<T, SyncReply>)
      m = {u32(), desired()};
    else if constexpr (std::is_same_v<T, HasBlobs>)
      m.digests = digests();
    else if constexpr (std::is_same_v<T, BlobStates>)
      m.blobs = some(*this, [&] { return BlobState{digest(), coin(), number(), number()}; });
    else if constexpr (std::is_same_v<T, PutBlob>)
      m = {digest(), number(), number(), digest()};
    else if constexpr (std::is_same_v<T, PutReply>)
      m = {number(), coin()};
    else if constexpr (std::is_same_v<T, GetBlob>)
      m = {digest(), number(), number()};
    else if constexpr (std::is_same_v<T, BlobChunk>)
      m = {digest(), number(), number(), digest()};
    else if constexpr (std::is_same_v<T, AppendLog>)
      m = {ref(), number(), text()};
    else if constexpr (std::is_same_v<T, AppendReply>)
      m = {number()};
    else if constexpr (std::is_same_v<T, ReadLog>)
      m = {text(), number(), u32(), coin(), u32()};
    else if constexpr (std::is_same_v<T, LogChunk>)
      m = {number(), text(), number(), coin()};
    else if constexpr (std::is_same_v<T, GetTimings>)
      m = {digest(), digests(), number()};
    else if constexpr (std::is_same_v<T, TimingList>)
      m = {some(*this, timing), number(), coin()};
    else if constexpr (std::is_same_v<T, PutTimings>)
      m = {strings(), some(*this, timing)};
    else if constexpr (std::is_same_v<T, PutTimingsReply>)
      m = {number()};
    else
      static_assert(std::is_same_v<T, std::monostate> || std::is_empty_v<T>,
                    "a message without random content");
    return m;
  });
}

Envelope RandomMessages::envelope(size_t index) {
  return {static_cast<uint32_t>(number()),
          {number(), number()},
          text(),
          number(),
          number(),
          text(),
          body(index)};
}

}  // namespace enginery
