// Engines by name and digest, with their tags and pins.
#include "cache/engines.h"

#include "cache/memory_blob_store.h"
#include "tests/cache/support.h"

namespace enginery {
namespace {

class EnginesTest : public testing::Test {
 protected:
  EngineRow engine(const std::string& bytes, const std::string& name, const std::string& sku) {
    EngineRow row;
    row.digest = VALUE(store_.put(as_bytes(bytes)));
    row.content_digest = sha256("content of " + bytes);
    row.name = name;
    row.model = sha256("model");
    row.sku = sku;
    row.precision = "fp32";
    row.key = sha256("key");
    row.size_bytes = bytes.size();
    row.latency_ms = 1.25;
    return row;
  }

  test::FakeClock clock_;
  MemoryBlobStore store_;
  std::unique_ptr<Catalog> catalog_ = VALUE(Catalog::open_in_memory(store_, clock_));
  Engines& engines_ = catalog_->engines();
};

TEST_F(EnginesTest, FindsTheNewestOfANameForASku) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_OK(engines_.add(engine("b", "net", "p4")));
  EXPECT_OK(engines_.add(engine("c", "net", "h200")));
  EngineRow row = VALUE(engines_.newest("net", "p4"));
  EXPECT_EQ(row.digest, sha256("b"));
  EXPECT_EQ(row.content_digest, sha256("content of b"));
  EXPECT_EQ(row.precision, "fp32");
  EXPECT_EQ(row.latency_ms, 1.25);
  EXPECT_EQ(row.created_ns, clock_.now.count());
  EXPECT_ERROR(ErrorCode::not_found, engines_.newest("net", "t4"));
  EXPECT_OK(engines_.add(
      engine("a", "net", "p4")));  // built again, or answered from the catalog: now the newest
  EXPECT_EQ(VALUE(engines_.newest("net", "p4")).digest, sha256("a"));
  EXPECT_EQ(VALUE(engines_.list("net", 100)).size(), 3u);
}

TEST_F(EnginesTest, KeepsSeveralNamesOfOneEngine) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_OK(engines_.add(engine("a", "other", "p4")));
  EXPECT_EQ(VALUE(engines_.newest("net", "p4")).digest,
            VALUE(engines_.newest("other", "p4")).digest);
  EXPECT_EQ(VALUE(engines_.newest("other", "p4")).name, "other");
}

TEST_F(EnginesTest, FindsByDigestPrefixOnly) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  std::string hex = sha256("a").hex();
  EXPECT_EQ(VALUE(engines_.find("sha256:" + hex.substr(0, 8))).digest, sha256("a"));
  EXPECT_EQ(VALUE(engines_.find(hex.substr(0, 9))).digest, sha256("a"));
  EXPECT_EQ(VALUE(engines_.find(hex)).digest, sha256("a"));
  EXPECT_ERROR(ErrorCode::invalid_argument, engines_.find(hex.substr(0, 7)));
  EXPECT_ERROR(ErrorCode::not_found, engines_.find(sha256("b").hex()));
}

TEST_F(EnginesTest, RefusesAnAmbiguousPrefix) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  Digest sibling = sha256("a");
  sibling.bytes[31] ^= 1;
  EXPECT_OK(catalog_->database().execute(
      "INSERT INTO engine SELECT ?1, content_digest, model, sku, precision, "
      "key, size_bytes, latency_ms, provisional, "
      "created_ns, gone_ns FROM engine",
      sibling));
  EXPECT_ERROR(ErrorCode::invalid_argument, engines_.find(sibling.hex().substr(0, 20)));
}

TEST_F(EnginesTest, NeverAnswersWithAnEngineWhoseFileIsGone) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_OK(engines_.add(engine("b", "net", "p4")));
  EXPECT_OK(store_.remove(sha256("b")));
  EXPECT_EQ(VALUE(engines_.newest("net", "p4")).digest, sha256("a"));
  EXPECT_ERROR(ErrorCode::not_found, engines_.find(sha256("b").hex()));
  EXPECT_EQ(VALUE(engines_.list("net", 100)).size(), 1u);
  EXPECT_OK(engines_.add(engine("b", "net", "p4")));  // rebuilt
  EXPECT_EQ(VALUE(engines_.newest("net", "p4")).digest, sha256("b"));
}

TEST_F(EnginesTest, RefusesAnEngineWithoutAFile) {
  EngineRow row = engine("a", "net", "p4");
  row.digest = sha256("nowhere");
  EXPECT_ERROR(ErrorCode::not_found, engines_.add(row));
}

TEST_F(EnginesTest, MovesTags) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_OK(engines_.add(engine("b", "net", "p4")));
  EXPECT_OK(engines_.set_tag({"net", "prod", "p4", sha256("a")}));
  EXPECT_EQ(VALUE(engines_.tagged("net", "prod", "p4")).digest, sha256("a"));
  EXPECT_OK(engines_.set_tag({"net", "prod", "p4", sha256("b")}));
  EXPECT_EQ(VALUE(engines_.tagged("net", "prod", "p4")).digest, sha256("b"));
  EXPECT_EQ(VALUE(engines_.tags()).size(), 1u);
  EXPECT_ERROR(ErrorCode::not_found, engines_.tagged("net", "test", "p4"));
  EXPECT_ERROR(ErrorCode::not_found, engines_.set_tag({"net", "prod", "p4", sha256("nowhere")}));
}

