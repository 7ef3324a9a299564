#include "tuner/race/race.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "tuner/timing/timing.h"

namespace enginery {
namespace {

// A machine in a test: candidates cost what they cost times the machine's momentary slowness.
struct Machine {
  double slowness = 1;
  int calls = 0;
  Candidate candidate(double us, int* count = nullptr) {
    return {[this, us, count]() -> Result<double> {
      ++calls;
      if (count) ++*count;
      return us * slowness;
    }};
  }
};

TEST(Race, DropsSlowCandidatesEarlyAndTimesFinalistsMost) {
  Machine m;
  int fast = 0, close = 0, slow = 0;
  auto results = race({m.candidate(100, &fast), m.candidate(105, &close), m.candidate(300, &slow)},
                      m.candidate(50), {});
  ASSERT_TRUE(results);
  EXPECT_EQ(slow, 3);
  EXPECT_EQ(fast, 3 + 8 + 24);
  EXPECT_EQ(close, 3 + 8 + 24);
  EXPECT_DOUBLE_EQ(summarize((*results)[0].samples_us).median_us, 100);
}

// Long candidates, as whole networks on a CPU, are not launched 35 times each.
TEST(Race, EndsWhenItsTimeIsOver) {
  const auto launches = [](double max_us, size_t least_samples) {
    Machine m;
    int count = 0;
    RaceRules rules;
    rules.max_us = max_us;
    rules.least_samples = least_samples;
    EXPECT_TRUE(race({m.candidate(100, &count), m.candidate(105)}, m.candidate(50), rules));
    return count;
  };
  EXPECT_EQ(launches(1500, 5), 8);  // 205 a round
  EXPECT_EQ(launches(300, 5), 5);
  EXPECT_EQ(launches(1e6, 5), 35);
}

TEST(Race, CountsAllLaunchesOfACandidateToItsTime) {
  const auto rounds = [](int launches) {
    Machine m;
    int count = 0;
    Candidate candidate = m.candidate(100, &count);
    candidate.launches = launches;
    RaceRules rules;
    rules.max_us = 1500;
    EXPECT_TRUE(race({candidate}, m.candidate(50), rules));
    return count;
  };
  EXPECT_EQ(rounds(1), 16);
  EXPECT_EQ(rounds(2), 8);
}

// On a busy machine nearly every round is disturbed: of long candidates the repeats would take
// longer than the race.
TEST(Race, RepeatsNoRoundOnceItsTimeIsOver) {
  const auto rounds = [](double max_us) {
    Machine m;
    int count = 0, probes = 0;
    Candidate probe{[&]() -> Result<double> { return probes++ == 0 ? 50 : 100; }};
    RaceRules rules;
    rules.max_us = max_us;
    const auto results = race({m.candidate(100, &count)}, probe, rules);
    EXPECT_TRUE(results);
    EXPECT_EQ((*results)[0].samples_us.size(), max_us > 1e6 ? 35u : 5u);
    return count;
  };
  EXPECT_EQ(rounds(1e9), 35 + 12);
  EXPECT_EQ(rounds(350), 3 + 5) << "the fourth round passes 350 us";
}

// What was said to be in flight last, and was not over, may have ended the process.
TEST(Race, SaysWhoseTurnItIsWithinEachRound) {
  Machine m;
  RaceRules rules;
  std::string said;
  rules.in_flight = [&](std::optional<size_t> candidate, bool over) {
    said += (over ? ")" : "(") + (candidate ? std::to_string(*candidate) : std::string());
  };
  rules.first_samples = 1, rules.second_samples = rules.final_samples = 0;
  rules.max_extra_rounds = 0;
  Candidate watched{[&]() -> Result<double> {
    EXPECT_TRUE(said.ends_with("(1")) << said;
    return 10;
  }};
  ASSERT_TRUE(race({m.candidate(10), watched}, m.candidate(5), rules));
  EXPECT_EQ(said, "((0)0(1)1)");
}

// Samples scatter by 20 %: 35 of them leave the medians uncertain, more of them less so; there is
// an end to it.
TEST(Race, RunsOnWhereSamplesScatter) {
  auto samples = [](double scatter, RaceRules rules) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> factor(1, 1 + scatter);
    Machine m;
    Candidate candidate{[&]() -> Result<double> { return 100 * factor(random); }};
    auto results = race({candidate, candidate}, m.candidate(50), rules);
    EXPECT_TRUE(results);
    return (*results)[0].samples_us.size();
  };
  EXPECT_EQ(samples(0.002, {}), 35u);
  RaceRules patient;
  patient.max_extra_rounds = 100'000;
  patient.max_extra_us = 1e9;
  EXPECT_GT(samples(0.2, patient), 200u);
  EXPECT_LT(samples(0.2, patient), 10'000u);
  EXPECT_EQ(samples(0.2, {}), 35u + 80u);
  patient.max_extra_us = 3'000;  // two candidates of 100 us and more, eight rounds at a time
  EXPECT_EQ(samples(0.2, patient), 35u + 16u);
}

// Where samples scatter, whoever is slower beyond doubt leaves to those that are not; the fastest
// alone may still be uncertain.
TEST(Race, LetsThoseThatAreBeatenLeaveWhereSamplesScatter) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> factor(0.95, 1.05);
  Machine m;
  const auto scattered = [&](double us) {
    return Candidate{[&random, &factor, us]() -> Result<double> { return us * factor(random); }};
  };
  RaceRules rules;
  rules.precise = 0.001;  // beyond what 80 rounds more can give
  const auto results =
      race({scattered(100), scattered(100.2), scattered(108)}, m.candidate(50), rules);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].samples_us.size(), 35u + 80u);
  EXPECT_EQ((*results)[1].samples_us.size(), 35u + 80u);
  const TimingStatistics beaten = summarize((*results)[2].samples_us);
  EXPECT_GE(beaten.samples, 35);
  EXPECT_LT(beaten.samples, 35 + 80);
  EXPECT_NEAR(beaten.median_us, 108, 3);
}

