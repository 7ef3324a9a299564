#include "coordinator/server/control_server.h"

#include <unistd.h>

#include <algorithm>

#include "coordinator/core/queue.h"
#include "engine/base/log.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

constexpr int kMaxBatch = 256;  // requests of one transaction
constexpr milliseconds kMaxSleep{1000};
constexpr Nanoseconds kMaxTimerDelay = std::chrono::seconds(5);

}  // namespace

ControlServer::ControlServer(ServerSocket& socket, const ServerSocket& bulk, KeyRing& keys,
                             Catalog& catalog, QueueStore& store, LogStore& logs, Peers& peers,
                             const SigningKey& key, EngineCheck check, ControlHooks hooks)
    : socket_(socket),
      bulk_(bulk),
      keys_(keys),
      catalog_(catalog),
      store_(store),
      logs_(logs),
      peers_(peers),
      key_(key),
      hooks_(std::move(hooks)),
      incarnation_(static_cast<uint64_t>(catalog.clock().wall_time().count())),
      desk_([this] { wake_.ring(); }),
      signer_(catalog.blobs(), key, std::move(check), [this] { wake_.ring(); }) {}

Status ControlServer::open(const CoreOptions& options) {
  TRY(driver_, QueueDriver::open(store_, catalog_.clock(), options));
  for (auto* thread : {&questions_, &long_questions_}) {
    TRY(auto reader, Catalog::open_reader(catalog_));
    *thread = std::make_unique<CatalogReader>(catalog_, std::move(reader), key_,
                                              [this] { wake_.ring(); });
  }
  for (const bool ended : {false, true}) {
    for (const std::string& job : driver_->core().job_ids(ended)) {
      open_log(job);
      if (ended) logs_.end_job(job);
    }
  }
  deliver(driver_->flush());
  return {};
}

void ControlServer::open_log(const std::string& job) {
  logs_.open_job(job, driver_->core().tenant_of(job).value_or(""));
}

void ControlServer::stop() {
  stop_ = true;
  wake_.ring();
}

milliseconds ControlServer::longest_wait() const {
  const auto next = driver_->next_timer();
  if (!next) return kMaxSleep;
  const auto left = std::chrono::ceil<milliseconds>(*next - catalog_.clock().monotonic());
  return std::clamp(left, milliseconds(0), kMaxSleep);
}

bool ControlServer::may_fire(bool more_wait, Nanoseconds late) {
  return !more_wait || late > kMaxTimerDelay;
}

void ControlServer::run() {
  while (!stop_) {
    socket_.wait(longest_wait(), wake_);
    wake_.clear();
    if (hooks_.alive) hooks_.alive();
    for (SignAnswer& answer : signer_.take()) driver_->feed(std::move(answer));
    for (CatalogReader* thread : {questions_.get(), long_questions_.get()})
      for (Reply& answer : thread->take()) reply(answer.to, std::move(answer.body));
    for (Incoming& in : desk_.take()) handle(std::move(in));
    int taken = 0;
    for (; taken < kMaxBatch; ++taken) {
      std::optional<Incoming> in = socket_.receive();
      if (!in) break;
      handle(std::move(*in));
    }
    const auto timer = driver_->next_timer();
    const Nanoseconds now = catalog_.clock().monotonic();
    if (timer && *timer <= now && may_fire(taken == kMaxBatch, now - *timer))
      driver_->feed(TimerFired{});
    Outbox outbox = driver_->flush();
    if (!outbox.ticks.empty()) tally_.committed(catalog_.clock().monotonic() - now);
    deliver(std::move(outbox));
  }
}

// What the socket's own thread answers; everything else is the core's business, where a request
// without an overload does not compile (coordinator/core/query.cpp).
struct ControlServer::Dispatch {
  ControlServer& server;
  Incoming& in;
  const Principal& who;

