// Comparable times: the timings of one problem on one scale, whatever races they are from.
//
// A device has states in which everything takes some per cent longer, so times of two races are
// related by the probe that both ran beside (Timing::probe); the tuner relates what it adds to
// a problem more closely, by racing known tactics again (problem_tuner.h). Pure functions.
#pragma once

#include <limits>

#include "tuner/timing/timing.h"

namespace enginery {

// The time of what is unknown or failed.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Cold times come from one lab, and in two labs (memory placed anew) the ratio of two tactics
// differs by up to so much (tests/bench/results/h200-steadiness.csv).
inline constexpr double kLabsDiffer = 1.05;

// The times that decide, out of medians in warm caches (infinite: none) and cold ones (0: none),
// which run parallel: where some were measured cold, all warm times as many times longer as the
// median one of those that have both; and one that differs from that by more than labs do, longer
// or shorter by what lies beyond.
std::vector<double> deciding_us(const std::vector<double>& warm, const std::vector<double>& cold);

// Parallel to one problem's timings; infinite where a tactic failed.
std::vector<double> comparable_us(const std::vector<Timing>& timings);

// The probe whose time is the scale of comparable_us; its time is 0 where no timing has one.
ProbeTime common_probe(const std::vector<Timing>& timings);

// The warm median on the probe's scale, infinite for a failure.
double warm_us(const Timing& timing, const ProbeTime& probe);

// Whether nothing relates it to timings that have the probe: it has none or another one.
bool is_unrelated(const Timing& timing, const ProbeTime& probe);

}  // namespace enginery
