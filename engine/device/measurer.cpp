#include "engine/device/measurer.h"

#include <algorithm>
#include <cmath>

namespace enginery {

Result<LaunchBatch> record_batch(Device& device, Stream& stream, const EnqueueLaunch& enqueue,
                                 int ring, int max_turns) {
  Measurer& measurer = *device.measurer();
  auto record = [&](int launches) {
    return device.record(stream, [enqueue, launches](Stream& s) -> Status {
      for (int i = 0; i < launches; ++i) CHECK_OK(enqueue(s, i));
      return {};
    });
  };
  LaunchBatch out{nullptr, ring};
  TRY(out.list, record(ring));
  TRY([[maybe_unused]] const double warm_up, measurer.time_us(stream, *out.list));
  TRY(const double us, measurer.time_us(stream, *out.list));
  const double wanted = std::ceil(measurer.min_resolvable_us() / std::max(us, 0.1));
  const int turns = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(max_turns)));
  if (turns > 1) {
    out.launches = turns * ring;
    TRY(out.list, record(out.launches));
  }
  return out;
}

}  // namespace enginery
