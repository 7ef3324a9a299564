// The queue: steps that are to be run, the workers that run them, and the leases between the two.
//
// A step is queued in a pool, leased to an idle worker under a new epoch, and ends by a result that
// is committed or by being given up; in between it may be tried again (retry.h). On a device at
// most one step runs while it measures.
//
// Where: the lowest of the core's objects. It knows steps and who waits for them by number, no jobs
// and no chain; Targets adds steps and waits for them, Core feeds it the workers' Syncs. What
// happens to a step is handed up as a StepEvent: the queue calls nobody. Ordered containers, so
// that the same events give the same effects. Threads: as Core.
#pragma once

#include <unordered_map>

#include "coordinator/core/key_troubles.h"
#include "coordinator/core/pools.h"

namespace enginery {

// A worker on which this many distinct steps failed, and nowhere else, is quarantined.
inline constexpr size_t kQuarantineAfterSteps = 3;

// Limit of the names of workers, devices, SKUs and tags.
inline constexpr size_t kMaxNameBytes = 200;

// Of a step whose problems several workers may measure: what is known of its assistants.
struct Sharing {
  std::vector<uint64_t> assistants;  // all steps that have assisted it, in their order
  uint32_t most_workers = 0;         // that may share it; 0: as many as are free
  size_t lacked = 0;                 // problems, when its leader began to take them; 0: not yet
  std::set<Digest> taken;            // since then, by anybody
  std::set<std::string> ended_on;    // workers that have assisted since then, and do no longer
  int lost = 0;                      // assistants that ended badly
};

struct LiveStep {
  StepRow row;
  std::set<Waiter> waiters;
  std::string pool;           // "" until it was ready once
  Nanoseconds retry_at{};     // back-off after a failed attempt, monotonic
  Nanoseconds leased_at{};    // the latest lease, or the start of the coordinator, monotonic
  Nanoseconds progress_at{};  // when the progress last changed, monotonic
  Progress progress;
  Charge charge;                    // of the latest lease
  std::set<std::string> failed_on;  // workers that another one is better than (retry.h)
  bool signing = false;             // sign: a SignTask is out
  Sharing sharing;
  uint32_t ordinal = 0;           // an assistant is its leader's n-th
  std::optional<Digest> in_hand;  // the problem that its worker measures
  uint32_t problems_taken = 0;    // by its workers
};

// A SKU with one of its toolchains, and how many of its workers are connected.
struct OfferedSku {
  SeenSku row;
  size_t workers = 0;
};
using OfferedSkus = std::map<SkuToolchain, OfferedSku>;

struct LiveWorker {
  WorkerNo number = 0;
  SyncRequest sync;        // the latest; its state is what the worker says of itself
  Nanoseconds seen{};      // when, monotonic
  bool lost = false;       // it fell silent
  bool reported = false;   // has synced since this coordinator started
  bool listening = false;  // its Sync is held, so that it can be told something
  uint64_t lease = 0;      // the step that it holds, or 0
  bool drain = false, exit = false, drain_told = false;
  bool resume = false, resume_told = false;  // after a drain that it was told of
  std::optional<StepRef> cancel_told;
  std::vector<std::string> pools;          // from which it takes work
  std::optional<SkuToolchain> counted_as;  // in the offered SKUs, while it is connected
  // Its health (health.cpp): the keys of the steps that failed here and nowhere else since the
  // latest success of their kind; why it gets no work, or ""; the self-test that it is to make, or
  // 0.
  std::map<Digest, StepKind> failures;
  std::string quarantine;
  uint64_t exam = 0;
  bool exam_told = false;
  int quarantines = 0;  // since its latest success
};

// --- What happened to a step, for those who wait for it.

// Its state or progress changed.
struct StepMoved {
  std::set<Waiter> waiters;
};
// Its result is the answer to its key from now on.
struct StepCommitted {
  StepKind kind = StepKind::validate;
  Digest key;
  int64_t generation = 1;
  uint64_t step = 0;
  uint64_t job = 0;  // which made it
  StepResult result;
  std::set<Waiter> waiters;
};
// It ended without a result.
struct StepGaveUp {
  Fault fault;
  bool inputs_gone = false;  // because blobs of earlier steps have disappeared
  std::set<Waiter> waiters;
};
using StepEvent = std::variant<std::monostate, StepMoved, StepCommitted, StepGaveUp>;

// A step that has just been given to a worker.
struct Lease {
  uint64_t step = 0;
  WorkerNo worker = 0;
};

// What is to be done with a Sync.
enum class Reception : uint8_t {
  take,
  restart,   // take it, but first the worker's former process has lost its lease
  overtake,  // ignore it: a newer one of the same process has come already
  outlived,  // a newer process of this worker has taken over: this one should exit
};

// What a worker whose Sync is held should be told.
enum class Order : uint8_t {
  none,
  cancel,       // to stop what it runs without a lease
  cancel_told,  // likewise, but it has been told and repeats itself: hold its Sync for a while
  run,          // the step of its lease: the first answer was lost
  abandon,      // nothing: nobody waits for its lease's step any longer, so cancel that first
  drain,
  exit,
  examine,
  resume,
};

// What a worker occupies on its device: nothing, or a step that runs (also one that it should have
// stopped).
enum class Load : uint8_t { none, working, measuring };

class Queue {
 public:
  // `options` outlives it.
  explicit Queue(const CoreOptions& options)
      : options_(options), troubles_(options.key_quarantine) {}