  void operator()(const Hello& hello) { server.hello(in, hello); }
  void operator()(const JoinFarm& join) { server.join(in, join); }
  void operator()(const FindEngines& find) { ask(*server.questions_, find, find.name); }
  void operator()(const WhyMiss& why) { ask(*server.questions_, why, why.subject); }
  void operator()(const ListEvents& list) { ask(*server.questions_, list, ""); }
  void operator()(const MakeSet& make) { ask(*server.questions_, make, make.name); }
  void operator()(const AskCatalog& question) {
    const bool is_short = kind_of_action(question.action) == CatalogActionKind::question;
    ask(is_short ? *server.questions_ : *server.long_questions_, question, "");
  }
  void operator()(const OrderCatalog& order) { ask(*server.long_questions_, order, ""); }
  template <typename Other>
  void operator()(const Other&) {
    server.feed_request(std::move(in), who);
  }

 private:
  template <typename Question>
  void ask(CatalogReader& thread, const Question& question, const std::string& job) {
    const ReplyTo to{in.route, in.message.envelope.request};
    const Sight sight = sight_of(who);
    const Core& core = server.driver_->core();
    const std::optional<std::string> tenant = core.tenant_of(job);
    const DomainSight domains{who.tenant.empty() ? kTrustDomain : who.tenant, !sight.has_value()};
    if (!thread.post({to, question, tenant && sees(sight, *tenant) ? core.view(job) : std::nullopt,
                      domains, sight}))
      log_debug("a question to the catalog was dropped: too many wait");
  }
};

void ControlServer::handle(Incoming in) {
  const Result<Principal> who = keys_.admit(in.from, in.message.envelope.body);
  const Status bound = who.ok() ? bind_to(*who, in) : Status(who.error());
  if (!bound.ok()) {
    if (in.from.network)
      log_warning("refused a message from " + in.from.address + ": " + bound.error().message);
    return reply({in.route, in.message.envelope.request},
                 ErrorReply{{bound.error().code, bound.error().message}});
  }
  std::visit(Dispatch{*this, in, *who}, in.message.envelope.body);
}

Status ControlServer::bind_to(const Principal& who, Incoming& in) const {
  if (who.name.empty()) return {};
  in.message.envelope.session = peer_session(who.id(), in.message.envelope.session);
  Body& body = in.message.envelope.body;
  if (auto* submit = std::get_if<SubmitRequest>(&body)) {
    submit->client = who.name;
    submit->tenant = who.tenant;
  }
  if (const auto* sync = std::get_if<SyncRequest>(&body))
    return check_worker_name(who, sync->worker);
  if (const auto* take = std::get_if<TakeProblem>(&body))
    return check_worker_name(who, take->worker);
  auto* hello = std::get_if<Hello>(&body);
  if (hello == nullptr) return {};
  if (hello->role == "worker") return check_worker_name(who, hello->name);
  hello->name = who.name;
  return {};
}

void ControlServer::join(const Incoming& in, const JoinFarm& request) {
  const ReplyTo to{in.route, in.message.envelope.request};
  if (!in.from.key)
    return reply(to, ErrorReply{{ErrorCode::usage,
                                 "join: on the coordinator's own host workers need no token; start "
                                 "them with: enginery worker"}});
  const Result<Principal> made = keys_.redeem(*in.from.key, request);
  if (!made.ok()) return reply(to, ErrorReply{{made.error().code, made.error().message}});
  log_info("token " + key_id(*in.from.key) + " from " + in.from.address + ": key " + made->id() +
           " is '" + made->name + "'");
  reply(to, Joined{made->name});
}

void ControlServer::hello(const Incoming& in, const Hello& hello) {
  const ReplyTo to{in.route, in.message.envelope.request};
  if (hello.greatest_version < kMinProtocolVersion || hello.least_version > kProtocolVersion)
    return reply(to, ErrorReply{{ErrorCode::unsupported,
                                 "this coordinator speaks protocol versions " +
                                     std::to_string(kMinProtocolVersion) + " to " +
                                     std::to_string(kProtocolVersion) + ", you speak " +
                                     std::to_string(hello.least_version) + " to " +
                                     std::to_string(hello.greatest_version) +
                                     "; update the older of the two"}});
  peers_.said_hello(in.message.envelope.session, hello.name);
  Welcome welcome;
  welcome.version = std::min(hello.greatest_version, kProtocolVersion);
  welcome.bulk_address = in.from.network ? bulk_.network_address() : bulk_.address();
  welcome.software = "enginery";
  welcome.pid = getpid();
  welcome.incarnation = incarnation_;
  welcome.public_key.assign(key_.public_key().begin(), key_.public_key().end());
  reply(to, std::move(welcome));
}

