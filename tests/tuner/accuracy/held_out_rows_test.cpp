// Held-out rows come back as they were, or not at all.
#include "tuner/accuracy/held_out_rows.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

HeldOutRows two_inputs() {
  return {{"x", Tensor::of<float>({2, 2}, {1, -2, 3.5f, 0})},
          {"ids", Tensor::of<int64_t>({2}, {7, -1})}};
}

TEST(HeldOutRows, ComeBackWithTypesDimsAndElements) {
  const auto back = decode_rows(encode_rows(two_inputs()));
  ASSERT_TRUE(back.ok()) << back.error().message;
  ASSERT_EQ(back->size(), 2u);
  const Tensor &x = back->at("x"), &ids = back->at("ids");
  EXPECT_EQ(x.tensor_type(), two_inputs().at("x").tensor_type());
  EXPECT_EQ(x.data<float>()[2], 3.5f);
  EXPECT_EQ(ids.data<int64_t>()[1], -1);
}

TEST(HeldOutRows, AreTheSameBytesForTheSameRows) {
  EXPECT_EQ(encode_rows(two_inputs()), encode_rows(two_inputs()));
  HeldOutRows other = two_inputs();
  other["x"].mutable_data<float>()[0] = 2;
  EXPECT_NE(encode_rows(two_inputs()), encode_rows(other));
}

TEST(HeldOutRows, DamagedBytesAreRefused) {
  const Bytes good = encode_rows(two_inputs());
  for (size_t i = 0; i < good.size(); i += 7) {
    Bytes bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_FALSE(decode_rows(bad).ok()) << i;
    EXPECT_FALSE(decode_rows(good.substr(0, i)).ok()) << i;
  }
  EXPECT_EQ(decode_rows("").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace enginery
