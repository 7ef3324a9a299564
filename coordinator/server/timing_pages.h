// Timings in pages, as the bulk socket gives them out.
//
// A page holds whole problems, and the place where the next one begins is the first eight bytes of
// a problem's digest: so a page costs its own rows, however many the device has, and needs no
// memory between two requests. Threads: a free function; the timings are thread-safe.
#pragma once

#include "cache/timings.h"
#include "schemas/messages.h"

namespace enginery {

// The next page of what is asked: about 1000 rows or 1 MiB, and the rest of a problem that goes on
// beyond. storage.
Result<TimingList> timing_page(Timings& timings, const GetTimings& request);

}  // namespace enginery