void ControlServer::feed_request(Incoming in, const Principal& who) {
  Request request;
  request.to = {std::move(in.route), in.message.envelope.request};
  request.principal = who.name.empty() ? "" : who.id();
  request.sight = sight_of(who);
  request.client = who.name.empty() ? peers_.name_of(in.message.envelope.session) : who.name;
  if (const auto* sync = std::get_if<SyncRequest>(&in.message.envelope.body);
      sync != nullptr && Queue::problem_of(*sync) == nullptr)
    peers_.synced(sync->worker, sync->sku);
  Result<std::vector<Digest>> missing = missing_blobs(in.message.envelope.body);
  if (!missing.ok()) return cannot_say(request.to, in.message.envelope.body, missing.error());
  request.missing = std::move(*missing);
  request.body = std::move(in.message.envelope.body);
  driver_->feed(std::move(request));
}

// A disk that fails for a moment must not throw a finished step away: the worker hears nothing and
// says the same again.
void ControlServer::cannot_say(const ReplyTo& to, const Body& body, const Error& error) {
  log_warning("blobs: " + error.message);
  if (!std::holds_alternative<SyncRequest>(body))
    reply(to, ErrorReply{{error.code, "blobs: " + error.message}});
}

Result<std::vector<Digest>> ControlServer::missing_blobs(const Body& body) {
  std::vector<Digest> named, missing;
  if (const auto* submit = std::get_if<SubmitRequest>(&body)) {
    named.push_back(submit->model);
    for (const NamedBlob& input : submit->inputs) named.push_back(input.digest);
  } else if (const auto* sync = std::get_if<SyncRequest>(&body)) {
    if (const auto* finished = std::get_if<Finished>(&sync->state))
      for (const NamedBlob& output : finished->outcome.outputs) named.push_back(output.digest);
  }
  for (const Digest& digest : named) {
    TRY(const bool there, has_blob(catalog_.blobs(), digest));
    if (!there) missing.push_back(digest);
  }
  return missing;
}

void ControlServer::deliver(Outbox outbox) {
  if (outbox.open_jobs) tally_.loaded(*outbox.open_jobs);
  tally_.count(outbox.ticks, catalog_.clock().monotonic());
  for (const std::string& note : outbox.notes) log_info(note);
  for (const std::string& job : outbox.new_jobs) open_log(job);
  for (const RouteLog& route : outbox.log_routes) logs_.route(route.step, route.job, route.prefix);
  for (const LeaseNote& lease : outbox.leases) {
    logs_.lease(lease.step, lease.epoch, lease.worker);
    if (lease.ended) logs_.end_step(lease.step);
  }
  for (const std::string& job : outbox.ended_jobs) logs_.end_job(job);
  for (const std::string& job : outbox.forgotten_jobs) logs_.forget_job(job);
  if (!outbox.ended_jobs.empty()) hooks_.changed();
  if (outbox.recorded) questions_->journal_grew();
  for (const SignTask& task : outbox.signing) signer_.post(task);
  for (Reply& answer : outbox.replies) reply(answer.to, std::move(answer.body));
}

void ControlServer::reply(const ReplyTo& to, Body body) {
  if (to.route.empty()) return desk_.answer(to.request, std::move(body));
  Message message;
  message.envelope.request = to.request;
  message.envelope.incarnation = incarnation_;
  message.envelope.body = std::move(body);
  socket_.send(to.route, std::move(message));
}

}  // namespace enginery
