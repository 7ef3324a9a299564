#include "coordinator/client/descriptor_limit.h"

#include <sys/resource.h>

namespace enginery {

unsigned long long allow_many_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlimit most{limit.rlim_max, limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &most) == 0 ? most.rlim_cur : limit.rlim_cur;
}

}  // namespace enginery
