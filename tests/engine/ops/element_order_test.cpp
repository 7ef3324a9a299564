#include "engine/ops/element_order.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(KeepsElementOrder, IsTrueOfWhatOnlyChangesDims) {
  for (const Op& op :
       {Op{Reshape{}}, Op{Flatten{}}, Op{Squeeze{}}, Op{Unsqueeze{}}, Op{Identity{}}})
    EXPECT_TRUE(keeps_element_order(op)) << op_name(op);
  for (const Op& op : {Op{Transpose{}}, Op{Expand{}}, Op{Concat{}}, Op{Cast{}}, Op{Shape{}}})
    EXPECT_FALSE(keeps_element_order(op)) << op_name(op);
}

}  // namespace
}  // namespace enginery
