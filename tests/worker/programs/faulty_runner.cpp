// A runner with one more tactic source, whose tactics fail (faulty_source.h).
#include "tests/worker/faulty_source.h"
#include "worker/steps/runner.h"

int main() {
  return enginery::run_runner({enginery::test::open_with_faults});
}
