// What the tuner chooses, keeps and reports.
#include "tests/tuner/fake_tactics.h"
#include "tuner/timing/read_only_store.h"

namespace enginery {
namespace {

using test::Behaviour;
using test::Bench;

TEST(Tuner, ChoosesTheFastestThatIsRight) {
  Bench bench({{"slow", 50},
               {"fast", 10},
               {"wrong", 1, Behaviour::wrong},
               {"wild", 2, Behaviour::wild},
               {"broken", 3, Behaviour::unpreparable}});
  auto chosen = bench.select();
  ASSERT_TRUE(chosen) << chosen.error().message;
  for (const Tactic& t : chosen->tactics) EXPECT_EQ(t.id, "fast");
}

TEST(Tuner, KeepsWhyATacticFailed) {
  Bench bench({{"fast", 10}, {"wrong", 1, Behaviour::wrong}, {"wild", 2, Behaviour::wild}});
  ASSERT_TRUE(bench.select());
  auto timings =
      bench.store.find(device_key(bench.device.info()), bench.network.nodes[0].problem.key());
  std::map<std::string, std::string> failures;
  for (const Timing& t : *timings) failures[t.tactic.substr(0, 8)] = t.failure;
  EXPECT_NE(failures["test:wro"].find("relative error"), std::string::npos);
  EXPECT_NE(failures["test:wil"].find("red zone"), std::string::npos);
  EXPECT_EQ(failures["test:fas"], "");
}

TEST(Tuner, MeasuresAProblemOnceAndNothingASecondTime) {
  Bench bench({{"slow", 50}, {"fast", 10}});
  TunerCounts first, second;
  auto a = bench.select(&first);
  ASSERT_TRUE(a);
  EXPECT_EQ(first.problems, 2);  // the two relus are one problem
  EXPECT_EQ(first.timings_measured, 4);
  int timed = bench.device.timed;
  auto b = bench.select(&second);
  ASSERT_TRUE(b);
  EXPECT_EQ(second.timings_measured, 0);
  EXPECT_EQ(second.timings_reused, 4);
  EXPECT_EQ(bench.device.timed, timed);
  for (size_t i = 0; i < a->tactics.size(); ++i)
    EXPECT_EQ(tactic_key(a->tactics[i]), tactic_key(b->tactics[i]));
}

TEST(Tuner, CompilesAheadWhatItWillMeasure) {
  Bench bench({{"slow", 50}, {"fast", 10}});
  ASSERT_TRUE(bench.select());
  EXPECT_EQ(bench.device.compiled_ahead, 4);  // two problems
  ASSERT_TRUE(bench.select());
  EXPECT_EQ(bench.device.compiled_ahead, 4);
  Bench again({{"slow", 50}, {"fast", 10}});  // after a crash that nobody could be blamed for
  TunerOptions options;
  options.one_by_one = true;
  ASSERT_TRUE(again.select(nullptr, options));
  EXPECT_EQ(again.device.compiled_ahead, 0);
}

TEST(Tuner, BreaksTiesByAFixedOrder) {
  EXPECT_EQ(Bench({{"zeta", 10}, {"alpha", 10}}).select()->tactics[0].id, "alpha");
  EXPECT_EQ(Bench({{"zeta", 10}, {"alpha", 10.04}}).select()->tactics[0].id, "alpha");
  EXPECT_EQ(Bench({{"zeta", 10}, {"alpha", 10.1}}).select()->tactics[0].id, "zeta");
  // Ties do not add up: what ties with a tie of the fastest does not tie with the fastest.
  EXPECT_EQ(Bench({{"zeta", 10}, {"middle", 10.04}, {"alpha", 10.08}}).select()->tactics[0].id,
            "middle");
}

// Samples that scatter: what their intervals cannot tell apart is a tie, up to 1.5 %.
TEST(Tuner, WidensATieWhereSamplesScatter) {
  auto winner = [](double alphas_median, double alphas_low) {
    Bench bench({{"zeta", 10}, {"alpha", 10}});
    for (const NetworkNode& node : bench.network.nodes) {
      for (const Tactic& tactic : node.tactics) {
        Timing t;
        t.tactic = tactic_key(tactic);
        t.statistics = summarize({10});
        t.statistics.high_us = 10.06;
        if (tactic.id == "alpha")
          t.statistics.median_us = alphas_median, t.statistics.low_us = alphas_low;
        EXPECT_TRUE(bench.store.put(device_key(bench.device.info()), node.problem.key(), t).ok());
      }
    }
    return bench.select()->tactics[0].id;
  };
  EXPECT_EQ(winner(10.1, 10.05), "alpha");
  EXPECT_EQ(winner(10.1, 10.07), "zeta");
  EXPECT_EQ(winner(10.2, 10.05), "zeta");
}

// Addresses can decide how fast a kernel is: launches take several places in turn, which hold the
// same numbers.
TEST(Tuner, MeasuresSmallBuffersInSeveralPlaces) {
  for (int places : {1, 4}) {
    Bench bench({{"only", 10}});
    bench.network =
        *lower(*parse_graph(
                   "graph t { input %x : float32[1x4x8x8]\n %a = act(%x) kind=relu\n output %a }"),
               bench.sources, {Precision::fp32});
    bench.device.places = places;
    bench.device.device_info.cache_bytes = 1 << 20;
    ASSERT_TRUE(bench.select());
    EXPECT_EQ(bench.device.first_inputs.size(), static_cast<size_t>(places));
    for (const auto& [address, value] : bench.device.first_inputs)
      EXPECT_EQ(value, bench.device.first_inputs.begin()->second);
  }
}

// Two branches, on a device that runs so many streams; `wait_us`: what it costs, or gains, when one
// waits for another.
struct Branches : Bench {
  Branches(int streams, double wait_us, const std::vector<Behaviour>& own = {{"fast", 10}},
           const std::vector<Behaviour>& rival = {})
      : Bench(own, rival) {
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
  Branches bench(4, -2);
  EXPECT_EQ(bench.streams(), 4);
  TunerCounts again;
  bench.device.wait_us = 20;
  EXPECT_EQ(bench.select(&again)->streams, 4);  // as the store has it
  EXPECT_EQ(again.timings_measured, 0);
  TunerOptions options;
  options.aux_streams = 0;
  EXPECT_EQ(bench.streams(options), 1);
}

// Layer by layer the rival's tanh is faster; in a network it costs more to go there and back than
// it gains.
TEST(Tuner, RacesWholeNetworksThatFavourOneSource) {
  const std::vector<Behaviour> own = {{"own", 20, Behaviour::right, 21}},
                               rival = {{"rivals", 30, Behaviour::right, 20}};
  Bench apart(own, rival);
  auto mixed = apart.select();
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->tactics[1].id, "rivals");  // alternating is free here
  Bench bench(own, rival);
  bench.device.alternation_us = 5;
  auto chosen = bench.select();
  ASSERT_TRUE(chosen);
  for (const Tactic& t : chosen->tactics) EXPECT_EQ(t.id, "own");
}

// What lies well in one lab does not in all: what is close is raced again in others.
TEST(Tuner, RacesCloseTacticsInSeveralLabs) {
  auto winner = [](int places, double others_us) {
    Bench bench({{"lucky", 10, Behaviour::lucky}, {"steady", others_us}});
    bench.device.places = places;
    bench.device.device_info.cache_bytes = 1 << 20;
    return bench.select()->tactics[0].id;
  };
  EXPECT_EQ(winner(4, 10.3), "steady");
  EXPECT_EQ(winner(4, 10.8), "lucky");  // not close
  EXPECT_EQ(winner(1, 10.3), "lucky");  // a device that does not depend on places
}

// Where a network lies decides how fast it is, too: the race takes copies of it, as long as they
// all fit into the cache.
TEST(Tuner, RacesNetworksInSeveralPlaces) {
  auto streams_made = [](int places, int64_t cache_bytes) {
    Bench bench({{"own", 20, Behaviour::right, 21.5}}, {{"rivals", 30, Behaviour::right, 20}});
    bench.device.places = places;
    bench.device.device_info.cache_bytes = cache_bytes;
    EXPECT_TRUE(bench.select());
    return bench.device.streams_made;
  };
  const int networks = 2, once = streams_made(1, 1 << 20);  // mixed, and the one of `own` alone
  EXPECT_EQ(streams_made(4, 1 << 20) - once, networks * 3);
  EXPECT_EQ(streams_made(4, 100), once);
}

// On one stream it costs to alternate; the rival's tanh on a stream of its own alternates with
// nothing.
TEST(Tuner, RacesNetworksOnTheStreamsThatTheyWillHave) {
  const std::vector<Behaviour> own = {{"own", 20, Behaviour::right, 21}},
                               rival = {{"rivals", 30, Behaviour::right, 20}};
  auto sources_with = [&](int streams) {
    Branches bench(streams, -2, own, rival);
    bench.device.alternation_us = 5;
    auto chosen = bench.select();
    EXPECT_TRUE(chosen) << chosen.error().message;
    std::string out;
    for (const Tactic& t : chosen->tactics) out += t.id + " ";
    return out;
  };
  EXPECT_EQ(sources_with(1), "own own own ");
  EXPECT_EQ(sources_with(4), "own own rivals ");
}

TEST(Tuner, ReportsALayerThatEveryTacticFails) {
  Bench bench({{"guard", 5}, {"wrong", 1, Behaviour::wrong}});
  Bench all({{"wrong", 1, Behaviour::wrong}});
  ASSERT_TRUE(bench.select());
  auto chosen = all.select();
  ASSERT_FALSE(chosen);
  EXPECT_NE(chosen.error().message.find("every tactic failed"), std::string::npos)
      << chosen.error().message;
}

TEST(Tuner, StopsWhenCancelledAndKeepsWhatItMeasured) {
  Bench bench({{"slow", 50}, {"fast", 10}});
  TunerOptions options;
  options.cancelled = [&] { return bench.device.timed > 200; };
  TunerCounts counts;
  EXPECT_EQ(bench.select(&counts, options).error().code, ErrorCode::cancelled);
  TunerCounts rest;
  ASSERT_TRUE(bench.select(&rest));
  EXPECT_EQ(rest.timings_measured + counts.timings_measured, 4);
  EXPECT_GT(counts.timings_measured, 0);
}

TEST(Tuner, FailsOnAMissOfAStoreThatOnlyReads) {
  Bench bench({{"slow", 50}, {"fast", 10}});
  ReadOnlyTimingStore read_only(bench.store);
  auto select = [&] {
    return Tuner(bench.device, bench.sources, read_only, {}).select(bench.network);
  };
  const auto missed = select();
  ASSERT_FALSE(missed);
  EXPECT_EQ(missed.error().code, ErrorCode::not_found);
  EXPECT_NE(missed.error().message.find("the timing cache has no entry for test:slow"),
            std::string::npos)
      << missed.error().message;
  EXPECT_EQ(bench.device.timed, 0);
  EXPECT_EQ(bench.device.compiled_ahead, 0);
  ASSERT_TRUE(bench.select());
  EXPECT_TRUE(select());
}

TEST(Tuner, FailsOnANetworkThatAStoreThatOnlyReadsLacks) {
  Branches bench(4, -2);
  ReadOnlyTimingStore read_only(bench.store);
  TunerOptions layers_only;
  layers_only.aux_streams = 0;
  ASSERT_TRUE(bench.select(nullptr, layers_only));
  const auto missed = Tuner(bench.device, bench.sources, read_only, {}).select(bench.network);
  ASSERT_FALSE(missed);
  EXPECT_EQ(missed.error().code, ErrorCode::not_found);
  ASSERT_TRUE(bench.select());
  EXPECT_TRUE(Tuner(bench.device, bench.sources, read_only, {}).select(bench.network));
}

}  // namespace
}  // namespace enginery
