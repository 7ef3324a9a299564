#include "cli/farm/packed_model.h"

#include "cli/options/build_flags.h"
#include "cli/output/text.h"

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
  TRY(LoadedModel loaded, load_model(source, model.name, options));
  for (const std::string& note : loaded.notes) console.note(readable_note(note));
  return loaded;
}

}  // namespace enginery
