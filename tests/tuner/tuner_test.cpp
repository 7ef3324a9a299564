// What the tuner chooses, keeps and reports.
#include "tests/tuner/fake_tactics.h"
#include "tuner/timing/read_only_store.h"

namespace enginery {
namespace {

using test::Behaviour;
using test::Tuning;

TEST(Tuner, ChoosesTheFastestThatIsRight) {
  Tuning tuning({{"slow", 50},
                 {"fast", 10},
                 {"wrong", 1, Behaviour::wrong},
                 {"wild", 2, Behaviour::wild},
                 {"broken", 3, Behaviour::unpreparable}});
  auto chosen = tuning.select();
  ASSERT_TRUE(chosen) << chosen.error().message;
  for (const Tactic& t : chosen->tactics) EXPECT_EQ(t.id, "fast");
}

TEST(Tuner, KeepsWhyATacticFailed) {
  Tuning tuning({{"fast", 10}, {"wrong", 1, Behaviour::wrong}, {"wild", 2, Behaviour::wild}});
  ASSERT_TRUE(tuning.select());
  auto timings =
      tuning.store.find(device_key(tuning.device.info()), tuning.network.nodes[0].problem.key());
  std::map<std::string, std::string> failures;
  for (const Timing& t : *timings) failures[t.tactic.substr(0, 8)] = t.failure;
  EXPECT_NE(failures["test:wro"].find("expected"), std::string::npos);
  EXPECT_NE(failures["test:wil"].find("red zone"), std::string::npos);
  EXPECT_EQ(failures["test:fas"], "");
}

TEST(Tuner, CountsRejectionsByTheirKind) {
  Tuning tuning({{"fast", 10},
                 {"wrong", 1, Behaviour::wrong},
                 {"wild", 2, Behaviour::wild},
                 {"broken", 3, Behaviour::unpreparable}});
  std::string log;
  TunerOptions options;
  options.log = [&](const std::string& line) { log += line + "\n"; };
  TunerCounts counts;
  ASSERT_TRUE(tuning.select(&counts, options));
  EXPECT_EQ(counts.rejected, (std::map<FailureKind, int>{{FailureKind::compile, 2},  // two problems
                                                         {FailureKind::wrong_result, 2},
                                                         {FailureKind::red_zone, 2}}));
  EXPECT_NE(log.find("rejected: 2 compile, 2 wrong_result, 2 red_zone\n"), std::string::npos)
      << log;
  std::map<std::string, FailureKind> kinds;
  const auto timings =
      tuning.store.find(device_key(tuning.device.info()), tuning.network.nodes[0].problem.key());
  for (const Timing& t : *timings) kinds[t.tactic.substr(0, 8)] = t.failure_kind;
  EXPECT_EQ(kinds["test:wro"], FailureKind::wrong_result);
  EXPECT_EQ(kinds["test:wil"], FailureKind::red_zone);
  EXPECT_EQ(kinds["test:bro"], FailureKind::compile);
  EXPECT_EQ(kinds["test:fas"], FailureKind::unknown);
}

// Dates and durations come from the clock that the tuner is given.
TEST(Tuner, DatesTimingsByItsClock) {
  struct StandingClock final : Clock {
    Nanoseconds monotonic() const override { return Nanoseconds{0}; }
    Nanoseconds wall_time() const override { return std::chrono::seconds(1'000'000); }
  } clock;
  Tuning tuning({{"fast", 10}});
  TunerOptions options;
  options.clock = &clock;
  TunerCounts counts;
  ASSERT_TRUE(tuning.select(&counts, options));
  EXPECT_EQ(counts.preparing_s, 0);
  EXPECT_EQ(counts.checking_s, 0);
  EXPECT_EQ(counts.racing_s, 0);
  const auto timings =
      tuning.store.find(device_key(tuning.device.info()), tuning.network.nodes[0].problem.key());
  ASSERT_FALSE(timings->empty());
  for (const Timing& t : *timings) EXPECT_EQ(t.unix_seconds, 1'000'000);
}

TEST(Tuner, MeasuresAProblemOnceAndNothingASecondTime) {
  Tuning tuning({{"slow", 50}, {"fast", 10}});
  TunerCounts first, second;
  auto a = tuning.select(&first);
  ASSERT_TRUE(a);
  EXPECT_EQ(first.problems, 2);  // the two relus are one problem
  EXPECT_EQ(first.timings_measured, 4);
  int timed = tuning.device.timed;
  auto b = tuning.select(&second);
  ASSERT_TRUE(b);
  EXPECT_EQ(second.timings_measured, 0);
  EXPECT_EQ(second.timings_reused, 4);
  EXPECT_EQ(tuning.device.timed, timed);
  for (size_t i = 0; i < a->tactics.size(); ++i)
    EXPECT_EQ(tactic_key(a->tactics[i]), tactic_key(b->tactics[i]));
}

TEST(Tuner, CompilesAheadWhatItWillMeasure) {
  Tuning tuning({{"slow", 50}, {"fast", 10}});
  ASSERT_TRUE(tuning.select());
  EXPECT_EQ(tuning.device.compiled_ahead, 4);  // two problems
  ASSERT_TRUE(tuning.select());
  EXPECT_EQ(tuning.device.compiled_ahead, 4);
  Tuning again({{"slow", 50}, {"fast", 10}});  // after a crash that nobody could be blamed for
  TunerOptions options;
  options.one_by_one = true;
  ASSERT_TRUE(again.select(nullptr, options));
  EXPECT_EQ(again.device.compiled_ahead, 0);
}

TEST(Tuner, BreaksTiesByAFixedOrder) {
  EXPECT_EQ(Tuning({{"zeta", 10}, {"alpha", 10}}).select()->tactics[0].id, "alpha");
  EXPECT_EQ(Tuning({{"zeta", 10}, {"alpha", 10.04}}).select()->tactics[0].id, "alpha");
  EXPECT_EQ(Tuning({{"zeta", 10}, {"alpha", 10.1}}).select()->tactics[0].id, "zeta");
  // Ties do not add up: what ties with a tie of the fastest does not tie with the fastest.
  EXPECT_EQ(Tuning({{"zeta", 10}, {"middle", 10.04}, {"alpha", 10.08}}).select()->tactics[0].id,
            "middle");
}

// Samples that scatter: what their intervals cannot tell apart is a tie, up to 1.5 %.
TEST(Tuner, WidensATieWhereSamplesScatter) {
  auto winner = [](double alphas_median, double alphas_low) {
    Tuning tuning({{"zeta", 10}, {"alpha", 10}});
    for (const NetworkNode& node : tuning.network.nodes) {
      for (const Tactic& tactic : node.tactics) {
        Timing t;
        t.tactic = tactic_key(tactic);
        t.statistics = summarize({10});
        t.statistics.high_us = 10.06;
        if (tactic.id == "alpha") {
          t.statistics.median_us = alphas_median;
          t.statistics.low_us = alphas_low;
        }
        EXPECT_TRUE(tuning.store.put(device_key(tuning.device.info()), node.problem.key(), t).ok());
      }
    }
    return tuning.select()->tactics[0].id;
  };
  EXPECT_EQ(winner(10.1, 10.05), "alpha");
  EXPECT_EQ(winner(10.1, 10.07), "zeta");
  EXPECT_EQ(winner(10.2, 10.05), "zeta");
}

// Addresses can decide how fast a kernel is: launches take several places in turn, which hold the
// same numbers.
TEST(Tuner, MeasuresSmallBuffersInSeveralPlaces) {
  for (int places : {1, 4}) {
    Tuning tuning({{"only", 10}});
    tuning.network =
        *lower(*parse_graph(
                   "graph t { input %x : float32[1x4x8x8]\n %a = act(%x) kind=relu\n output %a }"),
               tuning.sources, {Precision::fp32});
    tuning.device.places = places;
    tuning.device.device_info.cache_bytes = 1 << 20;
    ASSERT_TRUE(tuning.select());
    EXPECT_EQ(tuning.device.timed_inputs.size(), static_cast<size_t>(places));
    for (const auto& [address, value] : tuning.device.timed_inputs)
      EXPECT_EQ(value, tuning.device.timed_inputs.begin()->second);
  }
}

// Two branches, on a device that runs so many streams; `wait_us`: what it costs, or gains, when one
// waits for another.
struct Branches : Tuning {
  Branches(int streams, double wait_us, const std::vector<Behaviour>& own = {{"fast", 10}},
           const std::vector<Behaviour>& rival = {})
      : Tuning(own, rival) {
    auto graph = parse_graph(
        "graph t { input %x : float32[1x4x8x8]\n %a = act(%x) kind=relu\n %b = act(%a) kind=relu\n "
        "%c = act(%a) kind=tanh\n"
        " output %b\n output %c }");
    network = *lower(*graph, sources, {Precision::fp32});
    device.device_info.streams = streams;
    device.wait_us = wait_us;
  }
  int streams(TunerOptions options = {}) {
    auto chosen = select(nullptr, options);
    EXPECT_TRUE(chosen) << chosen.error().message;
    return chosen ? chosen->streams : 0;
  }
};

TEST(Tuner, RunsBranchesSideBySideWhereTheyWin) {
  EXPECT_EQ(Branches(1, -2).streams(), 1);  // one is all that this device gains by
  EXPECT_EQ(Branches(4, 20).streams(), 1);
  Branches tuning(4, -2);
  EXPECT_EQ(tuning.streams(), 4);
  TunerCounts again;
  tuning.device.wait_us = 20;
  EXPECT_EQ(tuning.select(&again)->streams, 4);  // as the store has it
  EXPECT_EQ(again.timings_measured, 0);
  TunerOptions options;
  options.aux_streams = 0;
  EXPECT_EQ(tuning.streams(options), 1);
}

// Layer by layer the rival's tanh is faster; in a network it costs more to go there and back than
// it gains.
TEST(Tuner, RacesWholeNetworksThatFavourOneSource) {
  const std::vector<Behaviour> own = {{"own", 20, Behaviour::right, 21}},
                               rival = {{"rivals", 30, Behaviour::right, 20}};
  Tuning apart(own, rival);
  auto mixed = apart.select();
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->tactics[1].id, "rivals");  // alternating is free here
  Tuning tuning(own, rival);
  tuning.device.alternation_us = 5;
  auto chosen = tuning.select();
  ASSERT_TRUE(chosen);
  for (const Tactic& t : chosen->tactics) EXPECT_EQ(t.id, "own");
}

// A slice of what relu makes costs nothing by itself, but here tanh loses by reading it in place.
TEST(Tuner, RacesANetworkThatCopiesWhatItCouldSlice) {
  const auto chosen_with = [](double reread_us) {
    Tuning tuning({{"copy", 10}});
    const auto graph = parse_graph(
        "graph t { input %x : float32[1x4x8x8]\n %s = constant int64[1] {0}\n %e = constant "
        "int64[1] {2}\n %n = constant int64[1] {1}\n %a = act(%x) kind=relu\n %b = slice(%a, %s, "
        "%e, %n)\n %c = act(%b) kind=tanh\n output %c }");
    tuning.network = *lower(*graph, tuning.sources, {Precision::fp32});
    tuning.device.reread_us = reread_us;
    const auto chosen = tuning.select();
    return chosen.ok() ? chosen->tactics[1].id : chosen.error().message;
  };
  EXPECT_EQ(chosen_with(0), "slice");
  EXPECT_EQ(chosen_with(25), "copy");
}

// Buffers that lie well in one fixture do not in all: what is close is raced again in others.
TEST(Tuner, RacesCloseTacticsInSeveralFixtures) {
  auto winner = [](int places, double others_us) {
    Tuning tuning({{"lucky", 10, Behaviour::lucky}, {"steady", others_us}});
    tuning.device.places = places;
    tuning.device.device_info.cache_bytes = 1 << 20;
    return tuning.select()->tactics[0].id;
  };
  EXPECT_EQ(winner(4, 10.3), "steady");
  EXPECT_EQ(winner(4, 10.8), "lucky");  // not close
  EXPECT_EQ(winner(1, 10.3), "lucky");  // a device that does not depend on places
}

// Where a network lies decides how fast it is, too: the race takes copies of it, as long as they
// all fit into the cache.
TEST(Tuner, RacesNetworksInSeveralPlaces) {
  auto streams_made = [](int places, int64_t cache_bytes) {
    Tuning tuning({{"own", 20, Behaviour::right, 21.5}}, {{"rivals", 30, Behaviour::right, 20}});
    tuning.device.places = places;
    tuning.device.device_info.cache_bytes = cache_bytes;
    EXPECT_TRUE(tuning.select());
    return tuning.device.streams_made;
  };
  const int networks = 2, once = streams_made(1, 1 << 20);  // mixed, and the one of `own` alone
  EXPECT_EQ(streams_made(4, 1 << 20) - once, networks * 3);
  EXPECT_EQ(streams_made(4, 100), once);
}

// Packed weights of large networks take long: what the networks have in common is prepared once.
TEST(Tuner, PreparesOnceWhatRacingNetworksHaveInCommon) {
  for (const int places : {1, 4}) {
    Tuning tuning({{"own", 20, Behaviour::right, 21.5}}, {{"rivals", 30, Behaviour::right, 20}});
    tuning.device.places = places;
    tuning.device.device_info.cache_bytes = 1 << 20;
    ASSERT_TRUE(tuning.select());
    // The relus, which are one problem, and the tanh of each of the two networks; in each place.
    EXPECT_EQ(tuning.device.prepared_for_networks, places * 3);
  }
}

// A lone tactic has nothing to be told apart from: its samples may scatter.
TEST(Tuner, RunsOnOnlyWhereThereIsMoreThanOneTactic) {
  const auto timed = [](std::vector<Behaviour> behaviours) {
    Tuning tuning(std::move(behaviours));
    tuning.device.scatter = 0.2;
    TunerOptions options;
    options.level = 2;  // no race of networks
    EXPECT_TRUE(tuning.select(nullptr, options));
    const auto timings =
        tuning.store.find(device_key(tuning.device.info()), tuning.network.nodes[0].problem.key());
    return timings->at(0).statistics.samples;
  };
  EXPECT_EQ(timed({{"lone", 10}}), 35);
  EXPECT_EQ(timed({{"one", 10}, {"other", 10}}), 35 + 80);
}

// On one stream it costs to alternate; the rival's tanh on a stream of its own alternates with
// nothing.
TEST(Tuner, RacesNetworksOnTheStreamsThatTheyWillHave) {
  const std::vector<Behaviour> own = {{"own", 20, Behaviour::right, 21}},
                               rival = {{"rivals", 30, Behaviour::right, 20}};
  auto sources_with = [&](int streams) {
    Branches tuning(streams, -2, own, rival);
    tuning.device.alternation_us = 5;
    auto chosen = tuning.select();
    EXPECT_TRUE(chosen) << chosen.error().message;
    std::string out;
    for (const Tactic& t : chosen->tactics) out += t.id + " ";
    return out;
  };
  EXPECT_EQ(sources_with(1), "own own own ");
  EXPECT_EQ(sources_with(4), "own own rivals ");
}

TEST(Tuner, ReportsALayerThatEveryTacticFails) {
  Tuning tuning({{"guard", 5}, {"wrong", 1, Behaviour::wrong}});
  Tuning all({{"wrong", 1, Behaviour::wrong}});
  ASSERT_TRUE(tuning.select());
  auto chosen = all.select();
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().message.find("every tactic failed"), std::string::npos)
      << chosen.error().message;
}

