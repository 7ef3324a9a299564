// TimedUnit: something short, recorded as often in a row as the device's instrument needs to
// resolve it.
#pragma once

#include "engine/device/device.h"

namespace enginery {

struct TimedUnit {
  std::unique_ptr<CommandList> sequence;  // null: nothing to time
  int launches = 1;                       // what one run of the sequence is divided by
};

// Enqueues launch number `launch` of the unit.
using EnqueueLaunch = std::function<Status(Stream&, int launch)>;

// Records whole turns of `ring` launches: as many as fill the shortest time that the device
// resolves, at most `most_turns`. Runs one turn twice to see how long it takes. The device must
// have a measurer.
Result<TimedUnit> record_unit(Device& device, Stream& stream, const EnqueueLaunch& enqueue,
                              int ring, int most_turns);

}  // namespace enginery
