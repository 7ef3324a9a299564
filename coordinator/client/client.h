// Typed calls to the coordinator: what the command line and the worker use.
//
// Each call repeats its request (same id) until the answer comes or `reply_timeout` is over, so it
// survives lost messages and a restart of the coordinator. Errors: unavailable (no coordinator
// answers; the message names the address and the command that starts one), and whatever the
// coordinator answered. Threads: one thread at a time; make one client per thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/client/chunk_window.h"
#include "coordinator/client/identity.h"
#include "engine/base/clock.h"

namespace enginery {

struct ClientOptions {
  std::string address;  // "" means default_control_address()
  std::string role = "cli";
  std::string name;  // whose fair share; "" means user@host
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds reply_timeout{20000};  // on top of a long poll's own time
  std::chrono::milliseconds repeat_after{2000};    // a request without an answer is sent again
  const Clock* clock = nullptr;  // null: the machine's; otherwise outlives the client
};

// Says how far a transfer is; called after every chunk.
using TransferProgress = std::function<void(uint64_t done_bytes, uint64_t total_bytes)>;

// Takes the next bytes of a download; gives `size` bytes of an upload from `offset` on. An error
// ends the transfer.
using ChunkSink = std::function<Status(Bytes part)>;
using ChunkSource = std::function<Result<Bytes>(uint64_t offset, size_t size)>;

class Client {
  struct Connecting {
    explicit Connecting() = default;
  };

 public:
  // Connects and says Hello. unavailable within connect_timeout when nobody answers; unsupported:
  // no common version.
  static Result<std::unique_ptr<Client>> connect(const ClientOptions& options, Dial dial);
  ~Client();

  const Welcome& welcome() const { return welcome_; }

  // Submits; repeating the call with the same id returns the same job.
  Result<JobView> submit(const SubmitRequest& request, RequestId id);
  Result<std::vector<JobLine>> jobs(uint32_t limit);
  Result<JobView> show(const std::string& job);
  // Waits at most `hold` for a change beyond `known_revision` (or for the end only); returns the
  // job as it then is.
  Result<JobView> wait(const std::string& job, uint64_t known_revision,
                       std::chrono::milliseconds hold, bool until_end);
  Result<JobView> cancel(const std::string& job);
  Result<std::vector<ExplainView>> explain(const std::string& job);

  Result<std::vector<EngineView>> find_engines(const FindEngines& request);
  Result<std::vector<MissView>> why_miss(const std::string& subject);
  // Waits at most request.hold_ms for a line.
  Result<EventList> events(const ListEvents& request);
  // The bytes of a signed set (pipeline/engine_set.h): the caller checks them.
  Result<Bytes> make_set(const std::string& name, const std::string& tag);

  // The document that answers; an order may take as long as it needs.
  Result<std::string> ask_catalog(const AskCatalog& question);
  Result<std::string> order_catalog(const OrderCatalog& order);

  Result<std::vector<SkuView>> skus();
  Result<std::vector<WorkerView>> workers();
  Status drain(const std::string& worker, bool exit);
  // The end of a drain and of a quarantine.
  Status undrain(const std::string& worker);
  // usage: the worker is connected.
  Status forget_worker(const std::string& worker);
  // Over a connection with a token's key: allows the key in its place; the name that it got.
  Result<std::string> join(const PublicKey& key, const std::string& name);

  // --- bulk
  // -------------------------------------------------------------------------------------------------------
  Result<std::vector<BlobState>> has_blobs(const std::vector<Digest>& digests);
  // Uploads what is missing of the bytes, from where an earlier try stopped; returns their digest.
  Result<Digest> put_blob(ByteSpan bytes, const TransferProgress& progress = {});
  // Downloads and checks a blob. not_found; corrupt_data: the server's copy is damaged.
  Result<Bytes> get_blob(const Digest& digest, const TransferProgress& progress = {});
  // The same without the whole blob in memory: sixteen chunks are on their way at most. A download
  // begins at `from` and is not checked: the caller hashes what it has, and asks wrong_bytes when
  // it is not the blob. An upload's bytes are checked by the coordinator.
  Status get_chunks(const Digest& digest, uint64_t from, const ChunkSink& sink,
                    const TransferProgress& progress = {});
  Status put_chunks(const Digest& digest, uint64_t size, const ChunkSource& source,
                    const TransferProgress& progress = {});
  // Why a download had another digest: the coordinator's copy is damaged (which it then sets
  // aside), or the way was. corrupt_data or not_found.
  Error wrong_bytes(const Digest& digest);

  // `text` begins at `offset` of this lease's log; returns where to go on.
  Result<uint64_t> append_log(const StepRef& ref, uint64_t offset, const std::string& text);
  // With follow: waits at most `hold` for bytes beyond `offset`.
  Result<LogChunk> read_log(const std::string& job, uint64_t offset, bool follow,
                            std::chrono::milliseconds hold);

  // All rows of a device, or of some of its problems.
  Result<std::vector<TimingEntry>> get_timings(const Digest& device,
                                               const std::vector<Digest>& problems);
  Result<uint64_t> put_timings(const std::vector<Bytes>& keys,
                               const std::vector<TimingEntry>& entries);

  // Whether the worker may measure the problem now.
  Result<ProblemTaken> take_problem(const TakeProblem& request);
  // One Sync, waiting for its answer. An agent that must react to its runner meanwhile uses a Link
  // of its own.
  Result<SyncReply> sync(const SyncRequest& request);

  // For connect(), which alone can make the key.
  Client(Connecting, ClientOptions options, Dial dial)
      : options_(std::move(options)), dial_(std::move(dial)) {}

 private:
  const Clock& clock() const { return options_.clock ? *options_.clock : system_clock_; }
  Result<Message> exchange(Link& link, Message request, std::chrono::milliseconds timeout);
  template <ControlRequest Request>
  Result<ReplyOf<Request>> call(Request request, std::chrono::milliseconds hold = {});
  template <ControlRequest Request>
  Result<ReplyOf<Request>> call_with_id(Request request, RequestId id,
                                        std::chrono::milliseconds hold);
  template <BulkRequest Request>
  Result<ReplyOf<Request>> call_bulk(Request request, std::chrono::milliseconds hold = {});
  template <BulkRequest Request>
  Result<ReplyOf<Request>> call_bulk(Request request, Bytes& chunk, std::chrono::milliseconds hold);
  Result<Link*> bulk();
  Result<ChunkWindow> window();
  // get_chunks, with the blob's size beside each part.
  using SizedSink = std::function<Status(Bytes part, uint64_t size_bytes)>;
  Status receive_chunks(const Digest& digest, uint64_t from, const SizedSink& sink,
                        const TransferProgress& progress);
  Status ask_to_check(const Digest& digest);
  Status upload(const Digest& digest, uint64_t size, uint64_t offset, const ChunkSource& source,
                const TransferProgress& progress);

  ClientOptions options_;
  SystemClock system_clock_;
  Dial dial_;
  std::unique_ptr<Link> control_, bulk_;
  std::string session_;
  uint64_t sequence_ = 0;
  Welcome welcome_;
};

}  // namespace enginery
