#include "tuner/tuner.h"

#include <algorithm>
#include <cmath>

#include "engine/plan/plan.h"
#include "engine/plan/slices.h"
#include "engine/plan/streams.h"
#include "tuner/analytic_choice.h"
#include "tuner/cover.h"
#include "tuner/layout_search.h"
#include "tuner/network_problems.h"
#include "tuner/network_race.h"
#include "tuner/pitched_places.h"

namespace enginery {
namespace {

// A tie: medians that two tunings would order differently. On a quiet device the ratio of two
// repeats within 0.25 %; where samples scatter, what their confidence intervals cannot tell apart,
// up to a limit.
constexpr double kTie = 1.005, kWidestTie = 1.015;
constexpr int kMaxReformatRounds = 4;
constexpr size_t kNetworksRaced = 3, kNetworksRacedAtFive = 6;
// Alone and warm, a layer does not show what it costs to alternate between sources. So besides the
// least sums, one network for each source is raced in which all others count this much slower.
// Long networks do not feel it: only their least sums are raced.
constexpr double kOtherSource = 1.1, kLongNetworkUs = 50'000;

// The fixed order that breaks ties: deterministic, then smaller workspace, then lower id.
bool goes_first(const Tactic& a, const Tactic& b) {
  if (a.deterministic != b.deterministic) return a.deterministic;
  if (a.workspace_bytes != b.workspace_bytes) return a.workspace_bytes < b.workspace_bytes;
  return tactic_key(a) < tactic_key(b);
}

}  // namespace

struct Tuner::State {
  struct TimedReformat {
    double us;  // infinite where no source has such a reformat
    Tactic tactic;
  };
  struct Layout {
    double total_us;
    TacticSelection selection;
  };
  using Layouts = std::vector<Layout>;
  const TunerOptions options;
  TunerCounts counts;
  std::vector<double> node_us;
  MeasuringContext context;
  ProblemTuner problems;
  NetworkRace networks;
  std::map<std::string, ProblemTimes> known;       // by problem key
  std::map<std::string, TimedReformat> reformats;  // by problem key, too
  double network_estimate = 0;                     // microseconds

  State(Device& device, const TacticSources& sources, TimingStore& store, TunerOptions o)
      : options(std::move(o)),
        context(device, sources, store, options, counts),
        problems(context),
        networks(context) {}

  Result<TacticCosts> costs_of(const Network& network, const std::string& favoured) {
    TacticCosts costs;
    for (const NetworkNode& node : network.nodes) {
      TRY(costs.emplace_back(), node_costs(node, known[offer_key(node)], favoured));
    }
    return costs;
  }

  // Of the node's tactics. Nodes of one problem may differ in the slices at the end
  // (plan/slices.h): these take no time.
  static std::vector<double> all_us(const NetworkNode& node, const ProblemTimes& times) {
    std::vector<double> us = times.us;
    if (!us.empty()) us.resize(node.tactics.size(), 0);
    return us;
  }

  // Measured medians; ties moved apart by the fixed order, so that two tunings choose alike. Where
  // a source is favoured, the others' are made longer.
  Result<std::vector<double>> node_costs(const NetworkNode& node, const ProblemTimes& times,
                                         const std::string& favoured) {
    std::vector<double> us = all_us(node, times);
    for (size_t i = 0; i < us.size() && !favoured.empty(); ++i)
      us[i] *= node.tactics[i].source == favoured ? 1 : kOtherSource;
    const bool any = std::any_of(us.begin(), us.end(), [](double t) { return t < kInfinity; });
    if (!any && options.level == 1) {  // cache only: the analytic model where nothing is known
      for (size_t i = 0; i < us.size(); ++i) {
        if (!find_timing(times.timings, tactic_key(node.tactics[i])))
          us[i] = node.tactics[i].estimated_us;
      }
      return us;
    }
    if (!any) {
      std::string failures;
      for (const Timing& t : times.timings) failures += "; " + t.tactic + ": " + t.failure;
      return Error{ErrorCode::unsupported,
                   "layer '" + node.name + "': every tactic failed" + failures};
    }
    // Among tactics with the same formats, pitches included, only the winner stays: the search
    // compares formats, not noise.
    std::vector<double> kept(us.size(), kInfinity);
    for (size_t i = 0; i < us.size(); ++i) {
      if (us[i] < kInfinity && winner_among_equals(node.tactics, times, us, i) == i)
        kept[i] = us[i];
    }
    return kept;
  }

