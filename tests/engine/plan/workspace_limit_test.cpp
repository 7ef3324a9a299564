// A source behind a limit offers what keeps to it, and is itself in everything else.
#include "engine/plan/workspace_limit.h"

#include "tests/engine/plan/plan_support.h"

namespace enginery {
namespace {

// Offers one tactic for each size of scratch memory.
class Sizes final : public TacticSource {
 public:
  explicit Sizes(std::vector<int64_t> sizes) : sizes_(std::move(sizes)) {}
  SourceTraits traits() const override {
    return {.name = "sizes", .trust = Trust::may_fault, .takes_regions = true};
  }
  Result<std::vector<Tactic>> offer(const Problem&, const std::set<Precision>&) const override {
    if (sizes_.empty()) return Error{ErrorCode::internal, "the test fails"};
    std::vector<Tactic> out;
    for (const int64_t size : sizes_) {
      Tactic& tactic = out.emplace_back();
      tactic.source = "sizes";
      tactic.id = std::to_string(size);
      tactic.workspace_bytes = size;
    }
    return out;
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic& tactic,
                                                        Weights) const override {
    return Error{ErrorCode::incompatible, "prepare " + tactic.id};
  }
  Result<Bytes> compile(const Problem&, const Tactic& tactic) const override {
    return Error{ErrorCode::incompatible, "compile " + tactic.id};
  }
  void compile_ahead(const Problem&, const Tactic&) const override { ++compiled_ahead; }
  std::vector<RegionPattern> regions() const override { return std::vector<RegionPattern>(2); }

  mutable int compiled_ahead = 0;

 private:
  const std::vector<int64_t> sizes_;
};

Result<std::vector<Tactic>> offered(std::vector<int64_t> sizes, int64_t limit) {
  return within_workspace(std::make_unique<Sizes>(std::move(sizes)), limit)->offer(Problem(), {});
}

TEST(WorkspaceLimit, LeavesOutWhatNeedsMoreInTheSourcesOrder) {
  const auto tactics = offered({300, 0, 100, 101, 20}, 100);
  ASSERT_TRUE(tactics.ok()) << tactics.error().message;
  std::vector<int64_t> left;
  for (const Tactic& tactic : *tactics) left.push_back(tactic.workspace_bytes);
  EXPECT_EQ(left, (std::vector<int64_t>{0, 100, 20}));
  EXPECT_EQ(offered({0, 1}, 0)->size(), 1u);
}

TEST(WorkspaceLimit, SaysTheLeastThatIsNeededWhereNothingIsLeft) {
  const auto none = offered({300, 101, 200}, 100);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::unsupported);
  EXPECT_EQ(none.error().message,
            "each tactic needs 101 bytes of scratch memory, the limit is 100");
}

TEST(WorkspaceLimit, PassesOnEverythingElse) {
  auto own = std::make_unique<Sizes>(std::vector<int64_t>());
  const Sizes& source = *own;
  const auto limited = within_workspace(std::move(own), 1);
  EXPECT_EQ(limited->offer(Problem(), {}).error().code, ErrorCode::internal);
  EXPECT_EQ(limited->name(), "sizes");
  EXPECT_EQ(limited->traits().trust, Trust::may_fault);
  EXPECT_TRUE(limited->traits().takes_regions);
  EXPECT_EQ(limited->regions().size(), 2u);
  Tactic tactic;
  tactic.id = "a";
  EXPECT_EQ(limited->prepare(Problem(), tactic, {}).error().message, "prepare a");
  EXPECT_EQ(limited->compile(Problem(), tactic).error().message, "compile a");
  limited->compile_ahead(Problem(), tactic);
  EXPECT_EQ(source.compiled_ahead, 1);
}

}  // namespace
}  // namespace enginery