TEST(Race, EndsWhenACandidateLosesTheDevice) {
  Machine m;
  int probes = 0, others = 0, turns = 0;
  Candidate losing{[&]() -> Result<double> {
    if (++turns == 2) return Error{ErrorCode::device_lost, "illegal address"};
    return 100;
  }};
  auto results =
      race({m.candidate(100), losing, m.candidate(100, &others)}, m.candidate(50, &probes), {});
  ASSERT_TRUE(results);
  EXPECT_TRUE((*results)[1].lost_device());
  EXPECT_EQ((*results)[1].failure, "illegal address");
  EXPECT_FALSE((*results)[0].lost_device());
  EXPECT_EQ(others, 1);
  EXPECT_EQ(probes, 3);
}

TEST(Race, TakesOutACandidateThatFails) {
  Machine m;
  Candidate broken{[]() -> Result<double> { return Error{ErrorCode::internal, "launch failed"}; }};
  auto results = race({broken, m.candidate(100)}, m.candidate(50), {});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].failure, "launch failed");
  EXPECT_EQ((*results)[1].samples_us.size(), 35u);
}

TEST(Race, RepeatsRoundsThatTheProbeFindsDisturbed) {
  Machine m;
  int rounds = 0, samples = 0;
  Candidate probe{[&]() -> Result<double> {
    m.slowness = (rounds++ / 2) % 3 == 1 ? 4 : 1;  // every third round is disturbed
    return 50 * m.slowness;
  }};
  auto results = race({m.candidate(100, &samples)}, probe, {});
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].samples_us.size(), 35u);
  EXPECT_GT(samples, 35);
  EXPECT_NEAR(summarize((*results)[0].samples_us).p95_us, 100, 1);
}

// A state of the device that comes and goes, and that the probe does not feel: both candidates are
// 7 % slower for some rounds.
TEST(Race, TellsCloseCandidatesApartInADeviceOfTwoStates) {
  Machine m;
  int turns = 0;
  auto moody = [&](double us) {
    return Candidate{
        [&, us]() -> Result<double> { return us * ((turns++ / 2) % 9 < 4 ? 1.07 : 1.0); }};
  };
  auto results = race({moody(100), moody(101)}, m.candidate(50), {});
  ASSERT_TRUE(results);
  const double first = summarize((*results)[0].samples_us).median_us,
               second = summarize((*results)[1].samples_us).median_us;
  EXPECT_NEAR(second / first, 1.01, 1e-9);
  EXPECT_NEAR(summarize((*results)[1].samples_us).deviation_us, 0, 1e-9);
}

