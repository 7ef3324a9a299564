// Short ways to run an operator's shape rule and reference from literals.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <vector>

#include "engine/ops/op.h"

namespace enginery {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline Tensor floats(Dims dims, std::initializer_list<float> values) {
  return Tensor::of<float>(std::move(dims), values);
}
inline Tensor ints(std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
}
// 0, 1, 2, ... in the given shape.
inline Tensor counting(Dims dims) {
  Tensor t(DataType::float32, dims);
  auto data = t.mutable_data<float>();
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  return t;
}

inline Tensor none() {
  return Tensor(DataType::float32, {0, 0, 0, 0, 0, 0, 0});
}  // stands for an absent input
inline bool is_none(const Tensor& t) {
  return t.rank() == 7;
}

inline Result<std::vector<Tensor>> try_run(const Op& op, const std::vector<Tensor>& inputs) {
  std::vector<const Tensor*> in;
  for (const Tensor& t : inputs) in.push_back(is_none(t) ? nullptr : &t);
  return run_reference(op, in);
}

// The only output. A failure fails the test.
inline Tensor run(const Op& op, const std::vector<Tensor>& inputs) {
  auto out = try_run(op, inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.error().message;
    return Tensor();
  }
  return (*out)[0];
}

template <typename T = float>
std::vector<T> values(const Tensor& t) {
  auto d = t.data<T>();
  return {d.begin(), d.end()};
}
inline std::vector<int> bits(const Tensor& t) {  // of a boolean tensor
  auto p = static_cast<const uint8_t*>(t.raw());
  return {p, p + t.size()};
}
inline Tensor booleans(Dims dims, std::initializer_list<int> values) {
  Tensor t(DataType::boolean, std::move(dims));
  auto* p = static_cast<uint8_t*>(t.mutable_bytes());
  for (int v : values) *p++ = static_cast<uint8_t>(v);
  return t;
}

// Output types for inputs of which only the types are known.
inline InferredTypes infer_of(const Op& op, std::initializer_list<TensorType> types) {
  std::vector<Operand> in;
  for (const TensorType& t : types) in.push_back({true, t, nullptr});
  return infer_types(op, in);
}
inline TensorType f32(Dims dims) {
  return {DataType::float32, std::move(dims)};
}
inline TensorType i64(Dims dims) {
  return {DataType::int64, std::move(dims)};
}

// Output dims for float32 inputs of these shapes; {-99} when refused.
inline Dims dims_of(const Op& op, std::initializer_list<Dims> shapes) {
  std::vector<Operand> in;
  for (const Dims& d : shapes) in.push_back({true, f32(d), nullptr});
  auto out = infer_types(op, in);
  if (!out.ok()) {
    ADD_FAILURE() << out.error().message;
    return {-99};
  }
  return (*out)[0].dims;
}
// Output dims for an input known by type and further inputs known by value.
inline Dims dims_with(const Op& op, const Dims& x, const std::vector<Tensor>& constants) {
  std::vector<Operand> in{{true, f32(x), nullptr}};
  for (const Tensor& t : constants) {
    in.push_back(is_none(t) ? Operand{false, {}, nullptr} : Operand{true, t.tensor_type(), &t});
  }
  auto out = infer_types(op, in);
  if (!out.ok()) {
    ADD_FAILURE() << out.error().message;
    return {-99};
  }
  return (*out)[0].dims;
}

// The error code and message of a refusal: "invalid_argument: conv: ...", or "accepted".
inline std::string refusal(const InferredTypes& result) {
  return result.ok() ? "accepted"
                     : std::string(to_string(result.error().code)) + ": " + result.error().message;
}
inline std::string refusal(const Result<std::vector<Tensor>>& result) {
  return result.ok() ? "accepted"
                     : std::string(to_string(result.error().code)) + ": " + result.error().message;
}
#define EXPECT_REFUSED(result, part)                                                      \
  do {                                                                                    \
    std::string text_ = refusal(result);                                                  \
    EXPECT_TRUE(text_.starts_with("invalid_argument: ")) << text_;                        \
    EXPECT_NE(text_.find(part), std::string::npos) << text_ << " does not say: " << part; \
  } while (false)

inline void expect_near(const Tensor& t, std::initializer_list<float> expected,
                        float tolerance = 1e-5f) {
  auto got = values(t);
  ASSERT_EQ(got.size(), expected.size());
  size_t i = 0;
  for (float e : expected) {
    EXPECT_NEAR(got[i], e, tolerance) << "element " << i;
    ++i;
  }
}

using Floats = std::vector<float>;

}  // namespace enginery
