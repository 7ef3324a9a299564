#include "engine/c_api/handles.h"

#include <atomic>

namespace enginery {

uintptr_t next_handle() {
  static std::atomic<uintptr_t> last{0};
  return ++last;
}

}  // namespace enginery
