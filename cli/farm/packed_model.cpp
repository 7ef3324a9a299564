#include "cli/farm/packed_model.h"

#include "cli/options/build_flags.h"
#include "cli/output/text.h"
#include "engine/compile/layers_meant.h"
#include "tuner/calibrate/table.h"

namespace enginery {

Result<PackedModel> pack_model_file(const std::string& file, const std::string& name) {
  const std::filesystem::path path = file == "-" ? "/dev/stdin" : file;
  PackedModel model;
  model.file = path.filename().string();
  model.name = engine_name(name, path);
  TRY(model.bytes, pack_model(path));
  model.digest = sha256(model.bytes);
  return model;
}

Result<LoadedModel> load_packed(const PackedModel& model, const BuildOptions& options,
                                Console& console) {
  const ModelSource source{model.file, model.bytes, {}};
  CalibrationTable table;
  if (model.calibration) {
    TRY(table, read_calibration(*model.calibration, options.calibrator));
  }
  const TensorScales scales{table.scales, table.unusable, table.model};
  BuildOptions known = options;
  if (!options.calib_data.empty()) {
    known.precisions.erase(Precision::int8);
    known.layer_precisions = without_int8(std::move(known.layer_precisions));
  }
  TRY(LoadedModel loaded, load_model(source, model.name, known, {},
                                     model.calibration ? &scales : nullptr, {}, table.means));
  for (const std::string& note : loaded.notes) console.note(readable_note(note));
  return loaded;
}

}  // namespace enginery