  // --- start

  void load(LoadedQueue rows);
  // Workers of the leases before the restart go on running: each has worker_lost_after to sync.
  void start(Turn& turn);

  // --- steps

  const LiveStep* find(uint64_t id) const;                           // null: no such step
  const LiveStep& step(uint64_t id) const { return steps_.at(id); }  // which must exist
  // The step with this key that has not ended.
  std::optional<uint64_t> in_flight(const Digest& key) const;
  // Adds a step (its id is decided here) and records the key's own bytes; nobody waits for it yet.
  uint64_t add(StepRow row, Bytes key_bytes, Turn& turn);
  // The target waits for the step from now on; its job counts with this share.
  void join(uint64_t step, const Waiter& waiter, const Share& share);
  // The target waits no longer. True when nobody is left: then the step is to be cancelled.
  bool leave(uint64_t step, const Waiter& waiter);
  // Puts a queued step in the lines of its waiters' clients. Without a waiter, or during its
  // back-off, it stays outside.
  void make_ready(uint64_t step, Turn& turn);
  // Why no step is made for the key, which is a `kind`'s; nothing when one may be.
  std::optional<Fault> quarantine_of(const Digest& key, StepKind kind, Now now) const;
  // Somebody wants the key tried again.
  void forgive(const Digest& key, Turn& turn) { troubles_.clear(key, turn); }
  // The job has ended: its share is not needed any longer.
  void forget_job(uint64_t job) { pools_.forget_job(job); }
  // Drops a step that has ended.
  void forget(uint64_t step) { steps_.erase(step); }
  // Ends a step that nobody waits for. Returns the worker that held its lease and has to stop.
  std::optional<WorkerNo> cancel(uint64_t step, Turn& turn);

  // --- leases

  // Leases one ready step to one idle worker, in fair order; nothing when there is nothing to
  // lease. The worker's held Sync is to be answered with the step.
  std::optional<Lease> lease_next(Turn& turn);
  // The same for a worker that assists where nothing is ready for it.
  std::optional<Lease> lease_assistant(Turn& turn);
  // Whether the worker holds the lease under exactly this epoch.
  bool owns(WorkerNo worker, const StepRef& ref) const;
  // Whether the worker leaves the step to another one that lives: it has failed on it.
  bool avoids(const LiveWorker& worker, const LiveStep& step) const;
  // What the worker takes next of what is ready now.
  std::optional<Head> next_for(const LiveWorker& worker) const;

  // --- workers; a number from worker_of is valid until the worker is forgotten, and never
  // another's

  // Why the Sync is refused; null when it is not.
  static const char* problem_of(const SyncRequest& sync);
  WorkerNo worker_of(const SyncRequest& sync, Turn& turn);
  std::optional<WorkerNo> worker_named(const std::string& name) const;
  const LiveWorker& worker(WorkerNo number) const { return workers_.at(number); }
  bool has(WorkerNo number) const { return workers_.count(number) != 0; }
  Reception receive(WorkerNo worker, const SyncRequest& sync) const;
  // Takes what the worker says of itself. True when this Sync repeats the one before.
  bool update(WorkerNo worker, const SyncRequest& sync, Turn& turn);
  // Lets what the worker says have its consequences for the step of its lease. `missing`: which of
  // the outputs that it reports are not in the store.
  StepEvent heed(WorkerNo worker, const std::vector<Digest>& missing, Turn& turn);
  // What to tell the worker now; remembers that it was told.
  Order order_for(WorkerNo worker);
  // Its Sync was answered: it cannot be told anything until the next one.
  void stop_listening(WorkerNo worker);
  // What to say when the time of its held Sync is over.
  Desired parting_word(WorkerNo worker) const;
  // Takes the lease away from a worker that is gone; nothing when it has none.
  StepEvent lose(WorkerNo worker, const std::string& why, Turn& turn);
  // Its worker_lost timer fired. True when it has just been found lost.
  bool falls_silent(WorkerNo worker, Turn& turn);
  // For that long nobody could be heard: it counts as no one's silence.
  void extend_deadlines(Nanoseconds stall);
  // No new work for it; `to` exit: and it should end its process once it is idle.
  void drain(WorkerNo worker, const DrainWorker& request, Turn& turn);