  // Of the tactics that read and write what tactic `i` does, with a pitch as well where it can: the
  // first in the fixed order among those that tie with the fastest.
  static size_t winner_among_equals(const std::vector<Tactic>& tactics, const ProblemTimes& times,
                                    const std::vector<double>& us, size_t i) {
    auto alike = [&](size_t j) {
      const Tactic &other = tactics[j], &own = tactics[i];
      return other.inputs == own.inputs && other.outputs == own.outputs &&
             (other.reads_pitched || !own.reads_pitched) &&
             (other.writes_pitched || !own.writes_pitched);
    };
    size_t fastest = i;
    for (size_t j = 0; j < us.size(); ++j) {
      if (alike(j) && us[j] < us[fastest]) fastest = j;
    }
    size_t winner = fastest;
    for (size_t j = 0; j < us.size(); ++j) {
      if (!alike(j) || us[j] > us[fastest] * kWidestTie) continue;
      bool tie = us[j] <= us[fastest] * kTie || intervals_meet(times, tactics[fastest], tactics[j]);
      if (tie && goes_first(tactics[j], tactics[winner])) winner = j;
    }
    return winner;
  }

  static bool intervals_meet(const ProblemTimes& times, const Tactic& faster,
                             const Tactic& slower) {
    const Timing *a = find_timing(times.timings, tactic_key(faster)),
                 *b = find_timing(times.timings, tactic_key(slower));
    return a && b && b->statistics.low_us <= a->statistics.high_us;
  }

  // A rough time where nothing was measured yet: both sides of the tensor once over a slow memory
  // bus.
  double reformat_estimate(const Network& network, const ReformatKey& key) const {
    const Dims& dims = network.graph.value(key.value).type.dims;
    double bytes =
        static_cast<double>(physical_bytes(dims, key.from) + physical_bytes(dims, key.to));
    double rate = context.device().info().bytes_per_second > 0
                      ? context.device().info().bytes_per_second
                      : 1e10;
    return 1 + bytes / rate * 1e6;
  }

  static Problem problem_of(const Network& network, const ReformatKey& key) {
    return reformat_problem(network.graph.value(key.value).type, key.from, key.to);
  }

  double reformat_us(const Network& network, const ReformatKey& key) const {
    auto found = reformats.find(problem_of(network, key).key());
    return found != reformats.end() ? found->second.us : reformat_estimate(network, key);
  }

  // Measures a reformat and remembers its best tactic.
  Status time_reformat(const Network& network, const ReformatKey& key) {
    Problem problem = problem_of(network, key);
    std::string name = problem.key();
    if (reformats.count(name)) return {};
    auto offered = offer_all(context.sources(), problem, options.allowed);
    if (!offered) {  // no such reformat: a path through it costs infinitely much
      reformats.emplace(name, TimedReformat{kInfinity, {}});
      return {};
    }
    const double share =
        network_estimate > 0 ? reformat_estimate(network, key) / network_estimate : -1;
    TRY(ProblemTimes times, problems.time(problem, *offered, effort_for(share, options.level)));
    size_t best = 0;
    for (size_t i = 1; i < times.us.size(); ++i) {
      if (times.us[i] < times.us[best]) best = i;
    }
    double us = times.us[best];
    if (us == kInfinity && options.level == 1) us = reformat_estimate(network, key);
    reformats.emplace(name, TimedReformat{us, (*offered)[best]});
    return {};
  }

  TacticSelection to_selection(const Network& network, const Solution& solution) const {
    TacticSelection out;
    out.tactics = chosen_tactics(network, solution);
    for (const ReformatKey& key : needed_reformats(network, out.tactics)) {
      auto found = reformats.find(problem_of(network, key).key());
      if (found != reformats.end()) out.reformats.emplace(key, found->second.tactic);
    }
    return out;
  }

  // The sources that more than one way through the network could lead over.
  static std::set<std::string> rival_sources(const Network& network) {
    std::set<std::string> names;
    for (const NetworkNode& node : network.nodes) {
      for (const Tactic& t : node.tactics) {
        if (t.view_of < 0 && t.trust != Trust::reference) names.insert(t.source);
      }
    }
    return names.size() > 1 ? names : std::set<std::string>();
  }

  bool is_long(const std::vector<Solution>& s) const {
    return !s.empty() && s[0].total_us > kLongNetworkUs && options.level <= kDefaultLevel;
  }