TEST_F(EnginesTest, PinsAndUnpins) {
  Digest blob = VALUE(store_.put(as_bytes(std::string_view("a"))));
  EXPECT_OK(engines_.pin(blob, "release"));
  EXPECT_EQ(VALUE(catalog_->database().find_integer(
                "SELECT count(*) FROM pin WHERE blob=?1 AND reason='release'", blob)),
            1);
  EXPECT_OK(engines_.unpin(blob));
  EXPECT_ERROR(ErrorCode::not_found, engines_.unpin(blob));
  EXPECT_ERROR(ErrorCode::not_found, engines_.pin(sha256("nowhere"), ""));
}

TEST_F(EnginesTest, AnEngineKeepsTheTimeAtWhichItWasMade) {
  EngineRow given = engine("a", "net", "p4");
  given.created_ns = 77;
  EXPECT_OK(engines_.add(given));
  clock_.now += std::chrono::hours(1);
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_EQ(VALUE(engines_.newest("net", "p4")).created_ns, 77);
}

TEST_F(EnginesTest, ATagsNameIsTheAnswersThoughTheEngineHasAnother) {
  EXPECT_OK(engines_.add(engine("a", "net", "p4")));
  EXPECT_OK(engines_.set_tag({"release", "v1", "p4", sha256("a")}));
  EXPECT_EQ(VALUE(engines_.tagged("release", "v1", "p4")).name, "release");
}

TEST_F(EnginesTest, ListsTheNewestFirstUpToTheLimit) {
  for (const char* bytes : {"a", "b", "c"}) EXPECT_OK(engines_.add(engine(bytes, "net", "p4")));
  EXPECT_OK(engines_.add(engine("d", "other", "p4")));
  const auto two = VALUE(engines_.list("net", 2));
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].digest, sha256("c"));
  EXPECT_EQ(two[1].digest, sha256("b"));
  EXPECT_EQ(VALUE(engines_.list("", 100)).at(0).digest, sha256("d"));
  EXPECT_TRUE(VALUE(engines_.list("nothing", 100)).empty());
  const auto last = VALUE(engines_.list("net", 2, "", 2));
  ASSERT_EQ(last.size(), 1u) << "the second page";
  EXPECT_EQ(last[0].digest, sha256("a"));
  EXPECT_EQ(VALUE(engines_.count("net")), 3);
  EXPECT_EQ(VALUE(engines_.count("")), 4);
}

// Of a key that is known the engine has the trust domain, else it is the default one's.
TEST_F(EnginesTest, NamesAndTagsAreOfATrustDomain) {
  const ActionKey of_blue("engine", "blue");
  EXPECT_OK(catalog_->results().record_action(of_blue));
  EngineRow blues = engine("a", "net", "p4");
  blues.key = of_blue.digest();
  EXPECT_OK(engines_.add(blues));
  EXPECT_OK(engines_.add(engine("b", "net", "p4")));
  for (const char* bytes : {"a", "b"})
    EXPECT_OK(engines_.set_tag({"net", "prod", "p4", sha256(bytes)}));
  const std::pair<const char*, Digest> table[] = {{"blue", sha256("a")},
                                                  {kTrustDomain, sha256("b")}};
  for (const auto& [domain, digest] : table) {
    EXPECT_EQ(VALUE(engines_.newest("net", "p4", domain)).digest, digest) << domain;
    EXPECT_EQ(VALUE(engines_.newest("net", "p4", domain)).domain, domain);
    EXPECT_EQ(VALUE(engines_.find(digest.text(), domain)).digest, digest) << domain;
    const auto tagged = VALUE(engines_.of_tag("net", "prod", "", domain));
    ASSERT_EQ(tagged.size(), 1u) << domain;
    EXPECT_EQ(tagged[0].digest, digest) << domain;
    EXPECT_EQ(VALUE(engines_.tags(domain)).size(), 1u) << domain;
    EXPECT_EQ(VALUE(engines_.list("", 10, "", 0, domain)).size(), 1u) << domain;
    EXPECT_EQ(VALUE(engines_.count("net", domain)), 1) << domain;
  }
  EXPECT_ERROR(ErrorCode::not_found, engines_.find(sha256("a").text(), kTrustDomain));
  EXPECT_ERROR(ErrorCode::not_found, engines_.newest("net", "p4", "red"));
  EXPECT_EQ(VALUE(engines_.list("net", 10)).size(), 2u);
  EXPECT_EQ(VALUE(engines_.tags()).size(), 2u);
}

// The same file in two domains is an engine of both.
TEST_F(EnginesTest, AnEngineMayBeOfSeveralDomains) {
  for (const char* domain : {"blue", "red"}) {
    EngineRow row = engine("a", "net", "p4");
    row.domain = domain;
    EXPECT_OK(engines_.add(row));
  }
  EXPECT_EQ(VALUE(engines_.find(sha256("a").text(), "blue")).digest, sha256("a"));
  EXPECT_EQ(VALUE(engines_.find(sha256("a").text(), "red")).digest, sha256("a"));
  EXPECT_EQ(VALUE(engines_.find(sha256("a").text())).digest, sha256("a")) << "is not ambiguous";
}

TEST_F(EnginesTest, APinThatIsSetAgainHasTheNewReason) {
  const Digest blob = VALUE(store_.put(as_bytes(std::string_view("a"))));
  EXPECT_OK(engines_.pin(blob, "release"));
  EXPECT_OK(engines_.pin(blob, "legal"));
  EXPECT_EQ(VALUE(catalog_->database().find_integer("SELECT count(*) FROM pin")), 1);
  EXPECT_EQ(VALUE(catalog_->database().find_integer("SELECT reason='legal' FROM pin")), 1);
}

}  // namespace
}  // namespace enginery
