#include "cli/farm/calibration_file.h"

#include "engine/base/file.h"
#include "tuner/calibrate/table.h"

namespace enginery {

Result<std::shared_ptr<const Bytes>> read_calibration_file(const BuildFlags& flags,
                                                           BuildOptions& options) {
  if (flags.calib.empty()) return std::shared_ptr<const Bytes>();
  TRY(Bytes bytes, read_file(flags.calib));
  // What is left out is said in full, so that it makes the same key.
  std::string calibrator = flags.calibrator;
  if (calibrator.empty() && holds_histograms(bytes))
    calibrator = make_calibrators().front()->name();
  const auto readable = read_calibration(bytes, calibrator);
  if (!readable.ok()) return readable.error().within("--calib " + flags.calib);
  options.calibration = sha256(bytes).text();
  options.calibrator = std::move(calibrator);
  return std::make_shared<const Bytes>(std::move(bytes));
}

}  // namespace enginery