TEST(Tuner, StopsWhenCancelledAndKeepsWhatItMeasured) {
  Tuning tuning({{"slow", 50}, {"fast", 10}});
  TunerOptions options;
  options.cancelled = [&] { return tuning.device.timed > 200; };
  TunerCounts counts;
  EXPECT_EQ(tuning.select(&counts, options).error().code, ErrorCode::cancelled);
  TunerCounts rest;
  ASSERT_TRUE(tuning.select(&rest));
  EXPECT_EQ(rest.timings_measured + counts.timings_measured, 4);
  EXPECT_GT(counts.timings_measured, 0);
}

TEST(Tuner, FailsOnAMissOfAStoreThatOnlyReads) {
  Tuning tuning({{"slow", 50}, {"fast", 10}});
  ReadOnlyTimingStore read_only(tuning.store);
  auto select = [&](bool one_by_one) {
    TunerOptions options;
    options.one_by_one = one_by_one;
    return Tuner(tuning.device, tuning.sources, read_only, options).select(tuning.network);
  };
  for (const bool one_by_one : {false, true}) {
    const auto missed = select(one_by_one);
    ASSERT_FALSE(missed);
    EXPECT_EQ(missed.error().code, ErrorCode::not_found);
    EXPECT_NE(missed.error().message.find("the timing cache has no entry for test:slow"),
              std::string::npos)
        << missed.error().message;
    EXPECT_EQ(tuning.device.timed, 0) << "nothing is measured, then thrown away";
    EXPECT_EQ(tuning.device.compiled_ahead, 0);
  }
  ASSERT_TRUE(tuning.select());
  EXPECT_TRUE(select(false));
}

TEST(Tuner, FailsOnANetworkThatAStoreThatOnlyReadsLacks) {
  Branches tuning(4, -2);
  ReadOnlyTimingStore read_only(tuning.store);
  TunerOptions layers_only;
  layers_only.aux_streams = 0;
  ASSERT_TRUE(tuning.select(nullptr, layers_only));
  const int timed = tuning.device.timed;
  const auto missed = Tuner(tuning.device, tuning.sources, read_only, {}).select(tuning.network);
  ASSERT_FALSE(missed);
  EXPECT_EQ(missed.error().code, ErrorCode::not_found);
  EXPECT_EQ(tuning.device.timed, timed);
  ASSERT_TRUE(tuning.select());
  EXPECT_TRUE(Tuner(tuning.device, tuning.sources, read_only, {}).select(tuning.network));
}

}  // namespace
}  // namespace enginery
