// What the build library says of itself.
#include "engine/c_api/outcome.h"
#include "engine/ops/op.h"
#include "enginery/build.h"

namespace enginery {
namespace {

// The words of all operators, in the list's order, which is no promise.
template <size_t... I>
const char* operator_word(size_t index, std::index_sequence<I...>) {
  // Each view is of a literal, which ends with a zero.
  static constexpr const char* kWords[] = {
      std::variant_alternative_t<I, AnyOperator>::kName.data()...};
  return index < sizeof...(I) ? kWords[index] : nullptr;
}

}  // namespace
}  // namespace enginery

using namespace enginery;

const char* enginery_build_version(void) {
  return ENGINERY_VERSION;
}

const char* enginery_build_last_error(void) {
  return last_message();
}

const char* enginery_build_operator(int32_t index) {
  if (index < 0) return nullptr;
  return operator_word(static_cast<size_t>(index),
                       std::make_index_sequence<std::variant_size_v<AnyOperator>>());
}
