// The public result type under the name that our own code uses.
#pragma once

#include "enginery/result.h"  // IWYU pragma: export
