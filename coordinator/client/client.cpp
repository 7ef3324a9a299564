#include "coordinator/client/client.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string own_name() {
  const passwd* user = getpwuid(getuid());
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return (user != nullptr ? std::string(user->pw_name) : std::to_string(getuid())) + "@" + host;
}

milliseconds until(steady_clock::time_point end) {
  return std::max(milliseconds(0),
                  std::chrono::duration_cast<milliseconds>(end - steady_clock::now()));
}

}  // namespace

Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::connect(const ClientOptions& options, Dial dial) {
  std::unique_ptr<Client> client(new Client(options, std::move(dial)));
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
  if (auto* error = std::get_if<ErrorReply>(&reply.envelope.body))
    return Error{error->fault.code, error->fault.message};
  auto* welcome = std::get_if<Welcome>(&reply.envelope.body);
  if (welcome == nullptr)
    return Error{ErrorCode::internal, "coordinator at " + mine.address + ": no answer to Hello"};
  client->welcome_ = std::move(*welcome);
  return client;
}

// Sends until the answer with the request's id comes, also during a long poll: after a restart the
// coordinator knows nothing of what it held. Requests are idempotent.
Result<Message> Client::exchange(Link& link, Message request, milliseconds timeout) {
  request.envelope.session = session_;
  request.envelope.sequence = ++sequence_;
  const auto end = steady_clock::now() + timeout;
  auto send_at = steady_clock::now();
  while (true) {
    if (steady_clock::now() >= send_at) {
      const Status sent = link.send(request);
      if (!sent.ok() && sent.error().code != ErrorCode::unavailable) return sent.error();
      send_at = steady_clock::now() + (sent.ok() ? options_.repeat_after : milliseconds(50));
    }
    const milliseconds wait = std::min(until(end), until(send_at) + milliseconds(1));
    TRY(std::optional<Message> reply, link.receive(wait, -1));
    if (reply && reply->envelope.request == request.envelope.request) return std::move(*reply);
    if (steady_clock::now() >= end)
      return Error{ErrorCode::unavailable,
                   "coordinator at " + options_.address + " does not answer within " +
                       std::to_string(timeout.count() / 1000) + " s; start one with: enginery up"};
  }
}

template <typename Reply>
Result<Reply> Client::call(Body body, milliseconds hold) {
  return call_with<Reply>(std::move(body), make_request_id(), hold);
}

template <typename Reply>
Result<Reply> Client::call_with(Body body, RequestId id, milliseconds hold) {
  Message request;
  request.envelope.request = id;
  request.envelope.body = std::move(body);
  TRY(Message reply, exchange(*control_, std::move(request), hold + options_.reply_timeout));
  if (auto* error = std::get_if<ErrorReply>(&reply.envelope.body))
    return Error{error->fault.code, error->fault.message};
  auto* wanted = std::get_if<Reply>(&reply.envelope.body);
  if (wanted == nullptr)
    return Error{ErrorCode::internal, "coordinator: an answer of another kind than asked for"};
  return std::move(*wanted);
}

Result<JobView> Client::submit(const SubmitRequest& request, RequestId id) {
  SubmitRequest named = request;
  if (named.client.empty()) named.client = options_.name;
  TRY(JobReply reply, call_with<JobReply>(std::move(named), id, {}));
  return std::move(reply.job);
}

Result<std::vector<JobLine>> Client::jobs(uint32_t limit) {
  TRY(JobList list, call<JobList>(ListJobs{limit, ""}));
  return std::move(list.jobs);
}

Result<JobView> Client::show(const std::string& job) {
  TRY(JobReply reply, call<JobReply>(ShowJob{job}));
  return std::move(reply.job);
}

Result<JobView> Client::wait(const std::string& job, uint64_t known_revision, milliseconds hold,
                             bool until_end) {
  const WaitJob wait{job, known_revision, static_cast<uint32_t>(hold.count()), until_end};
  TRY(JobReply reply, call<JobReply>(wait, hold));
  return std::move(reply.job);
}

Result<JobView> Client::cancel(const std::string& job) {
  TRY(JobReply reply, call<JobReply>(CancelJob{job}));
  return std::move(reply.job);
}

Result<std::vector<ExplainView>> Client::explain(const std::string& job) {
  TRY(ExplainReply reply, call<ExplainReply>(ExplainJob{job}));
  return std::move(reply.targets);
}

Result<std::vector<EngineView>> Client::find_engines(const FindEngines& request) {
  TRY(EngineList list, call<EngineList>(request));
  return std::move(list.engines);
}

Result<std::vector<MissView>> Client::why_miss(const std::string& subject) {
  TRY(WhyMissReply reply, call<WhyMissReply>(WhyMiss{subject}));
  return std::move(reply.misses);
}

Result<std::vector<SkuView>> Client::skus() {
  TRY(SkuList list, call<SkuList>(ListSkus{}));
  return std::move(list.skus);
}

Result<std::vector<WorkerView>> Client::workers() {
  TRY(WorkerList list, call<WorkerList>(ListWorkers{}));
  return std::move(list.workers);
}

Status Client::drain(const std::string& worker, bool exit) {
  TRY(const Done done, call<Done>(DrainWorker{worker, exit}));
  (void)done;
  return {};
}

Result<SyncReply> Client::sync(const SyncRequest& request) {
  constexpr milliseconds kMaxHold{5000};
  return call<SyncReply>(request, kMaxHold);
}

}  // namespace enginery
