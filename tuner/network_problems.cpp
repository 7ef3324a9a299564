#include "tuner/network_problems.h"

#include <algorithm>
#include <thread>

#include "tuner/effort/estimate_ranks.h"
#include "tuner/effort/worth_measuring.h"

namespace enginery {
namespace {

// How long to leave problems alone that others have in hand.
constexpr std::chrono::milliseconds kAskAgain{100};

Error cancelled_error() {
  return {ErrorCode::cancelled, "tuning was cancelled"};
}

}  // namespace

size_t first_problem_of(int assistant, size_t count) {
  // The number's bits behind the point, the last one first.
  double at = 0, weight = 0.5;
  for (int rest = assistant; rest > 0; rest /= 2, weight /= 2) at += rest % 2 * weight;
  return static_cast<size_t>(at * static_cast<double>(count));
}

NetworkProblems::Distinct NetworkProblems::worthy_problems(const Network& network) const {
  Distinct out;
  const int level = context_.options().level;
  for (const NetworkNode& node : network.nodes) out.emplace(offer_key(node), &node);
  for (const Alternative& alternative : network.alternatives) {
    if (level < kCoverLevel || !is_worth_measuring(network, alternative, level)) continue;
    for (const NetworkNode& node : alternative.instead) out.emplace(offer_key(node), &node);
  }
  return out;
}

// Of the alternatives to nodes that nothing runs, whatever the estimates say.
NetworkProblems::Distinct NetworkProblems::ways_out(const Network& network) const {
  const auto runs = [&](size_t n) {
    const NetworkNode& node = network.nodes[n];
    const std::vector<double>& us = times_.at(offer_key(node)).us;
    return std::ranges::any_of(us, [](double t) { return t < kInfinity; });
  };
  Distinct out;
  if (context_.options().level < kCoverLevel) return out;
  for (const Alternative& alternative : network.alternatives) {
    if (std::ranges::all_of(alternative.replaces, runs)) continue;
    for (const NetworkNode& node : alternative.instead)
      if (!times_.contains(offer_key(node))) out.emplace(offer_key(node), &node);
  }
  return out;
}

Result<NetworkProblems::Items> NetworkProblems::items_of(const Network& network,
                                                         const Distinct& distinct) {
  context_.counts().problems += static_cast<int>(distinct.size());
  const std::map<std::string, double> shares = estimated_shares(network);
  Items items;
  for (const auto& [key, node] : distinct) {
    const double share = shares.at(key);
    items.push_back({key, node, share, effort_for(share, context_.options().level)});
    CHECK_OK(find_lacking(items.back()));
  }
  const size_t first = first_problem_of(context_.options().assistant, items.size());
  std::rotate(items.begin(), items.begin() + static_cast<ptrdiff_t>(first), items.end());
  return items;
}

Status NetworkProblems::find_lacking(Item& item) const {
  auto lacking = problems_.to_measure(item.node->problem, item.node->tactics, item.effort);
  if (!lacking) return lacking.error().within("layer '" + item.node->name + "'");
  item.lacking = std::move(*lacking);
  return {};
}

Result<std::map<std::string, ProblemTimes>> NetworkProblems::time_all(const Network& network) {
  context_.counts().problems = 0;
  CHECK_OK(time(network, worthy_problems(network)));
  CHECK_OK(time(network, ways_out(network)));
  say_progress();
  return std::move(times_);
}

Status NetworkProblems::time(const Network& network, const Distinct& distinct) {
  TRY(Items items, items_of(network, distinct));
  Items lacking;
  for (Item& item : items) {
    if (item.lacking.empty())
      CHECK_OK(finish(item));
    else
      lacking.push_back(std::move(item));
  }
  return measure(std::move(lacking));
}

Status NetworkProblems::measure_lacking(const Network& network) {
  context_.counts().problems = 0;
  TRY(Items items, items_of(network, worthy_problems(network)));
  finished_ =
      static_cast<int>(std::erase_if(items, [](const Item& item) { return item.lacking.empty(); }));
  CHECK_OK(measure(std::move(items)));
  say_progress();
  return {};
}

void NetworkProblems::say_progress() const {
  context_.options().progress({"tune", finished_, context_.counts().problems});
}

// Measures what of it is lacking, and takes the times over.
Status NetworkProblems::finish(Item& item) {
  if (context_.options().cancelled()) return cancelled_error();
  say_progress();
  const int before = context_.counts().timings_measured;
  auto times = problems_.time(item.node->problem, item.node->tactics, item.effort);
  if (!times) return times.error().within("layer '" + item.node->name + "'");
  if (context_.counts().timings_measured > before)
    context_.options().log(
        ranks_text(item.node->problem.key(), item.share, item.node->tactics, times->us));
  times_[item.key] = std::move(*times);
  ++finished_;
  return {};
}

Result<Taking> NetworkProblems::take(const Item& item) {
  const int left = context_.counts().problems - finished_;
  TRY(const Taking taking,
      context_.timings().take(context_.device_key(), item.node->problem.key(), left));
  sharers_ = std::max(1, taking.sharers);
  return taking;
}

// The first part is as large as this tuning's share; what is refused goes to the end.
Status NetworkProblems::measure(Items lacking) {
  // Before anything compiles: others can begin meanwhile, and the size of the share is known.
  if (!lacking.empty()) {
    TRY([[maybe_unused]] const Taking first, take(lacking.front()));
  }
  while (!lacking.empty()) {
    const auto share = static_cast<size_t>(sharers_);
    const auto end = lacking.begin() + static_cast<ptrdiff_t>((lacking.size() + share - 1) / share);
    Items part(std::make_move_iterator(lacking.begin()), std::make_move_iterator(end));
    lacking.erase(lacking.begin(), end);
    TRY(const bool any, measure_part(part));
    lacking.insert(lacking.end(), std::make_move_iterator(part.begin()),
                   std::make_move_iterator(part.end()));
    const bool others_have_all =
        std::all_of(lacking.begin(), lacking.end(), [](const Item& item) { return item.refused; });
    if (any || lacking.empty() || !others_have_all) continue;
    if (context_.options().assistant > 0) return {};
    if (context_.options().cancelled()) return cancelled_error();
    say_progress();
    std::this_thread::sleep_for(kAskAgain);
  }
  return {};
}

// Leaves in the part what it could not have. Whether it finished anything.
Result<bool> NetworkProblems::measure_part(Items& part) {
  const size_t before = part.size();
  Items rest;
  // While one waited for others they have measured.
  for (Item& item : part) {
    if (sharers_ > 1) CHECK_OK(find_lacking(item));
    if (item.lacking.empty())
      CHECK_OK(finish(item));
    else
      rest.push_back(std::move(item));
  }
  part = std::move(rest);
  std::unique_ptr<CompileAhead> ahead;
  CHECK_OK(compile(part, ahead));
  for (Item& item : part) {
    if (context_.options().cancelled()) return cancelled_error();
    TRY(const Taking taking, take(item));
    item.refused = !taking.taken;
    if (!taking.taken) continue;
    item.lacking.clear();
    CHECK_OK(finish(item));
  }
  std::erase_if(part, [](const Item& item) { return item.lacking.empty(); });
  return part.size() < before;
}

// Compiles nothing ahead where tactics are to be prepared one by one: the one that takes the
// process down must be known. Nor what another tuning compiles for itself.
Status NetworkProblems::compile(const Items& part, std::unique_ptr<CompileAhead>& ahead) const {
  const TunerOptions& options = context_.options();
  std::vector<CompileAhead::Job> jobs;
  for (const Item& item : part) {
    if (options.one_by_one || item.refused) continue;
    for (const Tactic* t : item.lacking) jobs.push_back({&item.node->problem, t});
  }
  auto in_flight = [this](const CompileAhead::Job& job, bool over) {
    if (job.tactic->trust != Trust::may_fault) return;
    context_.options().in_flight(
        {context_.device_key(), job.problem->key(), tactic_key(*job.tactic), over});
  };
  ahead = std::make_unique<CompileAhead>(context_.sources(), std::move(jobs), in_flight);
  // Waits until it no longer disturbs measurements.
  const TimedScope timed(context_.counts().preparing_s, context_.clock());
  const bool done = ahead->wait(
      [&](int n, int of) {
        options.progress({"code", n, of});
      },
      options.cancelled);
  return done ? Status() : Status(cancelled_error());
}

}  // namespace enginery