  // The least sums, best first; then, where whole networks are raced, the best with each source
  // favoured and the best that copies whatever it joins and cuts.
  Result<std::vector<Solution>> candidate_layouts(const Network& network,
                                                  const ReformatCost& cost) {
    TRY(TacticCosts costs, costs_of(network, ""));
    auto solutions = search_layouts(network, costs, cost,
                                    options.level >= 5 ? kNetworksRacedAtFive : kNetworksRaced);
    if (options.level < 3 || is_long(solutions)) return solutions;
    const auto add_best = [&](const Network& searched) {
      for (Solution& s : search_layouts(searched, costs, cost, 1)) {
        const bool listed =
            std::any_of(solutions.begin(), solutions.end(),
                        [&](const Solution& other) { return other.choice == s.choice; });
        if (!listed) solutions.push_back(std::move(s));
      }
    };
    for (const std::string& source : rival_sources(network)) {
      TRY(costs, costs_of(network, source));
      add_best(network);
    }
    // Slices stand behind all other tactics, so that a choice means the same without them.
    Network copies = network;
    if (!drop_slices(copies)) return solutions;
    TRY(costs, costs_of(copies, ""));
    add_best(copies);
    return solutions;
  }

  // Search, measure the reformats that the solutions use, search again with their real times.
  Result<Layouts> find_layouts(const Network& network) {
    std::map<ReformatKey, double> cache;
    std::vector<Solution> solutions;
    for (int round = 0; round < kMaxReformatRounds; ++round) {
      options.progress({"layouts", round, kMaxReformatRounds});
      cache.clear();
      auto cost = [&](const ReformatKey& key) {
        auto found = cache.find(key);
        if (found == cache.end()) found = cache.emplace(key, reformat_us(network, key)).first;
        return found->second;
      };
      TRY(solutions, candidate_layouts(network, cost));
      size_t before = reformats.size();
      for (const Solution& s : solutions) {
        for (const ReformatKey& key : needed_reformats(network, chosen_tactics(network, s)))
          CHECK_OK(time_reformat(network, key));
      }
      if (reformats.size() == before) break;
    }
    Layouts out;
    bool any_wrong = false;
    for (const Solution& s : solutions) {
      if (s.total_us == kInfinity) continue;
      TRY(const std::string wrong,
          wrong_with_a_pitch(network, chosen_tactics(network, s), problems));
      any_wrong = any_wrong || !wrong.empty();
      if (!wrong.empty())
        options.log("copied instead: " + wrong);
      else
        out.push_back({s.total_us, to_selection(network, s)});
    }
    Network copies = network;
    if (out.empty() && any_wrong && drop_slices(copies)) return find_layouts(copies);
    if (out.empty())
      return Error{ErrorCode::unsupported, "no assignment of layouts connects all layers"};
    return out;
  }

  // The layouts of the network as it is cut, and of the way to cut it that the problems' times
  // speak for; the least sum first. One of the two may have a layer that nothing runs.
  Result<std::vector<TacticSelection>> find_covers(const Network& network) {
    std::vector<Cover> covers = {Cover()};
    if (options.level >= kCoverLevel) covers.push_back(choose_cover(network, least_us()));
    if (covers.back().empty()) covers.resize(1);
    Layouts layouts;
    std::optional<Error> unsupported;
    for (const Cover& cover : covers) {
      TRY(const Network cut, network.cut(cover));
      auto found = find_layouts(cut);
      if (!found && found.error().code != ErrorCode::unsupported) return found.error();
      if (!found && !unsupported) unsupported = found.error();
      if (!found) continue;
      for (Layout& layout : *found) {
        layout.selection.cover = cover;
        layouts.push_back(std::move(layout));
      }
    }
    if (layouts.empty()) return *unsupported;
    std::stable_sort(layouts.begin(), layouts.end(),
                     [](const Layout& a, const Layout& b) { return a.total_us < b.total_us; });
    std::vector<TacticSelection> out;
    for (Layout& layout : layouts) out.push_back(std::move(layout.selection));
    return out;
  }

  // A node's fastest tactic.
  NodeCost least_us() {
    return [this](const NetworkNode& node) {
      const std::vector<double> us = all_us(node, known[offer_key(node)]);
      return us.empty() ? kInfinity : *std::min_element(us.begin(), us.end());
    };
  }

