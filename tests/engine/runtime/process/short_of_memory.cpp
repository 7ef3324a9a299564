// Loads and runs an engine with as much memory to spare as it is told, for context_test.cpp:
//   short_of_memory ENGINE KEYS SPARE_KIB      exit code 0: it ran; 42: an error value
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "enginery/engine.h"

namespace {

// What this process takes already.
unsigned long address_space_kib() {
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  char line[256];
  unsigned long kib = 0;
  while (status && std::fgets(line, sizeof line, status)) {
    if (std::strncmp(line, "VmSize:", 7) == 0) kib = std::strtoul(line + 7, nullptr, 10);
  }
  if (status) std::fclose(status);
  return kib;
}

int report(const enginery::Error& error) {
  // One message of each kind is enough to see in a log.
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 42;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace enginery;
  if (argc != 4) return 2;
  static float x[32 * 40 * 40], z[32 * 40 * 40], y[32 * 40 * 40];
  LoadOptions options;
  options.threads = 2;
  options.keys_folder = argv[2];
  const rlim_t limit = (address_space_kib() + std::strtoul(argv[3], nullptr, 10)) << 10;
  const rlimit space{limit, limit};
  if (setrlimit(RLIMIT_AS, &space) != 0) return 3;
  const auto engine = Engine::load(argv[1], options);
  if (!engine.ok()) return report(engine.error());
  auto context = engine->create_context();
  if (!context.ok()) return report(context.error());
  const void* inputs[] = {x, z};
  void* outputs[] = {y};
  const Status status = context->run(inputs, outputs);
  return status.ok() ? 0 : report(status.error());
}
