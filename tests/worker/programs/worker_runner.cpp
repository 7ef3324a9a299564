// The runner as a program of its own, for tests of the agent.
#include "worker/steps/runner.h"

int main() {
  return enginery::run_runner();
}
