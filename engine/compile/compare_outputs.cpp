#include "engine/compile/compare_outputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace enginery {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Half of the least number of float16: what rounding to it can take from any element.
constexpr double kLeastFloat16 = 0x1p-24;
// Engines take numbers below 2^-126 for zero (CpuStream; so do GPU kernels); up to 1024 such terms
// may be missing from a sum.
constexpr double kLeastFloat32 = 0x1p-116;
// The most elements that may lie at ties; few elements have no share.
constexpr double kMaxTiedShare = 0.05;
constexpr int64_t kFewElements = 2;
// How far an engine may go beyond what the random worlds show, and ties that they never met.
constexpr double kMargin = 2, kMaxUnseenShare = 0.001;

using Doubles = std::span<const double>;

double largest_of(Doubles values) {
  double largest = 0;
  for (const double v : values) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  return largest;
}

double distance(double y, double r) {
  if (y == r || std::isnan(r)) return 0;
  const double d = std::abs(y - r);
  return std::isfinite(d) ? d : kInfinity;
}

std::string share_text(int64_t count, int64_t of, const std::string& rule) {
  return std::to_string(count) + " of " + std::to_string(of) + " elements differ, " + rule;
}

// One output's elements as doubles, in all worlds.
struct Elements {
  std::vector<Tensor> wide;  // the engine's, then the worlds'
  bool floats = false;

  Elements(const Tensor& actual, const DecidedValue& expected)
      : floats(is_floating(actual.type())) {
    wide.push_back(convert(actual, DataType::float64));
    for (const Tensor& t : expected.worlds) wide.push_back(convert(t, DataType::float64));
  }
  Doubles actual() const { return wide[0].data<double>(); }
  Doubles in(World world) const { return wide[1 + static_cast<size_t>(world)].data<double>(); }
};

// `allowed`: the absolute difference that no tie needs.
Comparison compare_plain(const Elements& e, double bar, double allowed, double least) {
  Comparison out;
  const Doubles y = e.actual(), r = e.in(World::exact);
  const double largest = largest_of(r);
  double worst = 0;
  int64_t differing = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const double d = std::max(0.0, distance(y[i], r[i]) - least);
    worst = std::max(worst, d);
    differing += d > (e.floats ? allowed : 0);
  }
  out.error = largest > 0 ? worst / largest : worst;
  if (differing == 0) return out;
  if (!e.floats) out.error = std::max(out.error, 1.0);  // off by one in a million is as wrong
  out.wrong = e.floats ? "differs by " + three_digits(out.error) + " of its largest element, " +
                             three_digits(bar) + " may"
                       : share_text(differing, std::ssize(y), "none may");
  return out;
}

// Positions: the score at the engine's is that at the reference's, as far as an engine can tell.
Comparison compare_choice(const Elements& e, const Choice& choice) {
  Comparison out;
  const Doubles y = e.actual(), r = e.in(World::exact), scores = choice.scores.data<double>();
  int64_t differing = 0, wrong = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    if (y[i] == r[i]) continue;
    ++differing;
    const auto at = static_cast<int64_t>(i), lanes = choice.inner * choice.chosen;
    const int64_t start = at / lanes * choice.size * choice.inner + at % choice.inner;
    const auto score = [&](double position) {
      return scores[static_cast<size_t>(start + static_cast<int64_t>(position) * choice.inner)];
    };
    const bool inside = y[i] >= 0 && y[i] < static_cast<double>(choice.size);
    const bool tied =
        inside && (std::isnan(score(r[i])) || distance(score(y[i]), score(r[i])) <= choice.slack);
    wrong += !tied;
  }
  const int64_t most =
      std::max(kFewElements, static_cast<int64_t>(kMaxTiedShare * static_cast<double>(y.size())));
  if (wrong > 0)
    out.wrong = share_text(wrong, std::ssize(y), "and their scores are not the chosen ones'");
  else if (differing > most)
    out.wrong = share_text(differing, std::ssize(y), "at ties, " + std::to_string(most) + " may");
  if (!out.wrong.empty()) out.error = 1;
  return out;
}