  // The end of a drain and of a quarantine.
  void undrain(WorkerNo worker, Turn& turn);
  // Removes a worker that is lost. False: it is not.
  bool forget_worker(WorkerNo worker, Turn& turn);
  // Its time to be forgotten has come, unless it has been heard of since.
  void expire(WorkerNo worker, Turn& turn);
  // Its time for another self-test has come.
  void examine(WorkerNo worker, Turn& turn);

  // --- the coordinator's own step, sign: it has no lease, its epoch counts the attempts

  // Asks for the signature, unless that is under way or backed off.
  void ask_for_signature(uint64_t step, UnsignedEngine engine, Turn& turn);
  bool awaits_signature(uint64_t step, uint64_t epoch) const;
  StepEvent commit_signature(uint64_t step, StepResult result, Turn& turn);
  // Asks again later, or gives up.
  StepEvent signing_failed(uint64_t step, const Fault& fault, Turn& turn);

  // --- assistants: steps that measure for another one

  // Those who wait for the step, or for the one that it assists.
  const std::set<Waiter>& waiters_of(const LiveStep& step) const { return led_by(step).waiters; }
  // Whether the worker may measure the problem now; what it had in hand before is put back.
  bool take_problem(const TakeProblem& wish);
  // How many workers share the step.
  uint32_t sharers(uint64_t step) const;
  // A job that waits for the step allows so many workers to share it; 0: as many as are free.
  void allow_sharers(uint64_t step, uint32_t most);
  std::vector<uint64_t> assistants_at_work(const LiveStep& leader) const;
  size_t problems_left(const LiveStep& leader) const;  // that nobody has taken
  // Workers whose assisting has ended before they have: they are to be told.
  std::vector<WorkerNo> take_dismissed() { return std::exchange(dismissed_, {}); }

  // --- for views and explanations (explain.h, farm_views.h)

  const std::map<WorkerNo, LiveWorker>& workers() const { return workers_; }
  const std::map<std::string, WorkerNo>& workers_by_name() const { return worker_by_name_; }
  const OfferedSkus& skus() const { return skus_; }
  const Pools& pools() const { return pools_; }
  // The workers that share the device; null where none is known.
  const std::set<WorkerNo>* sharers_of(const std::string& device) const;
  Load load_of(const LiveWorker& worker) const;
  // The step's row in the table (null: a row that a newer program stored), its name, and whether it
  // needs its device for itself.
  const Step* row_of(StepKind kind) const;
  const char* name_of(StepKind kind) const { return to_string(kind, options_.steps); }
  bool measures(StepKind kind) const;
  // Whether nothing else may run on the device beside the step.
  bool is_alone(const LiveStep& step) const;
  Nanoseconds started() const { return started_; }
  const CoreOptions& options() const { return options_; }

  // The first broken rule of steps, leases, pools or devices; "" when all hold.
  std::string check() const;

 private:
  // queue.cpp: steps and how their attempts end
  std::string pool_of(const StepRow& step) const;
  void enqueue(LiveStep& step, Turn& turn);
  void end_attempt(LiveStep& step, OutcomeKind kind, const std::string& message, Turn& turn);
  StepEvent succeeded(LiveStep& step, const Outcome& outcome, const std::vector<Digest>& missing,
                      Turn& turn);
  StepEvent commit(LiveStep& step, StepResult result, Turn& turn);
  StepEvent retry_or_give_up(LiveStep& step, OutcomeKind kind, const Fault& fault, Turn& turn);
  StepGaveUp give_up(LiveStep& step, StepState state, const Fault& fault, Turn& turn);
  StepGaveUp inputs_gone(LiveStep& step, const Fault& fault, Turn& turn);
  void drop_lease(LiveStep& step);
  void settle(LiveStep& step, OutcomeKind kind, Turn& turn);

