#include "worker/runner/runner_messages.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "pipeline/keys.h"
#include "worker/runner/line_pipe.h"
#include "worker/timing/farm_timing_store.h"
#include "worker/timing/pipe_timing_store.h"

namespace enginery {
namespace {

template <typename T>
void expect_same(const T& message) {
  const std::string line = to_line(RunnerReport(message));
  ASSERT_EQ(line.find('\n'), line.size() - 1);
  auto back = parse_report(line);
  ASSERT_TRUE(back.ok()) << line;
  ASSERT_TRUE(std::holds_alternative<T>(*back)) << line;
  EXPECT_EQ(std::get<T>(*back), message);
}

TEST(RunnerMessages, ComeBackAsTheyWere) {
  expect_same(Progress{"tuning", 3, 7, 1.5});
  expect_same(RunnerLog{"two\nlines and \"quotes\""});
  expect_same(RunnerTiming{"sku=x\n", "conv |", "onednn 1", "{}", 5});
  expect_same(RunnerTrial{"sku=x\n", "conv |", "kernel 1", true});
  expect_same(WantTimings{"sku=x\nname=y\n", "conv |"});
  expect_same(WantProblem{"sku=x\nname=y\n", "conv |", 7});
  expect_same(DeviceDescription{"cpu", "a CPU", "host-1", "onednn=2", {"h200"}});
  Outcome end;
  end.outputs = {{"choices", sha256("x"), 12}};
  end.metrics = {{"latency_ms", 0.25}};
  end.facts = {{"content_digest", "sha256:0"}};
  expect_same(end);
  Outcome failure;
  failure.kind = OutcomeKind::out_of_memory;
  failure.fault = {ErrorCode::out_of_memory, "no memory"};
  expect_same(failure);
  RunnerRequest request{"tune",      "net", "net.onnx",  "cpu-avx2",
                        "level=3\n", "w",   sha256("m"), {{"model", "/tmp/m"}},
                        "/tmp/out",  7,     true};
  request.digests = {{"content", sha256("c")}};
  auto back = parse_request(to_line(request));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, request);
}

TEST(RunnerMessages, RefuseEverythingElse) {
  for (const char* line : {"", "x", "[]", "{}", "3", "{\"progress\":[1]}", "{\"end\":{}}",
                           "{\"device\":{}}", "{\"log\":{}}",
                           "{\"end\":{\"kind\":\"succeeded\",\"outputs\":[[\"a\",\"zz\",1]],"
                           "\"metrics\":[],\"facts\":[]}}"}) {
    auto report = parse_report(line);
    ASSERT_FALSE(report.ok()) << line;
    EXPECT_EQ(report.error().code, ErrorCode::corrupt_data) << line;
  }
}

// The other end is the same binary, so a field that is not there is a fault, never a default.
TEST(RunnerMessages, RefuseARequestThatLacksAField) {
  const std::string whole = to_line(RunnerRequest{});
  ASSERT_TRUE(parse_request(whole).ok());
  const auto document = nlohmann::json::parse(whole);
  for (const auto& [name, value] : document.items()) {
    auto cut = document;
    cut.erase(name);
    const auto request = parse_request(cut.dump());
    ASSERT_FALSE(request.ok()) << "without " << name;
    EXPECT_EQ(request.error().code, ErrorCode::corrupt_data) << name;
    auto wrong = document;
    wrong[name] = nlohmann::json::array({nullptr});
    EXPECT_FALSE(parse_request(wrong.dump()).ok()) << "another type of " << name;
  }
}

TEST(RunnerMessages, RefuseTimingsThatAreNoTexts) {
  for (const char* line :
       {"", "{}", "[]", R"({"timings":null})", R"({"timings":[1]})", R"({"timings":{}})"}) {
    const auto timings = parse_known_timings(line);
    ASSERT_FALSE(timings.ok()) << line;
    EXPECT_EQ(timings.error().code, ErrorCode::corrupt_data) << line;
  }
  EXPECT_TRUE(parse_known_timings(R"({"timings":[]})")->entries.empty());
}

// JSON has no word for it, and a metric that is not known is none.
TEST(RunnerMessages, CarryANumberThatIsNoneAsZero) {
  Outcome end;
  end.metrics = {{"latency_ms", std::nan("")}, {"error", INFINITY}};
  const auto back = parse_report(to_line(RunnerReport(end)));
  ASSERT_TRUE(back.ok());
  for (const NamedNumber& metric : std::get<Outcome>(*back).metrics)
    EXPECT_EQ(metric.value, 0) << metric.name;
}

TEST(RunnerMessages, StayOneLineOfTextWhateverALibraryPrints) {
  const std::string line = to_line(RunnerReport(RunnerLog{"caf\xe9\n\0end"}));
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto back = parse_report(line);
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::get<RunnerLog>(*back).text.starts_with("caf\xEF\xBF\xBD"));
}

TEST(PipeTimingStore, AsksForAProblemAndSaysEachNewTiming) {
  int question[2], answer[2];
  ASSERT_EQ(pipe(question), 0);
  ASSERT_EQ(pipe(answer), 0);
  LineBuffer lines, heard;
  LineWriter out(question[1]);
  PipeTimingStore store(answer[0], lines, out);
  Timing known;
  known.tactic = "a";
  ASSERT_TRUE(
      LineWriter(answer[1]).write(to_line(KnownTimings{{to_json(known), "not json"}})).ok());
  auto found = store.find("d", "p");
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->at(0).tactic, "a");
  ASSERT_TRUE(store.put("d", "p", known).ok());
  EXPECT_EQ(std::get<WantTimings>(*parse_report(*read_line(question[0], heard))),
            (WantTimings{"d", "p"}));
  EXPECT_EQ(std::get<RunnerTiming>(*parse_report(*read_line(question[0], heard))).tactic, "a");
  for (int fd : {question[0], question[1], answer[0], answer[1]}) close(fd);
}

}  // namespace
}  // namespace enginery
