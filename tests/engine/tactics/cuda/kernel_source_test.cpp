// The `kernel` source of a card that is not here: it offers and compiles, through a cache, and
// prepares nothing.
#include <map>

#include "tests/engine/tactics/cuda/card.h"

namespace enginery {
namespace {

using test::problem_of;

class CountingCache final : public KernelCache {
 public:
  std::optional<Bytes> find(const Digest& key) override {
    ++asked;
    const auto found = kept.find(key);
    if (found == kept.end()) return std::nullopt;
    return found->second;
  }
  void insert(const Digest& key, const Bytes& code) override { kept[key] = code; }
  std::map<Digest, Bytes> kept;
  int asked = 0;
};

class KernelSourceTest : public testing::Test {
 protected:
  static std::unique_ptr<Device> open(const std::string& sku) {
    DeviceOptions options;
    options.compile_only = true;
    return open_device(sku, options).value();
  }
  std::unique_ptr<TacticSource> source(KernelSourceOptions options = {}) {
    options.cache = cache_;
    return make_kernel_source(static_cast<CudaDevice&>(*device_), options).value();
  }
  // The digest under which the tactic's code is kept.
  Digest key_of(const Tactic& tactic, int sm = 80, CodeKind kind = CodeKind::cubin) const {
    const test::Card card(sm);
    const KernelPlan plan = plan_kernel(problem_, tactic, card.context).value();
    return kernel_cache_key(program_text(plan.program), sm, kind);
  }

  const std::shared_ptr<CountingCache> cache_ = std::make_shared<CountingCache>();
  const std::unique_ptr<Device> device_ = open("a30");
  const Problem problem_ = problem_of("act kind=relu | float32[1x8x4x4]");
};

TEST_F(KernelSourceTest, TakesCodeFromTheCacheWithoutACompiler) {
  const auto kernels = source();
  const Tactic tactic = kernels->offer(problem_, {Precision::fp32})->at(0);
  cache_->kept[key_of(tactic)] = "code of yesterday";
  const auto code = kernels->compile(problem_, tactic);
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(*code, "code of yesterday");
}

TEST_F(KernelSourceTest, LooksForTheCodeOfTheSmAndKindThatItMakes) {
  KernelSourceOptions options;
  options.kind = CodeKind::ptx;
  options.compute_capability = 75;
  const auto kernels = source(options);
  const Tactic tactic = kernels->offer(problem_, {Precision::fp32})->at(0);
  cache_->kept[key_of(tactic, 75, CodeKind::ptx)] = "ptx of 75";
  EXPECT_EQ(kernels->compile(problem_, tactic).value(), "ptx of 75");
}

TEST_F(KernelSourceTest, KeepsWhatItCompiles) {
  const auto kernels = source();
  const Tactic tactic = kernels->offer(problem_, {Precision::fp32})->at(0);
  const auto code = kernels->compile(problem_, tactic);
  if (!code.ok() && code.error().code == ErrorCode::unavailable)
    GTEST_SKIP() << code.error().message;
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(code->substr(1, 3), "ELF");
  EXPECT_EQ(cache_->kept.at(key_of(tactic)), *code);
}

TEST_F(KernelSourceTest, HasNoCodeForAView) {
  const auto kernels = source();
  const Problem view = problem_of("reshape | float32[1x12x4x4] int64[2]={1,-1}");
  const Tactic tactic = kernels->offer(view, {Precision::fp32})->at(0);
  ASSERT_EQ(tactic.view_of, 0);
  EXPECT_EQ(kernels->compile(view, tactic).value(), "");
  EXPECT_EQ(cache_->asked, 0);
}

TEST_F(KernelSourceTest, CompilesNoTacticThatItDoesNotOffer) {
  const auto kernels = source();
  Tactic tactic = kernels->offer(problem_, {Precision::fp32})->at(0);
  tactic.id = "pointwise/of_tomorrow";
  const auto code = kernels->compile(problem_, tactic);
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.error().code, ErrorCode::incompatible);
  kernels->compile_ahead(problem_, tactic);  // an error is prepare's to report
}

TEST_F(KernelSourceTest, PreparesNothingForACardThatIsNotHere) {
  const auto kernels = source();
  Tactic tactic = kernels->offer(problem_, {Precision::fp32})->at(0);
  tactic.code = std::make_shared<const Bytes>("code");
  const auto prepared = kernels->prepare(problem_, tactic, std::vector<const Tensor*>{nullptr});
  ASSERT_FALSE(prepared.ok());
  EXPECT_EQ(prepared.error().code, ErrorCode::incompatible);
  EXPECT_NE(prepared.error().message.find("it is not here"), std::string::npos);
}

// The libraries' sources need the card: one that is only compiled for has our kernels alone.
TEST_F(KernelSourceTest, IsTheOnlySourceOfACardThatIsNotHere) {
  const auto sources = make_tactic_sources(*device_);
  ASSERT_TRUE(sources.ok()) << sources.error().message;
  ASSERT_EQ(sources->size(), 1u);
  EXPECT_EQ((*sources)[0]->name(), "kernel");
  EXPECT_EQ((*sources)[0]->traits().trust, Trust::may_fault);
  const auto refused = (*sources)[0]->offer(
      problem_of("conv strides=[1,1,1] dilations=[1,1,1] pads_begin=[0,0,0] pads_end=[0,0,0] | "
                 "float32[1x8x2x4x4] float32[8x8x1x1x1]"),
      {Precision::fp32});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("conv_mma: weights that are computed"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace enginery
