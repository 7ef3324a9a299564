// The operators' text form, which is part of keys, engine files and timing stores: names, attribute
// names, their order, every enum's words. golden/operators.txt was written before operators were
// renamed in C++; a line of it may only ever be added.
#include <gtest/gtest.h>

#include "engine/ops/op.h"
#include "tests/support/golden.h"

namespace enginery {
namespace {

// Gives every field a value of its own, another than its default; collects the words of enums.
struct SetEveryField {
  std::string& words;
  int64_t next = 2;

  void operator()(std::string_view, int64_t& v) { v = next++; }
  void operator()(std::string_view, bool& v) { v = !v; }
  void operator()(std::string_view, float& v) { v = static_cast<float>(next++) / 3; }
  void operator()(std::string_view, DataType& v) { v = DataType::uint16; }
  void operator()(std::string_view, std::string& v) { v = "ij,jk->ik"; }
  void operator()(std::string_view, std::vector<int64_t>& v) {
    v = {next, next + 1};
    next += 2;
  }
  template <typename E>
    requires std::is_enum_v<E>
  void operator()(std::string_view name, E& v) {
    words += "  " + std::string(name) + ":";
    for (const std::string_view word : enum_names(v)) words += " " + std::string(word);
    words += "\n";
    v = static_cast<E>(enum_names(v).size() - 1);
  }
};

template <size_t I = 0>
std::string lines_of_operators() {
  if constexpr (I == std::variant_size_v<AnyOperator>) {
    return "";
  } else {
    std::variant_alternative_t<I, AnyOperator> op;
    std::string lines = std::to_string(I) + " " + std::string(op_name(op)) + "\n";
    lines += "  defaults: " + attributes_text(op) + "\n";
    std::string words;
    std::decay_t<decltype(op)>::fields(op, SetEveryField{words});
    lines += "  set: " + attributes_text(op) + "\n" + words;
    return lines + lines_of_operators<I + 1>();
  }
}

TEST(Golden, OperatorsKeepTheirText) {
  test::expect_golden(
      std::filesystem::path(ENGINERY_SOURCE_DIR) / "tests/engine/ops/golden/operators.txt",
      lines_of_operators());
}

}  // namespace
}  // namespace enginery