  // lease.cpp
  bool available(const LiveWorker& worker) const;
  bool serves(const LiveWorker& worker) const;
  void count_worker(LiveWorker& worker);
  void place_worker(LiveWorker& worker);
  bool is_alone(uint64_t step) const;
  bool next_device();
  std::optional<Lease> lease_on(const std::string& device, Turn& turn);
  Lease lease(LiveWorker& worker, const Place& place, Turn& turn);
  std::string check_step(const LiveStep& step) const;

  // assistants.cpp
  LiveStep& led_by(LiveStep& step);
  const LiveStep& led_by(const LiveStep& step) const;
  void put_back(LiveStep& step, OutcomeKind kind);
  bool wants_assistant(const LiveStep& leader) const;
  bool has_work_for(const LiveStep& leader, size_t workers) const;
  void note_leader(const LiveStep& step);
  LiveWorker* free_worker_for(const LiveStep& leader);
  uint64_t add_assistant(LiveStep& leader);
  static void join_leader(LiveStep& assistant, LiveStep& leader);
  StepEvent end_assistant(LiveStep& step, OutcomeKind kind, Turn& turn);
  void dismiss_assistants(LiveStep& leader, Turn& turn);
  std::string check_sharing(const LiveStep& step) const;

  // workers.cpp
  void note_wish(const LiveWorker& worker, Wish wish, Turn& turn);
  void recall_wish(LiveWorker& worker, Turn& turn);
  void see_sku(const SyncRequest& sync, Turn& turn);
  StepEvent running(LiveWorker& worker, const Running& state, Turn& turn);
  StepEvent finished(LiveWorker& worker, const Finished& state, const std::vector<Digest>& missing,
                     Turn& turn);

  // health.cpp
  void blame(LiveStep& step, OutcomeKind kind, const std::string& message, Turn& turn);
  void remember_attempts(LiveStep& step);
  void note_success(const LiveStep& step, Turn& turn);
  void absolve(LiveWorker& worker, Turn& turn);
  void quarantine(LiveWorker& worker, const std::string& reason, Turn& turn);
  void end_quarantine(LiveWorker& worker, Turn& turn);
  void take_exam(LiveWorker& worker, Turn& turn);

  const CoreOptions& options_;
  Nanoseconds started_{};
  std::map<uint64_t, LiveStep> steps_;
  std::unordered_map<Digest, uint64_t> in_flight_;  // key -> step that has not ended
  uint64_t next_step_ = 1;
  Pools pools_;
  std::map<WorkerNo, LiveWorker> workers_;
  WorkerNo next_worker_ = 0;
  std::map<std::string, WorkerNo> worker_by_name_;
  std::map<std::string, std::set<WorkerNo>> devices_;
  OfferedSkus skus_;
  KeyTroubles troubles_;
  std::map<std::string, QuarantinedWorker> quarantines_;  // by worker, as in the rows
  std::map<std::string, WorkerWish> wishes_;              // the same
  // Leases (step, epoch) lost by silence, by worker and incarnation: it may come back alive.
  std::map<std::pair<std::string, uint64_t>, std::vector<std::pair<uint64_t, uint64_t>>> silent_;
  // Workers that could not read the inputs of a key's step: the next step of the key avoids them.
  std::map<Digest, std::set<std::string>> failed_before_;
  // What the latest steps of a kind took in a pool, in seconds.
  std::map<std::pair<std::string, StepKind>, double> usual_seconds_;
  // Where something may be leased now, and how far lease_next has come: the idle worker of the
  // first pool that is next, and the device that may have more to lease.
  std::set<std::string> dirty_pools_, dirty_devices_, freed_devices_;
  std::set<WorkerNo> freed_;  // that have ended a step and wait to hear what is next
  WorkerNo next_idle_ = 0;
  std::optional<std::string> leasing_on_;
  // Steps that several workers may share now, by pool.
  std::map<std::string, std::set<uint64_t>> shared_;
  std::vector<WorkerNo> dismissed_;
};

// The pools' names.
std::string sku_pool(const std::string& sku, const std::string& toolchain);
std::string provisional_pool(const std::string& sku);
inline const std::string kAnyPool = "*";  // validate: any worker

}  // namespace enginery
