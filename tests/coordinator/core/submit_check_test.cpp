// What a submit must fulfil: every limit from both sides, and that nothing of a client's reaches a
// place that would abort or grow without bound.
#include "coordinator/core/submit_check.h"

#include <gtest/gtest.h>

#include <climits>
#include <functional>

#include "coordinator/core/queue.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using Edit = std::function<void(SubmitRequest&)>;

// SKU x with the toolchain of a worker that is connected, and that of one that is gone.
const OfferedSkus kSkus = {{{"x", "tool 0"}, {{"x", "cpu", "tool 0", 0}, 0}},
                           {{"x", "tool 1"}, {{"x", "cpu", "tool 1", 0}, 1}}};

Status checked(const Edit& change, const std::vector<Digest>& missing = {}) {
  SubmitRequest request = make_submit("m", {"x"});
  change(request);
  return check_submit(request, missing, kSkus);
}

std::string refusal(const Edit& change) {
  const Status status = checked(change);
  if (status.ok()) return "";
  EXPECT_EQ(status.error().code, ErrorCode::usage);
  EXPECT_TRUE(status.error().message.starts_with("submit: ")) << status.error().message;
  return status.error().message;
}

std::vector<NamedText> fields(size_t count, size_t value_bytes = 1) {
  std::vector<NamedText> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back({"f" + std::to_string(i), std::string(value_bytes, 'v')});
  return out;
}

// `count` targets with names of their own, for which nobody has to be connected.
void make_targets(SubmitRequest& request, size_t count) {
  request.targets.assign(count, request.targets[0]);
  for (size_t i = 0; i < count; ++i) request.targets[i].sku = "sku" + std::to_string(i);
  request.wait_for_workers = true;
}

TEST(CheckSubmit, TakesAPlainRequest) {
  EXPECT_TRUE(checked([](SubmitRequest&) {}).ok());
}

struct Limit {
  const char* what;
  Edit within, beyond;
};

std::vector<Limit> limits() {
  using R = SubmitRequest;
  return {
      {"bytes of the name", [](R& r) { r.name.assign(200, 'n'); },
       [](R& r) { r.name.assign(201, 'n'); }},
      {"bytes of the client's name", [](R& r) { r.client.assign(200, 'c'); },
       [](R& r) { r.client.assign(201, 'c'); }},
      {"bytes of the model's name", [](R& r) { r.model_name.assign(4096, 'm'); },
       [](R& r) { r.model_name.assign(4097, 'm'); }},
      {"bytes of the options", [](R& r) { r.options.assign(256 * 1024, ' '); },
       [](R& r) { r.options.assign(256 * 1024 + 1, ' '); }},
      {"inputs", [](R& r) { r.inputs.resize(1000); }, [](R& r) { r.inputs.resize(1001); }},
      {"targets", [](R& r) { make_targets(r, 256); }, [](R& r) { make_targets(r, 257); }},
      {"tags", [](R& r) { r.tags.assign(100, "t"); }, [](R& r) { r.tags.assign(101, "t"); }},
      {"bytes of a tag", [](R& r) { r.tags = {std::string(200, 't')}; },
       [](R& r) { r.tags = {std::string(201, 't')}; }},
      {"the greatest priority", [](R& r) { r.priority = 1000; }, [](R& r) { r.priority = 1001; }},
      {"the least priority", [](R& r) { r.priority = -1000; }, [](R& r) { r.priority = -1001; }},
      {"fields of a key", [](R& r) { r.validate_key = fields(200); },
       [](R& r) { r.validate_key = fields(201); }},
      {"bytes of a key", [](R& r) { r.targets[0].engine_key = fields(1, 128 * 1024 - 2); },
       [](R& r) { r.targets[0].engine_key = fields(1, 128 * 1024 - 1); }},
      {"bytes of a field's name", [](R& r) { r.targets[0].tune_key[0].name.assign(255, 'f'); },
       [](R& r) { r.targets[0].tune_key[0].name.assign(256, 'f'); }},
  };
}

TEST(CheckSubmit, HasItsLimitsWhereItSays) {
  for (const Limit& limit : limits()) {
    const Status within = checked(limit.within);
    EXPECT_TRUE(within.ok()) << limit.what << ": " << within.error().message;
    EXPECT_NE(refusal(limit.beyond), "") << limit.what;
  }
}

// Negating the least number there is overflows: it must be refused before anyone does.
TEST(CheckSubmit, RefusesThePrioritiesAtTheEndsOfTheirType) {
  for (const int32_t priority : {INT32_MIN, INT32_MAX})
    EXPECT_NE(refusal([&](SubmitRequest& r) { r.priority = priority; }), "") << priority;
}

TEST(CheckSubmit, NamesAreMadeOfLettersDigitsAndFourSigns) {
  for (const char* name : {"net", "NET-2.1_b+c", "0"})
    EXPECT_EQ(refusal([&](SubmitRequest& r) { r.name = name; }), "") << name;
  for (const char* name : {"", "a/b", "a b", "a\nb", "..\\x", "n\xc3\xa9", "a@b"}) {
    EXPECT_NE(refusal([&](SubmitRequest& r) { r.name = name; }), "") << name;
    EXPECT_NE(refusal([&](SubmitRequest& r) { r.tags = {"good", name}; }), "") << name;
    EXPECT_NE(refusal([&](SubmitRequest& r) { r.targets[0].sku = name; }), "") << name;
  }
}

