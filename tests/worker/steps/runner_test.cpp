// The runner as whoever starts it sees it, with steps made for the test, in this process.
#include "worker/steps/runner.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <thread>

#include "engine/base/file.h"
#include "tests/support/temporary_folder.h"
#include "worker/runner/line_pipe.h"

namespace enginery {
namespace {

constexpr StepKind kMake = static_cast<StepKind>(100), kRead = static_cast<StepKind>(101);

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    const std::filesystem::path outputs = folder_.path / "outputs";
    EXPECT_TRUE(make_folder(outputs).ok());
    request_.name = "net";
    request_.output_folder = outputs.string();
    request_.stays = true;
    EXPECT_EQ(pipe(to_runner_), 0);
    EXPECT_EQ(pipe(from_runner_), 0);
    setup_.steps = table_;
    setup_.functions = functions_;
    runner_ = std::thread([this] { (void)run_runner(setup_, to_runner_[0], from_runner_[1]); });
  }
  ~RunnerTest() override {
    close(to_runner_[1]);
    runner_.join();
    for (const int fd : {to_runner_[0], from_runner_[0], from_runner_[1]}) close(fd);
  }

  // The end of a step with the input "engine" in that file, of that digest where it is known.
  Outcome end_of(const std::string& step, const std::string& file = "",
                 const std::optional<Digest>& digest = {}) {
    request_.step = step;
    request_.inputs.clear();
    request_.digests.clear();
    if (!file.empty()) request_.inputs["engine"] = file;
    if (digest) request_.digests["engine"] = *digest;
    const std::string line = to_line(request_);
    EXPECT_EQ(write(to_runner_[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    while (true) {
      const auto answer = read_line(from_runner_[0], lines_);
      if (!answer.ok()) return failed_outcome(answer.error());
      const auto report = parse_report(*answer);
      if (!report.ok()) return failed_outcome(report.error());
      if (const auto* end = std::get_if<RunnerEnd>(&*report)) return *end;
    }
  }
  static std::string read_in(const Outcome& end) {
    return end.facts.empty() ? end.fault.message : end.facts[0].value;
  }

  test::TemporaryFolder folder_;
  RunnerRequest request_;

 private:
  const std::vector<Step> table_ = {{kMake, "make", "making", {}, "engine"},
                                    {kRead, "read", "reading", {"engine"}, ""}};
  const std::vector<StepFunction> functions_ = {
      {kMake,
       [](const StepContext&) -> Result<StepOutputs> {
         StepOutputs out;
         out.blobs["engine"] = to_blob("made");
         out.blobs["log"] = to_blob("nobody reads it");
         return out;
       }},
      {kRead, [](const StepContext& step) -> Result<StepOutputs> {
         TRY(const auto engine, input_named(step, "engine"));
         StepOutputs out;
         out.facts = {{"read", *engine}};
         return out;
       }}};
  RunnerSetup setup_;
  int to_runner_[2] = {}, from_runner_[2] = {};
  LineBuffer lines_;
  std::thread runner_;
};

// Engines are large: what the step before left is still in memory.
TEST_F(RunnerTest, ReadsNoFileOfWhatItHas) {
  const Outcome made = end_of("make");
  ASSERT_EQ(made.outputs.size(), 2u) << made.fault.message;
  const std::string away = (folder_.path / "away").string();
  EXPECT_EQ(read_in(end_of("read", away, made.outputs[0].digest)), "made");
  EXPECT_EQ(read_in(end_of("read", away, made.outputs[0].digest)), "made") << "as an input, too";
  EXPECT_NE(read_in(end_of("read", away, sha256("other"))).find("away"), std::string::npos);
}

TEST_F(RunnerTest, ReadsTheFileOfWhatItDoesNotKnow) {
  ASSERT_EQ(end_of("make").outputs.size(), 2u);
  const std::string file = (folder_.path / "engine").string();
  ASSERT_TRUE(write_file(file, "of another worker").ok());
  EXPECT_EQ(read_in(end_of("read", file)), "of another worker");
  ASSERT_EQ(end_of("make").outputs.size(), 2u);
  EXPECT_EQ(read_in(end_of("read", file, sha256("of another worker"))), "of another worker");
}

}  // namespace
}  // namespace enginery
