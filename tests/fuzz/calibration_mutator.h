// Edits of what calibration leaves behind: a file of histograms and a table of scales.
#pragma once

#include "tests/fuzz/edits.h"

namespace enginery::test {

// A histogram file's digest, its last bytes, is made anew: what is behind it shall be read. Numbers
// of both are changed where they stand; now and then the bytes alone are damaged.
Bytes edited_calibration(const Bytes& input, Random& random);

}  // namespace enginery::test
