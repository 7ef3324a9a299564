// How many files and connections this process may have open at once.
//
// Where: a coordinator asks for all that the system grants before it serves: each worker has two
// connections, and the usual soft limit of 1024 would refuse the five hundredth. Threads: any.
#pragma once

namespace enginery {

// Raises the soft limit to the hard one; says what is then allowed.
unsigned long long allow_many_descriptors();

}  // namespace enginery
