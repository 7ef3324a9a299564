#include "engine/device/timed_unit.h"

#include <algorithm>
#include <cmath>

namespace enginery {

Result<TimedUnit> record_unit(Device& device, Stream& stream, const EnqueueLaunch& enqueue,
                              int ring, int most_turns) {
  Measurer& measurer = *device.measurer();
  auto record = [&](int launches) {
    return device.record(stream, [enqueue, launches](Stream& s) -> Status {
      for (int i = 0; i < launches; ++i) CHECK_OK(enqueue(s, i));
      return {};
    });
  };
  TimedUnit out{nullptr, ring};
  TRY(out.sequence, record(ring));
  TRY([[maybe_unused]] double warm_up, measurer.time_us(stream, *out.sequence));
  TRY(double us, measurer.time_us(stream, *out.sequence));
  const double wanted = std::ceil(measurer.least_unit_us() / std::max(us, 0.1));
  const int turns = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(most_turns)));
  if (turns > 1) {
    out.launches = turns * ring;
    TRY(out.sequence, record(out.launches));
  }
  return out;
}

}  // namespace enginery
