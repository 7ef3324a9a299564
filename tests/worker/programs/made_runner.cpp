// A runner on the made device (made_device.h) of the id that its first argument is.
#include "tests/worker/made_device.h"
#include "worker/steps/runner.h"

int main(int, char** arguments) {
  using namespace enginery;
  const std::string id = arguments[1];
  const auto open = [&](const std::string& sku, const BuildOptions& options) {
    return test::open_made_device(id, sku, options);
  };
  RunnerSetup setup;
  setup.open = open;
  setup.describe = [&](const std::string& sku) -> Result<std::unique_ptr<Device>> {
    TRY(Target target, open(sku, {}));
    return std::move(target.device);
  };
  return run_runner(setup);
}
