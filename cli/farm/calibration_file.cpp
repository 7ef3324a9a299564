#include "cli/farm/calibration_file.h"

#include "engine/base/file.h"
#include "tuner/calibrate/table.h"

namespace enginery {

Result<std::shared_ptr<const Bytes>> read_calibration_file(const BuildFlags& flags,
                                                           BuildOptions& options) {
  if (flags.calib.empty()) return std::shared_ptr<const Bytes>();
  TRY(Bytes bytes, read_file(flags.calib));
  auto calibrator = calibrator_in_full(bytes, flags.calibrator);
  if (!calibrator.ok()) return calibrator.error().within("--calib " + flags.calib);
  options.calibration = sha256(bytes).text();
  options.calibrator = std::move(*calibrator);
  return std::make_shared<const Bytes>(std::move(bytes));
}

}  // namespace enginery