// Each element lies between what it is when its tie falls one way and the other.
Comparison compare_once(const Elements& e, double allowed) {
  Comparison out;
  const Doubles y = e.actual(), r = e.in(World::exact), up = e.in(World::up),
                down = e.in(World::down);
  const double largest = largest_of(r);
  int64_t differing = 0, undecided = 0, wrong = 0;
  double worst = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    undecided += up[i] != r[i] || down[i] != r[i];
    if (distance(y[i], r[i]) <= allowed) continue;
    ++differing;
    const auto [low, high] = std::minmax({r[i], up[i], down[i]});
    if (y[i] >= low - allowed && y[i] <= high + allowed) continue;
    ++wrong;
    worst = std::max(worst, std::min(distance(y[i], low), distance(y[i], high)));
  }
  // Steps finer than what an engine may differ by make most elements ties: half of them then.
  const double share = std::max(kMaxTiedShare * static_cast<double>(y.size()),
                                e.floats ? static_cast<double>(undecided) / 2 : 0);
  const int64_t most = std::max(kFewElements, static_cast<int64_t>(share));
  if (wrong > 0) {
    out.error = std::max(1.0, largest > 0 ? worst / largest : worst);
    out.wrong = share_text(wrong, std::ssize(y), "and not at a tie");
  } else if (differing > most) {
    out.error = 1;
    out.wrong = share_text(differing, std::ssize(y), "at ties, " + std::to_string(most) + " may");
  }
  return out;
}

// What one run shows against the exact one.
struct Spread {
  double largest = 0;
  int64_t differing = 0;
};
Spread spread_of(Doubles y, Doubles r, double allowed) {
  Spread out;
  for (size_t i = 0; i < y.size(); ++i) {
    const double d = distance(y[i], r[i]);
    if (d <= allowed) continue;
    out.largest = std::max(out.largest, d);
    ++out.differing;
  }
  return out;
}

// No further from the reference than the reference with its ties decided at random.
Comparison compare_often(const Elements& e, bool positions, double allowed) {
  Comparison out;
  const Doubles y = e.actual(), r = e.in(World::exact);
  const double largest = largest_of(r);
  const Spread engine = spread_of(y, r, allowed);
  Spread worlds;
  for (const World w : {World::random_1, World::random_2}) {
    const Spread one = spread_of(e.in(w), r, allowed);
    worlds.largest = std::max(worlds.largest, one.largest);
    worlds.differing = std::max(worlds.differing, one.differing);
  }
  const double most_count = std::max(kMargin * static_cast<double>(worlds.differing),
                                     kMaxUnseenShare * static_cast<double>(y.size()));
  const auto most = static_cast<int64_t>(most_count);
  // The difference of two integers says nothing: they may be positions.
  const double most_difference = positions ? kInfinity : allowed + kMargin * worlds.largest;
  if (engine.differing > most) {
    out.wrong = share_text(engine.differing, std::ssize(y),
                           std::to_string(most) + " may after decisions at ties");
  } else if (engine.largest > most_difference) {
    out.wrong = "differs by " + three_digits(engine.largest) + ", " +
                three_digits(most_difference) + " may after decisions at ties";
  }
  if (!out.wrong.empty())
    out.error = std::max(1.0, largest > 0 ? engine.largest / largest : engine.largest);
  return out;
}

// What the arithmetic can take from any element of the type.
double least_of(DataType type, const ComparisonBars& bars) {
  if (!is_floating(type)) return 0;
  if (bars.holds_float16) return kLeastFloat16;
  return type == DataType::float64 ? 0 : kLeastFloat32;
}

std::string nan_note(const Elements& e) {
  const Doubles r = e.in(World::exact);
  const auto count = std::ranges::count_if(r, [](double v) { return std::isnan(v); });
  if (count == 0) return "";
  return std::to_string(count) + " of " + std::to_string(r.size()) +
         " elements are NaN in the reference and were not compared";
}

}  // namespace

Comparison compare_output(const Tensor& actual, const DecidedValue& expected,
                          const ComparisonBars& bars) {
  const Elements e(actual, expected);
  const double largest = largest_of(e.in(World::exact));
  const double least = least_of(actual.type(), bars);
  const double allowed = e.floats ? bars.relative * (largest > 0 ? largest : 1) + least : 0;
  Comparison out = expected.choice && expected.decided != Decided::none
                       ? compare_choice(e, *expected.choice)
                   : expected.decided == Decided::once ? compare_once(e, allowed)
                   : expected.decided == Decided::often
                       ? compare_often(e, !e.floats, allowed)
                       : compare_plain(e, bars.relative, allowed - least, least);
  out.note = nan_note(e);
  if (out.wrong.empty() && largest > 0 && largest <= least) {
    out.note = "all elements are below " +
               std::string(bars.holds_float16 ? "6e-8, which float16 cannot hold,"
                                              : "1.2e-35, where engines take numbers for zero,") +
               " and were not compared";
  }
  return out;
}

std::string three_digits(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", v);
  return text;
}

}  // namespace enginery
