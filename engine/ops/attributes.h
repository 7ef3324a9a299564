// How an operator's attributes become text, keys and back: one visitor over each operator's fields.
//
// An operator is a plain struct with public fields, a name and a list of them:
//
//   struct Softmax {
//     static constexpr std::string_view kName = "softmax";  // in texts, keys, engines: never
//     changes static constexpr bool kMovesElements = false;  // true: keeps every bit, of every
//     type int64_t axis = -1; template <typename Self, typename V> static void fields(Self& self,
//     V&& v) {
//       v("axis", self.axis);
//     }
//   };
//
// The order of `fields` is the order of the text, which keys are made of: add at the end only, and
// so that the text at the default stays as it was: `if (is_read(self) || self.x != 0) v("x", ...)`.
// Field types: int64_t, bool, float, DataType, std::string, std::vector<int64_t>, and enums that
// have `std::span<const std::string_view> enum_names(E)` (an overload found by ADL, names in the
// enum's order).
#pragma once

#include <charconv>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "engine/base/parse_int.h"
#include "engine/base/result.h"
#include "enginery/types.h"

namespace enginery {

// Shortest text that reads back to the same float; "inf", "-inf", "nan" for the others.
std::string float_text(float value);
// Errors: invalid_argument, naming the text.
Result<float> parse_float(std::string_view text);
std::string ints_text(const std::vector<int64_t>& values);  // "[1,2]"
// Errors: invalid_argument (brackets or numbers missing).
Result<std::vector<int64_t>> parse_ints(std::string_view text);
// "axis: expected an integer, got 'x'".
Error bad_attribute(std::string_view name, std::string_view text, std::string_view expected);

// Whether a visitor of the operator's fields may set them: an operator is written as a const one.
template <typename Operator>
constexpr bool is_read(const Operator&) {
  return false;
}
template <typename Operator>
constexpr bool is_read(Operator&) {
  return true;
}

// Text of one attribute value.
template <typename T>
std::string attribute_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_same_v<T, int64_t>)
    return std::to_string(value);
  else if constexpr (std::is_same_v<T, float>)
    return float_text(value);
  else if constexpr (std::is_same_v<T, DataType>)
    return std::string(to_string(value));
  else if constexpr (std::is_same_v<T, std::string>)
    return value;
  else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
    return ints_text(value);
  else
    return std::string(enum_names(value)[static_cast<size_t>(value)]);
}

// Reads what attribute_text writes. Errors: invalid_argument, naming the attribute; `value` stays.
template <typename T>
Status parse_attribute(std::string_view name, std::string_view text, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") return bad_attribute(name, text, "true or false");
    value = text == "true";
  } else if constexpr (std::is_same_v<T, int64_t>) {
    TRY(value, parse_int(text));
  } else if constexpr (std::is_same_v<T, float>) {
    TRY(value, parse_float(text));
  } else if constexpr (std::is_same_v<T, DataType>) {
    TRY(value, parse_data_type(text));
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = std::string(text);
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    TRY(value, parse_ints(text));
  } else {
    const auto names = enum_names(value);
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] != text) continue;
      value = static_cast<T>(i);
      return {};
    }
    return bad_attribute(name, text, "one of the operator's kinds");
  }
  return {};
}

}  // namespace enginery