TEST(CheckSubmit, AKeyHasFieldsOnceAndNoneOfTheCoordinatorsOwn) {
  using Fields = std::vector<NamedText>;
  const Fields bad[] = {{},
                        {{"a", "1"}, {"a", "2"}},
                        {{"kind", "tune"}},
                        {{"trust_domain", "another"}},
                        {{"", "nameless"}},
                        {{"Upper", "1"}},
                        {{"two words", "1"}}};
  for (const Fields& key : bad) {
    const std::string first = key.empty() ? "no field" : key[0].name;
    EXPECT_NE(refusal([&](SubmitRequest& r) { r.validate_key = key; }), "") << first;
    EXPECT_NE(refusal([&](SubmitRequest& r) { r.targets[0].engine_key = key; }), "") << first;
    EXPECT_NE(refusal([&](SubmitRequest& r) { r.targets[0].tune_key = key; }), "") << first;
  }
}

TEST(CheckSubmit, OnlyATunedTargetNeedsTheTuningsKey) {
  const auto without = [](bool provisional) {
    return [=](SubmitRequest& r) {
      r.targets[0].tune_key.clear();
      r.targets[0].provisional = provisional;
    };
  };
  EXPECT_NE(refusal(without(false)), "");
  EXPECT_EQ(refusal(without(true)), "");
}

TEST(CheckSubmit, RefusesASkuTwice) {
  EXPECT_NE(refusal([](SubmitRequest& r) { r.targets.push_back(r.targets[0]); }).find("twice"),
            std::string::npos);
}

TEST(CheckSubmit, RefusesASkuThatNoWorkerHasOfferedUnlessItWaits) {
  const auto unknown = [](const Edit& also) {
    return refusal([&](SubmitRequest& r) {
      r.targets[0].sku = "y";
      also(r);
    });
  };
  const std::string message = unknown([](SubmitRequest&) {});
  EXPECT_NE(message.find("known: x"), std::string::npos) << message;
  EXPECT_NE(message.find("--wait-for-workers"), std::string::npos) << message;
  EXPECT_EQ(unknown([](SubmitRequest& r) { r.wait_for_workers = true; }), "");
  EXPECT_EQ(unknown([](SubmitRequest& r) { r.dry_run = true; }), "");
  EXPECT_EQ(unknown([](SubmitRequest& r) { r.targets[0].provisional = true; }), "");
}

TEST(CheckSubmit, RefusesKeysThatWereMadeForAnotherToolchain) {
  const auto toolchain = [](const char* name) {
    return refusal([&](SubmitRequest& r) { r.targets[0].toolchain = name; });
  };
  EXPECT_NE(toolchain("tool 2").find("toolchain 'tool 1', the"), std::string::npos);
  EXPECT_NE(toolchain("tool 0").find("toolchain 'tool 1', the"), std::string::npos);
  EXPECT_EQ(toolchain("tool 1"), "");
  EXPECT_EQ(toolchain(""), "");  // fits every worker
}

TEST(CheckSubmit, TakesEveryToolchainThatAConnectedWorkerHas) {
  SubmitRequest request = make_submit("m", {"x"});
  OfferedSkus skus = kSkus;
  skus[{"x", "tool 2"}] = {{"x", "cpu", "tool 2", 0}, 3};
  for (const char* toolchain : {"tool 1", "tool 2"}) {
    request.targets[0].toolchain = toolchain;
    EXPECT_TRUE(check_submit(request, {}, skus).ok()) << toolchain;
  }
  request.targets[0].toolchain = "tool 3";
  const Status status = check_submit(request, {}, skus);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("'tool 1', 'tool 2'"), std::string::npos);
}

TEST(CheckSubmit, TakesAToolchainThatWasThereWhereNobodyIsConnected) {
  SubmitRequest request = make_submit("m", {"x"});
  OfferedSkus skus = kSkus;
  skus[{"x", "tool 1"}].workers = 0;
  request.targets[0].toolchain = "tool 0";
  EXPECT_TRUE(check_submit(request, {}, skus).ok());
  request.targets[0].toolchain = "tool 7";
  EXPECT_FALSE(check_submit(request, {}, skus).ok());
}

TEST(CheckSubmit, NamesTheBlobThatIsMissingUnlessNothingIsRead) {
  const std::vector<Digest> missing = {sha256("gone"), sha256("also gone")};
  const Status status = checked([](SubmitRequest&) {}, missing);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::not_found);
  EXPECT_NE(status.error().message.find(sha256("gone").text()), std::string::npos);
  EXPECT_TRUE(checked([](SubmitRequest& r) { r.dry_run = true; }, missing).ok());
}

}  // namespace
}  // namespace enginery
