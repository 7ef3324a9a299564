// A coordinator or a pretended worker as a process of its own, for the tests that kill it.
//   farm_process coordinator DATA LISTEN BULK | farm_process worker ADDRESS NAME SKU
// A step takes ENGINERY_STEP_MS milliseconds.
#include <unistd.h>

#include <cstdio>

#include "tests/coordinator/farm_fixture.h"

int main(int argc, char** argv) {
  using namespace enginery;
  if (argc != 5) return 2;
  if (std::string(argv[1]) == "coordinator") {
    const auto started = Coordinator::start(
        {argv[2], argv[3], argv[4], std::chrono::milliseconds(300), accept_engine});
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.error().message.c_str());
      return 10;
    }
    return (*started)->wait().ok() ? 0 : 1;
  }
  const FakeWorker worker(argv[2], argv[3], argv[4], [](Client& client, const RunStep& run) {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(from_environment("ENGINERY_STEP_MS", 30)));
    return pretend(client, run);
  });
  pause();
  return 0;
}