// A device that says when it is throttled, but is looked at every third round only.
struct ThrottledMachine : Machine {
  std::vector<uint64_t> bits;  // by round; 0 beyond
  size_t rounds = 0;
  uint64_t since = 0;
  int rests = 0, looks_every = 3;
  RaceRules rules() {
    RaceRules out;
    out.throttling = [this]() -> Throttling {
      since |= rounds < bits.size() ? bits[rounds] : 0;
      slowness = ++rounds < bits.size() && bits[rounds] != 0 ? 1.2 : 1;  // below the probe's limit
      if (rounds % static_cast<size_t>(looks_every) != 0) return {0, false};
      return {std::exchange(since, 0), true};
    };
    out.rest = [this] { ++rests; };
    return out;
  }
};

TEST(Race, ForgetsWhatItTimedWhileTheDeviceWasThrottled) {
  ThrottledMachine m;
  m.bits = {0, 0, 0, 0, 8, 8};
  // Slow where the device is throttled, at least as it is seen by this candidate.
  Candidate touchy{[&]() -> Result<double> { return m.slowness > 1 ? 300 : 100; }};
  const auto results = race({touchy, m.candidate(101)}, m.candidate(50), m.rules());
  ASSERT_TRUE(results);
  EXPECT_EQ(m.rests, 1);
  for (const CandidateResult& r : *results) {
    EXPECT_EQ(r.samples_us.size(), 35u) << "forgotten rounds are repeated, also the clean one";
    EXPECT_EQ(r.disturbed_samples, 0);
    EXPECT_EQ(r.throttle_bits, 0u);
  }
  EXPECT_DOUBLE_EQ(summarize((*results)[0].samples_us).p95_us, 100);
}

// What left the race on the word of a throttled device is back in it.
TEST(Race, TakesBackWhoLeftWhileTheDeviceWasThrottled) {
  ThrottledMachine m;
  m.bits = {8, 8, 8, 8, 8};
  m.looks_every = 5;  // the drop after three rounds comes before the first look
  m.slowness = 1.2;
  Candidate touchy{[&]() -> Result<double> { return m.slowness > 1 ? 300 : 100; }};
  const auto results = race({touchy, m.candidate(101)}, m.candidate(50), m.rules());
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].samples_us.size(), 35u);
  EXPECT_DOUBLE_EQ(summarize((*results)[0].samples_us).median_us, 100);
}

TEST(Race, MarksWhatItTimedOnADeviceThatStaysThrottled) {
  ThrottledMachine m;
  m.bits.assign(1000, 0x40);
  const auto results = race({m.candidate(100)}, m.candidate(50), m.rules());
  ASSERT_TRUE(results);
  EXPECT_EQ(m.rests, RaceRules().max_repeats) << "there is an end to it";
  EXPECT_EQ((*results)[0].samples_us.size(), 35u);
  EXPECT_GT((*results)[0].disturbed_samples, 0);
  EXPECT_EQ((*results)[0].throttle_bits, 0x40u);
}

TEST(Race, SaysWhatItsProbeTook) {
  Machine m;
  EXPECT_DOUBLE_EQ((*race({m.candidate(100)}, m.candidate(50), {}))[0].probe_us, 50);
}

TEST(Race, EndsOnAMachineThatStaysBusy) {
  Machine m;
  int n = 0;
  Candidate probe{[&]() -> Result<double> { return n++ == 0 ? 1 : 1000; }};
  auto results = race({m.candidate(100)}, probe, {});
  ASSERT_TRUE(results);
  EXPECT_GT((*results)[0].probe_ratio, 100);
}

TEST(Race, StopsWhenCancelled) {
  Machine m;
  RaceRules rules;
  rules.cancelled = [&] { return m.calls > 10; };
  EXPECT_EQ(race({m.candidate(1)}, m.candidate(1), rules).error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace enginery