  // The selections whose branches can run in parallel, with the streams for it.
  Result<std::vector<TacticSelection>> side_by_side(
      const Network& network, const std::vector<TacticSelection>& selections) const {
    std::vector<TacticSelection> out;
    for (TacticSelection a : selections) {
      a.streams =
          options.aux_streams < 0 ? context.device().info().streams : options.aux_streams + 1;
      TRY(Plan plan, make_plan(network, a));
      if (stream_count(plan) > 1) out.push_back(std::move(a));
    }
    return out;
  }

  // Races networks in the form in which they will run: of two, one may be faster on one stream and
  // the other on several. Several streams must beat the network that the layers prefer; else the
  // networks race on one. Below level 3 nothing is raced.
  Result<TacticSelection> fastest_network(const Network& network,
                                          std::vector<TacticSelection> selections) {
    if (options.level < 3) return std::move(selections.front());
    TRY(std::vector<TacticSelection> candidates, side_by_side(network, selections));
    if (!candidates.empty()) {
      candidates.insert(candidates.begin(), selections.front());
      TRY(size_t best, networks.fastest(network, candidates));
      if (best > 0) return std::move(candidates[best]);
    }
    if (selections.size() == 1) return std::move(selections.front());
    TRY(size_t best, networks.fastest(network, selections));
    return std::move(selections[best]);
  }

  // "rejected: 3 wrong_result, 1 red_zone"
  void log_rejections() const {
    std::string line;
    for (const auto& [kind, count] : counts.rejected)
      line +=
          (line.empty() ? "" : ", ") + std::to_string(count) + " " + std::string(to_string(kind));
    if (!line.empty()) options.log("rejected: " + line);
  }

  // Levels that measure no alternatives have the estimates say what is computed in 8 bits; where
  // nothing runs one of these regions, the network is cut as lowering proposes.
  Result<TacticSelection> select(const Network& network) {
    const bool cuts = options.level > 0 && options.level < kCoverLevel;
    const Cover cover = cuts ? estimated_cover(network) : Cover();
    if (cover.empty()) return select_as_cut(network);
    TRY(const Network cut, network.cut(cover));
    auto chosen = select_as_cut(cut);
    if (!chosen && chosen.error().code == ErrorCode::unsupported) return select_as_cut(network);
    if (chosen) chosen->cover = cover;
    return chosen;
  }

  Result<TacticSelection> select_as_cut(const Network& network) {
    if (options.level == 0) {
      KnownFailures failures(context.timings(), context.device_key(),
                             to_seconds(context.clock().wall_time()));
      return analytic_cover(network, context.sources(), &failures);
    }
    network_estimate = estimated_network_us(network);
    TRY(known, NetworkProblems(context, problems).time_all(network));
    TRY(std::vector<TacticSelection> selections, find_covers(network));
    TRY(TacticSelection chosen, fastest_network(network, std::move(selections)));
    log_rejections();
    if (!network.alternatives.empty() && options.level >= kCoverLevel)
      options.log(cover_text(network, chosen.cover, options.level));
    TRY(const Network cut, network.cut(chosen.cover));
    note_times(cut, chosen);
    return chosen;
  }

  void note_times(const Network& network, const TacticSelection& chosen) {
    node_us.clear();
    for (size_t n = 0; n < network.nodes.size(); ++n) {
      double us = chosen.tactics[n].view_of >= 0
                      ? 0
                      : known[offer_key(network.nodes[n])].of(tactic_key(chosen.tactics[n]));
      node_us.push_back(std::isfinite(us) ? us : 0);
    }
  }
};

Tuner::Tuner(Device& device, const TacticSources& sources, TimingStore& store, TunerOptions options)
    : state_(std::make_unique<State>(device, sources, store, std::move(options))) {}
Tuner::~Tuner() = default;

Result<TacticSelection> Tuner::select(const Network& network) {
  return state_->select(network);
}
Status Tuner::measure(const Network& network) {
  const bool cuts = state_->options.level < kCoverLevel;
  TRY(const Network cut, network.cut(cuts ? estimated_cover(network) : Cover()));
  CHECK_OK(
      NetworkProblems(state_->context, state_->problems).measure_lacking(cuts ? cut : network));
  state_->log_rejections();
  return {};
}
Result<double> Tuner::network_us(const Network& network, const TacticSelection& chosen) {
  if (state_->options.level < kDefaultLevel) return estimated_us(chosen);
  return state_->networks.median_us(network, chosen);
}
const TunerCounts& Tuner::counts() const {
  return state_->counts;
}
const std::vector<double>& Tuner::node_us() const {
  return state_->node_us;
}

}  // namespace enginery
