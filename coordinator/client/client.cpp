#include "coordinator/client/client.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>

namespace enginery {
namespace {

using std::chrono::milliseconds;

std::string own_name() {
  const passwd* user = getpwuid(getuid());
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return (user != nullptr ? std::string(user->pw_name) : std::to_string(getuid())) + "@" + host;
}

template <typename Reply>
Result<Reply> expect(Message& message) {
  if (const auto* error = std::get_if<ErrorReply>(&message.envelope.body))
    return Error{error->fault.code, error->fault.message};
  if (auto* reply = std::get_if<Reply>(&message.envelope.body)) return std::move(*reply);
  return Error{ErrorCode::internal, "coordinator: an answer of another kind than asked for"};
}

}  // namespace

Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::connect(const ClientOptions& options, Dial dial) {
  auto client = std::make_unique<Client>(Connecting(), options, std::move(dial));
  ClientOptions& mine = client->options_;
  if (mine.address.empty()) {
    TRY(mine.address, default_control_address());
  }
  if (mine.name.empty()) mine.name = own_name();
  client->session_ = make_request_id().text();
  TRY(client->control_, client->dial_(mine.address, kMaxControlBytes));
  Hello hello;
  hello.role = mine.role;
  hello.name = mine.name;
  hello.software = "enginery";
  hello.pid = getpid();
  Message request;
  request.envelope.body = hello;
  request.envelope.request = make_request_id();
  TRY(Message reply, client->exchange(*client->control_, std::move(request), mine.connect_timeout));
  TRY(client->welcome_, expect<Welcome>(reply));
  return client;
}

// Sends until the answer with the request's id comes, also during a long poll: after a restart the
// coordinator knows nothing of what it held. Requests are idempotent.
Result<Message> Client::exchange(Link& link, Message request, milliseconds timeout) {
  request.envelope.session = session_;
  request.envelope.sequence = ++sequence_;
  const Nanoseconds end = clock().monotonic() + timeout;
  Nanoseconds send_at = clock().monotonic();
  bool refused = false;
  while (true) {
    // A link that refused comes back from receive when it can send.
    if (refused || clock().monotonic() >= send_at) {
      const Status sent = link.send(request);
      if (!sent.ok() && sent.error().code != ErrorCode::unavailable) return sent.error();
      refused = !sent.ok();
      send_at = clock().monotonic() + (refused ? kSendAgainAfter : options_.repeat_after);
    }
    const Nanoseconds left = std::min(end, send_at + milliseconds(1)) - clock().monotonic();
    const auto wait = std::chrono::duration_cast<milliseconds>(left);
    TRY(std::optional<Message> reply, link.receive(std::max(milliseconds(0), wait), -1));
    if (reply && reply->envelope.request == request.envelope.request) return std::move(*reply);
    const std::optional<Error> trouble = link.trouble();
    const bool is_over = clock().monotonic() >= end;  // read once: between two reads it may pass
    if (trouble && (is_over || trouble->code == ErrorCode::untrusted)) return *trouble;
    if (is_over)
      return Error{ErrorCode::unavailable,
                   "coordinator at " + options_.address + " does not answer within " +
                       std::to_string(timeout.count() / 1000) + " s; start one with: enginery up"};
  }
}

template <ControlRequest Request>
Result<ReplyOf<Request>> Client::call(Request request, milliseconds hold) {
  return call_with_id(std::move(request), make_request_id(), hold);
}

template <ControlRequest Request>
Result<ReplyOf<Request>> Client::call_with_id(Request request, RequestId id, milliseconds hold) {
  Message message;
  message.envelope.request = id;
  message.envelope.body = std::move(request);
  TRY(Message reply, exchange(*control_, std::move(message), hold + options_.reply_timeout));
  return expect<ReplyOf<Request>>(reply);
}

Result<Link*> Client::bulk() {
  if (!bulk_) {
    TRY(bulk_, dial_(with_host_of(welcome_.bulk_address, options_.address), kMaxBulkBytes));
  }
  return bulk_.get();
}

template <BulkRequest Request>
Result<ReplyOf<Request>> Client::call_bulk(Request request, milliseconds hold) {
  Bytes no_chunk;
  return call_bulk(std::move(request), no_chunk, hold);
}

// Sends the chunk along and leaves the reply's in its place.
template <BulkRequest Request>
Result<ReplyOf<Request>> Client::call_bulk(Request request, Bytes& chunk, milliseconds hold) {
  TRY(Link * link, bulk());
  Message message;
  message.envelope.request = make_request_id();
  message.envelope.body = std::move(request);
  message.chunk = std::move(chunk);
  TRY(Message reply, exchange(*link, std::move(message), hold + options_.reply_timeout));
  chunk = std::move(reply.chunk);
  return expect<ReplyOf<Request>>(reply);
}

Result<JobView> Client::submit(const SubmitRequest& request, RequestId id) {
  SubmitRequest named = request;
  if (named.client.empty()) named.client = options_.name;
  TRY(JobReply reply, call_with_id(std::move(named), id, {}));
  return std::move(reply.job);
}

Result<std::vector<JobLine>> Client::jobs(uint32_t limit) {
  TRY(JobList list, call(ListJobs{limit, ""}));
  return std::move(list.jobs);
}

Result<JobView> Client::show(const std::string& job) {
  TRY(JobReply reply, call(ShowJob{job}));
  return std::move(reply.job);
}

Result<JobView> Client::wait(const std::string& job, uint64_t known_revision, milliseconds hold,
                             bool until_end) {
  const WaitJob wait{job, known_revision, static_cast<uint32_t>(hold.count()), until_end};
  TRY(JobReply reply, call(wait, hold));
  return std::move(reply.job);
}

Result<JobView> Client::cancel(const std::string& job) {
  TRY(JobReply reply, call(CancelJob{job}));
  return std::move(reply.job);
}

Result<std::vector<ExplainView>> Client::explain(const std::string& job) {
  TRY(ExplainReply reply, call(ExplainJob{job}));
  return std::move(reply.targets);
}

Result<std::vector<EngineView>> Client::find_engines(const FindEngines& request) {
  TRY(EngineList list, call(request));
  return std::move(list.engines);
}

Result<std::vector<MissView>> Client::why_miss(const std::string& subject) {
  TRY(WhyMissReply reply, call(WhyMiss{subject}));
  return std::move(reply.misses);
}

// An examination reads every blob, and a collection may remove many.
constexpr std::chrono::hours kLongestCatalogCall{6};

Result<std::string> Client::ask_catalog(const AskCatalog& question) {
  TRY(CatalogAnswer answer, call(question, kLongestCatalogCall));
  return std::move(answer.json);
}

Result<std::string> Client::order_catalog(const OrderCatalog& order) {
  TRY(CatalogAnswer answer, call(order, kLongestCatalogCall));
  return std::move(answer.json);
}

Result<EventList> Client::events(const ListEvents& request) {
  return call(request, milliseconds(request.hold_ms));
}

Result<Bytes> Client::make_set(const std::string& name, const std::string& tag) {
  TRY(SetReply reply, call(MakeSet{name, tag}));
  return std::move(reply.set);
}

Result<std::vector<SkuView>> Client::skus() {
  TRY(SkuList list, call(ListSkus{}));
  return std::move(list.skus);
}

Result<std::vector<WorkerView>> Client::workers() {
  TRY(WorkerList list, call(ListWorkers{}));
  return std::move(list.workers);
}

Status Client::drain(const std::string& worker, bool exit) {
  TRY(const Done done, call(DrainWorker{worker, exit}));
  (void)done;
  return {};
}

Status Client::undrain(const std::string& worker) {
  TRY(const Done done, call(UndrainWorker{worker}));
  (void)done;
  return {};
}

Status Client::forget_worker(const std::string& worker) {
  TRY(const Done done, call(ForgetWorker{worker}));
  (void)done;
  return {};
}

Result<ProblemTaken> Client::take_problem(const TakeProblem& request) {
  return call(request);
}

Result<std::string> Client::join(const PublicKey& key, const std::string& name) {
  TRY(Joined joined, call(JoinFarm{Bytes(key.begin(), key.end()), name}));
  return std::move(joined.name);
}

Result<SyncReply> Client::sync(const SyncRequest& request) {
  constexpr milliseconds kMaxHold{5000};
  return call(request, kMaxHold);
}

// ---- bulk: logs and timings; blobs are in client_transfers.cpp

Result<std::vector<BlobState>> Client::has_blobs(const std::vector<Digest>& digests) {
  std::vector<BlobState> states;
  constexpr size_t kPage = 5000;
  for (size_t from = 0; from < digests.size(); from += kPage) {
    const size_t to = std::min(digests.size(), from + kPage);
    TRY(BlobStates page, call_bulk(HasBlobs{{digests.begin() + from, digests.begin() + to}}));
    if (page.blobs.size() != to - from)
      return Error{ErrorCode::internal, "coordinator: an incomplete answer to has_blobs"};
    states.insert(states.end(), page.blobs.begin(), page.blobs.end());
  }
  return states;
}

Status Client::ask_to_check(const Digest& digest) {
  TRY([[maybe_unused]] const BlobChunk chunk, call_bulk(GetBlob{digest, 0, 1}));
  return {};
}

Result<uint64_t> Client::append_log(const StepRef& ref, uint64_t offset, const std::string& text) {
  TRY(const AppendReply reply, call_bulk(AppendLog{ref, offset, text}));
  return reply.offset;
}

Result<LogChunk> Client::read_log(const std::string& job, uint64_t offset, bool follow,
                                  milliseconds hold) {
  ReadLog read;
  read.job = job;
  read.offset = offset;
  read.follow = follow;
  read.hold_ms = static_cast<uint32_t>(hold.count());
  return call_bulk(read, follow ? hold : milliseconds(0));
}

Result<std::vector<TimingEntry>> Client::get_timings(const Digest& device,
                                                     const std::vector<Digest>& problems) {
  std::vector<TimingEntry> all;
  GetTimings get{device, problems, 0};
  while (true) {
    TRY(TimingList page, call_bulk(get));
    std::move(page.entries.begin(), page.entries.end(), std::back_inserter(all));
    if (page.complete) return all;
    if (page.next_row <= get.from_row)
      return Error{ErrorCode::internal, "coordinator: timings without an end"};
    get.from_row = page.next_row;
  }
}

Result<uint64_t> Client::put_timings(const std::vector<Bytes>& keys,
                                     const std::vector<TimingEntry>& entries) {
  constexpr size_t kPage = 500;
  uint64_t stored = 0;
  for (size_t from = 0; from == 0 || from < entries.size(); from += kPage) {
    PutTimings put;
    if (from == 0) put.keys = keys;  // recorded before the first entry that names them
    put.entries.assign(entries.begin() + from,
                       entries.begin() + std::min(entries.size(), from + kPage));
    TRY(const PutTimingsReply reply, call_bulk(std::move(put)));
    stored += reply.stored;
  }
  return stored;
}

}  // namespace enginery
