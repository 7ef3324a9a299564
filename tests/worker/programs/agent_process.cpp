// An agent as a process of its own, for tests that kill it: agent_process ADDRESS SKU FOLDER NAME
// RUNNER.
#include <cstdio>

#include "worker/agent/agent.h"

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  enginery::AgentOptions options;
  options.coordinator = argv[1];
  options.sku = argv[2];
  options.data = argv[3];
  options.name = argv[4];
  options.runner = {argv[5]};
  options.threads = 1;
  const enginery::Status end = enginery::run_agent(options, [] { return false; });
  if (!end.ok()) std::fprintf(stderr, "%s\n", end.error().message.c_str());
  return end.ok() ? 0 : 1;
}
