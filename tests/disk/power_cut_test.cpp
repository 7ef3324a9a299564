// R12: a power cut at any moment of a catalog's life leaves a catalog that opens clean and keeps
// everything that was acknowledged: results with their blobs, uploads, jobs of the queue.
//
// The whole life is recorded below the C library (disk_calls.h); then the disk of every moment is
// made again, in each of the ways in which unsynced bytes and names may be lost or kept.
#include <gtest/gtest.h>

#include <set>

#include "cache/blob_writer.h"
#include "cache/verify.h"
#include "coordinator/server/queue_driver.h"
#include "engine/base/file.h"
#include "tests/cache/support.h"
#include "tests/disk/disk_image.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;
using test::key_of;
using test::pattern;
using test::result_of;

constexpr Survives kWays[] = {Survives::nothing, Survives::names, Survives::half_write,
                              Survives::everything};

Bytes large(int number) {
  return pattern(120'000 + static_cast<size_t>(number), static_cast<uint64_t>(number));
}
Bytes small(int number) {
  return pattern(500, static_cast<uint64_t>(number));
}

// --- a catalog's life

void store_result(Catalog& catalog, int number) {
  const Digest engine = VALUE(catalog.blobs().put(as_bytes(large(number)))),
               log = VALUE(catalog.blobs().put(as_bytes(small(number))));
  const ActionKey key = key_of(number);
  VALUE(catalog.results().commit(key, result_of(key, {{"engine", engine}, {"log", log}})));
  DiskCalls::promise("result " + std::to_string(number));
}

void upload(Catalog& catalog, int number) {
  const Bytes bytes = large(number);
  const auto writer = VALUE(BlobWriter::open(*catalog.local_blobs()));
  const Digest digest = sha256(bytes);
  for (uint64_t at = 0; at < bytes.size(); at += 50'000)
    VALUE(writer->append(digest, at, bytes.substr(at, 50'000), bytes.size()));
  EXPECT_OK(writer->finish(digest));
  DiskCalls::promise("blob " + std::to_string(number));
}

SubmitRequest submit_of(int number) {
  SubmitRequest submit;
  submit.name = "net";
  submit.model = sha256(small(number));
  submit.wait_for_workers = true;
  submit.validate_key = {{"model", submit.model.text()}};
  submit.targets.resize(1);
  submit.targets[0].sku = "cpu-avx2";
  submit.targets[0].engine_key = {{"model", submit.model.text()}, {"sku", "cpu-avx2"}};
  submit.targets[0].tune_key = {{"structure", "s"}, {"sku", "cpu-avx2"}};
  return submit;
}

// A worker takes the job's first step and reports its end: leases and results in one transaction
// with the queue.
void work(QueueDriver& queue, uint64_t sequence, const WorkerState& state) {
  SyncRequest sync;
  sync.worker = "w";
  sync.incarnation = 1;
  sync.sequence = sequence;
  sync.sku = "cpu-avx2";
  sync.kind = "cpu";
  sync.toolchain = "t";
  sync.device = "host";
  sync.state = state;
  queue.feed(Request{{"w", {2, sequence}}, "w", sync, {}});
}

void run_jobs(Catalog& catalog) {
  const auto store = VALUE(make_sqlite_store(catalog));
  const auto queue = VALUE(QueueDriver::open(*store, catalog.clock(), {}));
  uint64_t sequence = 0;
  for (int number = 1; number <= 3; ++number) {
    queue->feed(Request{{"c", {1, static_cast<uint64_t>(number)}}, "c", submit_of(number), {}});
    for (const Reply& reply : queue->flush().replies)
      if (const auto* job = std::get_if<JobReply>(&reply.body))
        DiskCalls::promise("job " + job->job.id);
    work(*queue, ++sequence, Idle{});
    for (const Reply& reply : queue->flush().replies) {
      const auto* answer = std::get_if<SyncReply>(&reply.body);
      const auto* run = answer == nullptr ? nullptr : std::get_if<RunStep>(&answer->desired);
      if (run == nullptr) continue;
      Outcome outcome;
      outcome.facts = {{"structure", "s"}};
      work(*queue, ++sequence, Finished{run->ref, outcome});
      (void)queue->flush();
    }
  }
}

CatalogOptions durable() {
  CatalogOptions options;
  options.database.quick_check = true;
  return options;
}

// Everything that a coordinator does with its disk. Checkpoints are frequent, so that many cuts
// fall into one.
void live(const fs::path& folder) {
  for (int round = 0; round < 2; ++round) {
    const auto catalog = VALUE(Catalog::open(folder, durable()));
    EXPECT_OK(catalog->database().script("PRAGMA wal_autocheckpoint=40"));
    for (int number = 1; number <= 3; ++number) store_result(*catalog, 10 * round + number);
    upload(*catalog, 10 * round + 5);
    if (round == 0) run_jobs(*catalog);
    // A blob that is forgotten and comes back.
    const Digest again = sha256(large(10 * round + 6));
    VALUE(catalog->blobs().put(as_bytes(large(10 * round + 6))));
    EXPECT_OK(catalog->blobs().remove(again));
    VALUE(catalog->blobs().put(as_bytes(large(10 * round + 6))));
    DiskCalls::promise("blob " + std::to_string(10 * round + 6));
  }
}

// --- what must be there afterwards

std::string missing_promise(Catalog& catalog, const LoadedQueue& queue, const std::string& what) {
  const std::string kind = what.substr(0, what.find(' ')), name = what.substr(what.find(' ') + 1);
  if (kind == "job") return queue.jobs.count(*job_number(name)) ? "" : "the job is not there";
  const int number = std::stoi(name);
  if (kind == "result" && !VALUE(catalog.results().lookup(key_of(number).digest())))
    return "the result is not there";
  for (const Bytes& bytes : {large(number), small(number)}) {
    if (kind == "blob" && bytes.size() < 1000) continue;
    const Result<Bytes> found = catalog.blobs().get(sha256(bytes));
    if (!found.ok()) return found.error().message;
  }
  return "";
}

// The disks that are made again need not outlive the test.
class NoSync final : public Durability {
 public:
  int sync(int) override { return 0; }
  int rename(const fs::path& from, const fs::path& to) override { return system_.rename(from, to); }

 private:
  SystemDurability system_;
};

// Opens the catalog as the next start of the machine would; "" when all is well.
std::string problem_after(const fs::path& folder, const std::vector<std::string>& promises) {
  NoSync durability;
  CatalogOptions options = test::quick();
  options.durability = &durability;
  options.database.quick_check = true;
  const auto opened = Catalog::open(folder, options);
  if (!opened.ok()) return "does not open: " + opened.error().message;
  Catalog& catalog = **opened;
  const auto store = VALUE(make_sqlite_store(catalog));
  const auto queue = store->load();
  if (!queue.ok()) return "its queue does not load: " + queue.error().message;
  for (const std::string& promise : promises)
    if (const std::string problem = missing_promise(catalog, *queue, promise); !problem.empty())
      return promise + ": " + problem;
  const VerifyReport report = VALUE(verify(catalog));
  for (const VerifyProblem& problem : report.problems)
    if (problem.kind != "corrupt_orphan")  // a name whose bytes never came; the next put mends it
      return problem.kind + " " + problem.subject + ": " + problem.detail;
  // And it works on, also where a cut left half of something.
  const Result<Digest> put = catalog.blobs().put(as_bytes(large(6)));
  if (!put.ok()) return "does not take a blob: " + put.error().message;
  return catalog.blobs().get(*put).ok() ? "" : "gives out another blob than it took";
}

DiskImage::Tree without_shared_memory(DiskImage::Tree tree) {
  tree.erase("catalog.db-shm");  // is made anew by the first who opens the database
  return tree;
}

Digest digest_of(const DiskImage::Tree& tree) {
  Sha256 hash;
  for (const auto& [path, content] : tree) {
    hash.update(as_bytes(path + (content ? ":" + std::to_string(content->size()) + ":" : "/")));
    if (content) hash.update(as_bytes(*content));
  }
  return hash.finish();
}

std::vector<DiskCall> record_life() {
  const test::TemporaryFolder folder;
  DiskCalls::begin(folder.path);
  live(folder.path);
  std::vector<DiskCall> calls = DiskCalls::end();
  DiskImage image;
  for (const DiskCall& call : calls) image.follow(call);
  // The recorder has missed nothing.
  const auto real = without_shared_memory(read_tree(folder.path)),
             seen = without_shared_memory(image.after_cut(Survives::everything));
  for (const auto& [path, content] : real)
    EXPECT_TRUE(seen.count(path) && seen.at(path) == content) << path << " was changed unseen";
  for (const auto& [path, content] : seen) EXPECT_TRUE(real.count(path)) << path << " is gone";
  return calls;
}

TEST(PowerCut, EveryMomentLeavesACatalogThatKeepsWhatItPromised) {
  const std::vector<DiskCall> calls = record_life();
  DiskImage image;
  std::vector<std::string> promises;
  std::set<std::pair<Digest, size_t>> tried;
  size_t cuts = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    image.follow(calls[i]);
    if (const auto* promised = std::get_if<Promised>(&calls[i])) promises.push_back(promised->what);
    for (const Survives way : kWays) {
      const DiskImage::Tree tree = without_shared_memory(image.after_cut(way));
      if (!tried.insert({digest_of(tree), promises.size()}).second) continue;
      const test::TemporaryFolder disk;
      write_tree(tree, disk.path);
      ++cuts;
      ASSERT_EQ(problem_after(disk.path, promises), "")
          << "a power cut after call " << i + 1 << " of " << calls.size()
          << "; survived: " << to_string(way);
    }
  }
  std::printf("%zu calls, %zu promises, %zu different disks after a power cut\n", calls.size(),
              promises.size(), cuts);
  EXPECT_GE(promises.size(), 13u);
  EXPECT_GT(cuts, 300u);
}

}  // namespace
}  // namespace enginery
