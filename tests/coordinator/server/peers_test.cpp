#include "coordinator/server/peers.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(Peers, KnowsAWorkerByItsHelloAndItsSync) {
  Peers peers;
  EXPECT_EQ(peers.name_of("s"), "unknown");
  EXPECT_EQ(peers.sku_of("s").error().code, ErrorCode::unavailable);
  peers.said_hello("s", "w");
  EXPECT_EQ(peers.name_of("s"), "w");
  EXPECT_EQ(peers.sku_of("s").error().code, ErrorCode::unavailable) << "it has not synced";
  peers.synced("w", "cpu-avx2");
  EXPECT_EQ(*peers.sku_of("s"), "cpu-avx2");
  peers.synced("w", "cpu-sse41");
  EXPECT_EQ(*peers.sku_of("s"), "cpu-sse41") << "the latest word counts";
}

TEST(Peers, KeepsABoundedNumberOfThemAndOfTheirBytes) {
  Peers peers;
  peers.said_hello("long", std::string(1000, 'n'));
  EXPECT_EQ(peers.name_of("long").size(), 200u);
  for (int i = 0; i < 20000; ++i) peers.said_hello("s" + std::to_string(i), "w");
  EXPECT_EQ(peers.name_of("long"), "unknown") << "it has to say Hello again";
  EXPECT_EQ(peers.name_of("s19999"), "w");
}

}  // namespace
}  // namespace enginery
