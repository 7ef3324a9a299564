// Every TimingStore of the worker holds the promises of tests/support/timing_store_suite.h.
#include <unistd.h>

#include "pipeline/keys.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/timing_store_suite.h"
#include "worker/timing/catalog_timing_store.h"
#include "worker/timing/farm_timing_store.h"
#include "worker/timing/pipe_timing_store.h"
#include "worker/timing/timing_file.h"

namespace enginery::test {
namespace {

class InFile final : public TimingStoreUnderTest {
 public:
  TimingStore& store() override { return *store_; }

 private:
  const TemporaryFolder folder_;
  const SystemClock clock_;
  const std::unique_ptr<FileTimingStore> store_ =
      FileTimingStore::open(folder_.path / "timings.json", clock_).value();
};

class InCatalog final : public TimingStoreUnderTest {
 public:
  TimingStore& store() override { return store_; }

 private:
  const TemporaryFolder folder_;
  const std::unique_ptr<Catalog> catalog_ = Catalog::open(folder_.path).value();
  CatalogTimingStore store_{*catalog_};
};

// The farm knows nothing yet; what the store reports is dropped.
class OnFarm final : public TimingStoreUnderTest {
 public:
  TimingStore& store() override { return store_; }

 private:
  FarmTimingStore store_{[](const Digest&, const Digest&) { return std::vector<TimingEntry>(); },
                         [](const RunnerTiming&) {}};
};

// A runner's store over two pipes, with an agent at the other end that keeps timings in memory.
class OverPipe final : public TimingStoreUnderTest {
 public:
  OverPipe() {
    EXPECT_EQ(pipe(to_agent_), 0);
    EXPECT_EQ(pipe(to_runner_), 0);
    out_.emplace(to_agent_[1]);
    store_.emplace(to_runner_[0], lines_, *out_);
    agent_ = std::thread([this] { answer(); });
  }
  ~OverPipe() override {
    close(to_agent_[1]);
    agent_.join();
    for (const int fd : {to_agent_[0], to_runner_[0], to_runner_[1]}) close(fd);
  }
  TimingStore& store() override { return *store_; }

 private:
  void answer() {
    LineBuffer heard;
    LineWriter answers(to_runner_[1]);
    MemoryTimingStore known;
    while (true) {
      const auto line = read_line(to_agent_[0], heard);
      if (!line.ok()) return;
      const auto report = parse_report(*line);
      ASSERT_TRUE(report.ok()) << *line;
      if (const auto* timing = std::get_if<RunnerTiming>(&*report)) {
        ASSERT_TRUE(known.put(timing->device, timing->problem, *parse_timing(timing->entry)).ok());
      } else {
        const auto& want = std::get<WantTimings>(*report);
        const auto timings = known.find(want.device, want.problem);
        ASSERT_TRUE(timings.ok());
        KnownTimings found;
        for (const Timing& t : *timings) found.entries.push_back(to_json(t));
        ASSERT_TRUE(answers.write(to_line(found)).ok());
      }
    }
  }

  int to_agent_[2] = {}, to_runner_[2] = {};
  LineBuffer lines_;
  std::optional<LineWriter> out_;
  std::optional<PipeTimingStore> store_;
  std::thread agent_;
};

template <typename T>
std::unique_ptr<TimingStoreUnderTest> make() {
  return std::make_unique<T>();
}

INSTANTIATE_TEST_SUITE_P(Stores, TimingStoreTest,
                         testing::Values(TimingStoreCase{"File", make<InFile>},
                                         TimingStoreCase{"Catalog", make<InCatalog>},
                                         TimingStoreCase{"Farm", make<OnFarm>},
                                         TimingStoreCase{"Pipe", make<OverPipe>}),
                         timing_store_name);

}  // namespace
}  // namespace enginery::test
