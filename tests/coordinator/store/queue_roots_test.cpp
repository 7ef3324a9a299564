// What running jobs need of the catalog's blobs.
#include "coordinator/store/queue_roots.h"

#include <gtest/gtest.h>

#include "coordinator/store/store.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

class QueueRootsTest : public testing::Test {
 protected:
  void apply(const RowChange& change) {
    ASSERT_TRUE(store_->begin().ok());
    ASSERT_TRUE(store_->apply(change).ok());
    ASSERT_TRUE(store_->commit().ok());
  }
  // A job whose only target has used the result of a key.
  void add_job(uint64_t number, JobState state, const std::string& model, const Digest& used) {
    JobRow job;
    job.number = number;
    job.request_id = {number, number};
    job.state = state;
    job.request = make_submit(model, {"x"});
    job.request.inputs = {{"samples", sha256("input of " + model), 5}};
    StepUse use;
    use.key = used;
    use.generation = 1;
    job.targets.resize(1);
    job.targets[0].uses = {use};
    apply(InsertJob{std::move(job)});
  }

  TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_ = must(Catalog::open(folder_.path));
  std::unique_ptr<QueueStore> store_ = must(make_sqlite_store(*catalog_));
};

TEST_F(QueueRootsTest, ModelInputsAndResultsOfJobsThatGoOn) {
  const ActionKey key = ActionKey("tune", "local").add("n", 1);
  const Digest choices = must(catalog_->blobs().put(as_bytes(std::string_view("choices"))));
  ActionResult result;
  result.key = key.digest();
  result.outputs = {{"choices", choices, 7}};
  ASSERT_TRUE(catalog_->results().commit(key, result).ok());
  add_job(1, JobState::running, "going on", key.digest());
  add_job(2, JobState::done, "ended", sha256("another key"));
  const std::set<Digest> expected{make_submit("going on", {"x"}).model, sha256("input of going on"),
                                  choices};
  EXPECT_EQ(must(blobs_of_running_jobs(*catalog_)), expected);
}

TEST(QueueRoots, ACatalogWithoutAQueueHasNone) {
  const TemporaryFolder folder;
  const auto catalog = must(Catalog::open(folder.path));
  EXPECT_TRUE(must(blobs_of_running_jobs(*catalog)).empty());
}

}  // namespace
}  // namespace enginery
