#include "engine/plan/workspace_limit.h"

#include <algorithm>

namespace enginery {
namespace {

class LimitedSource final : public TacticSource {
 public:
  LimitedSource(std::unique_ptr<TacticSource> source, int64_t bytes)
      : source_(std::move(source)), bytes_(bytes) {}

  SourceTraits traits() const override { return source_->traits(); }
  std::vector<RegionPattern> regions() const override { return source_->regions(); }

  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    TRY(std::vector<Tactic> tactics, source_->offer(problem, allowed));
    if (tactics.empty()) return tactics;
    const int64_t least = std::ranges::min(tactics, {}, &Tactic::workspace_bytes).workspace_bytes;
    if (least > bytes_)
      return Error{ErrorCode::unsupported, "each tactic " + over_workspace(least, bytes_)};
    std::erase_if(tactics, [&](const Tactic& tactic) { return tactic.workspace_bytes > bytes_; });
    return tactics;
  }

  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& problem,
                                                        const Tactic& tactic,
                                                        Weights weights) const override {
    return source_->prepare(problem, tactic, weights);
  }
  Result<Bytes> compile(const Problem& problem, const Tactic& tactic) const override {
    return source_->compile(problem, tactic);
  }
  void compile_ahead(const Problem& problem, const Tactic& tactic) const override {
    source_->compile_ahead(problem, tactic);
  }

 private:
  const std::unique_ptr<TacticSource> source_;
  const int64_t bytes_;
};

}  // namespace

std::unique_ptr<TacticSource> within_workspace(std::unique_ptr<TacticSource> source,
                                               int64_t bytes) {
  return std::make_unique<LimitedSource>(std::move(source), bytes);
}

std::string over_workspace(int64_t needed, int64_t limit) {
  return "needs " + std::to_string(needed) + " bytes of scratch memory, the limit is " +
         std::to_string(limit);
}

}  // namespace enginery
